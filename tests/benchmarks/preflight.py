"""Measure a pre-flight of many VMs beside clush and ansible, which run the same probes."""

from __future__ import annotations

import dataclasses
import json
import shutil
import socket
import sys
from collections.abc import Iterator
from pathlib import Path

from bot.hosts import probes, wire
from bot.hosts.words import Proof
from tests.benchmarks.look import question
from tests.benchmarks.measure import Command, Run, Series, run_once
from tests.benchmarks.rows import Bench
from tests.benchmarks.table import Row
from tests.benchmarks.vms import Vms, missing, running

_AT_ONCE = "64"
_FEW, _MANY = 250, 1024
_MOST_BYTES = 300 * 10**6
#: Ours to clush's: the goal, and the one beyond.
_GOAL, _BEYOND = 1 / 2, 1 / 3
#: Runs of each command; a minute is long enough for noise to even out.
_RUNS = 2
#: What asyncssh agrees on with OpenSSH, whose clients prefer a slower one that resists quantum
#: computers, too.
_OUR_KEX = "-o KexAlgorithms=curve25519-sha256"
_ANSIBLE = "python3 -m venv /tmp/ansible && /tmp/ansible/bin/pip install ansible-core"


@dataclasses.dataclass(frozen=True, kw_only=True)
class _Tool:
    command: Command
    stdin: Path | None = None


def preflight(bench: Bench) -> Iterator[Row]:
    """Yield the rows for 250 VMs beside the other tools, then for 1,024 alone."""
    lacking = missing()
    if lacking:
        yield Row(name=f"pre-flight of {_FEW} VMs", result=f"skipped: {lacking}")
        return
    yield Row(name=f"pre-flight of {_FEW} VMs × {2 * _FEW} names, one sshd on loopback")
    with running(bench.folder / "few", _FEW) as vms:
        yield from _compared(bench, vms)
    with running(bench.folder / "many", _MANY) as vms:
        bench.say(f"{_MANY} VMs")
        run = _run(bench, _ours(vms))
        reached = _judged(bench, vms, run)
        yield Row(
            name=f"nccl-dns, {_MANY} VMs × {2 * _MANY} names",
            best=run.seconds,
            cpu=run.cpu_seconds,
            peak_bytes=run.peak_bytes,
            result=reached,
            goal=f"no error, < {_MOST_BYTES / 10**6:.0f} MB",
            met=reached.startswith("all") and run.peak_bytes < _MOST_BYTES,
        )


def _compared(bench: Bench, vms: Vms) -> Iterator[Row]:
    tools = [
        _ours(vms),
        _clush(vms, "clush -f 64"),
        _clush(vms, "clush, our key exchange", _OUR_KEX),
    ]
    ansible = _ansible(vms)
    tools += [ansible] if ansible else []
    rounds = []
    for at in range(min(_RUNS, bench.times)):
        runs = []
        for tool in tools:
            bench.say(f"{tool.command.name}, run {at + 1}")
            runs.append(_run(bench, tool))
        rounds.append(runs)
    ours, *theirs = (
        Series(name=tool.command.name, runs=runs)
        for tool, runs in zip(tools, zip(*rounds, strict=True), strict=True)
    )
    said = {_judged(bench, vms, run) for run in ours.runs}
    yield dataclasses.replace(
        _row(ours, "; ".join(sorted(said))),
        goal=f"< {_MOST_BYTES / 10**6:.0f} MB",
        met=ours.peak_bytes < _MOST_BYTES,
    )
    for series in theirs:
        for run in series.runs:
            _judge_other(bench, vms, series.name, run)
        ratio = ours.best / series.best
        first = series is theirs[0]
        yield dataclasses.replace(
            _row(series, f"ours takes {ratio:.2f}x of it ({1 / ratio:.1f}x faster)"),
            goal=f"<= {_GOAL:.2f}x, {_BEYOND:.2f}x" if first else "",
            met=ratio <= _GOAL if first else None,
        )
    if not ansible:
        yield Row(name="ansible -f 64", result=f"skipped, not on PATH: {_ANSIBLE}")


def _row(series: Series, result: str) -> Row:
    # Seconds on the core are of all its processes on this side; memory is of the largest one.
    return Row(
        name=series.name,
        best=series.best,
        median=series.median,
        cpu=series.cpu,
        peak_bytes=series.peak_bytes,
        result=result,
    )


def _run(bench: Bench, tool: _Tool) -> Run:
    if tool.stdin is None:
        return run_once(tool.command, core=None, folder=bench.folder)
    with tool.stdin.open("rb") as stdin:
        return run_once(tool.command, core=None, folder=bench.folder, stdin=stdin)


def _ours(vms: Vms) -> _Tool:
    argv = (
        sys.executable, "-m", "tests.benchmarks.look",
        str(vms.folder), str(vms.port), str(vms.count), _proof(),
    )  # fmt: skip
    return _Tool(command=Command(name="nccl-dns", argv=argv))


def _clush(vms: Vms, name: str, further: str = "") -> _Tool:
    """Let clush run the same command with the same input, and check the same pinned host key."""
    given = vms.folder / "stdin"
    given.write_bytes(_input(vms))
    program = Path(sys.executable).with_name("clush")
    options = f"{_ssh_options(vms)} {further}".strip()
    targets = ",".join(vms.address(at) for at in range(vms.count))
    argv = (
        str(program), "-S", "-q", "-f", _AT_ONCE, "-l", "root", "-o", options, "-w", targets,
        wire.command(),
    )  # fmt: skip
    return _Tool(command=Command(name=name, argv=argv), stdin=given)


def _ansible(vms: Vms) -> _Tool | None:
    """Let ansible copy and run a script that is the same command with the same input."""
    program = shutil.which("ansible")
    if program is None:
        return None
    script = vms.folder / "probe.sh"
    given = _input(vms).decode()
    script.write_text(f"{wire.command()} <<'END'\n{given}\nEND\n", encoding="utf-8")
    inventory = vms.folder / "inventory"
    inventory.write_text("\n".join(vms.address(at) for at in range(vms.count)), encoding="utf-8")
    argv = (
        program, "all", "-i", str(inventory), "-f", _AT_ONCE, "-u", "root", "-m", "script", "-a",
        str(script),
    )  # fmt: skip
    env = {
        "ANSIBLE_SSH_ARGS": f"-o ControlMaster=auto -o ControlPersist=5 {_ssh_options(vms)}",
        "ANSIBLE_HOME": str(vms.folder / "ansible"),
        "ANSIBLE_PYTHON_INTERPRETER": "/usr/bin/python3",
        "ANSIBLE_STDOUT_CALLBACK": "minimal",
    }
    return _Tool(command=Command(name="ansible -f 64", argv=argv, env=env))


def _ssh_options(vms: Vms) -> str:
    known = vms.folder / "known_hosts"
    known.write_text(f"the-machines {vms.host_key}\n", encoding="utf-8")
    return (
        f"-F none -p {vms.port} -i {vms.key} -o UserKnownHostsFile={known} "
        "-o HostKeyAlias=the-machines -o StrictHostKeyChecking=yes -o BatchMode=yes "
        "-o IdentitiesOnly=yes -o LogLevel=ERROR"
    )


def _input(vms: Vms) -> bytes:
    rows = probes.rows(question(vms), "host_name", Proof(_proof()), probes.PREFLIGHT)
    return wire.standard_input(rows)


def _proof() -> str:
    return socket.gethostname().split(".")[0]


def _judged(bench: Bench, vms: Vms, run: Run) -> str:
    """Return in words what our run came to; anything but all names on all machines is a mistake."""
    said = json.loads(run.output)
    cells = 2 * vms.count * vms.count
    if said["tally"] == {"resolved": cells}:
        return f"all {vms.count} reached, {cells:,} look-ups"
    bench.mistakes.append(f"pre-flight of {vms.count} VMs: {said['headline']} {said['tally']}")
    return "; ".join(said["remarks"])


def _judge_other(bench: Bench, vms: Vms, name: str, run: Run) -> None:
    answered = run.output.count(b'"name":"lookups","rc":0')
    # ansible quotes what it shows, once as a text and once as its lines.
    answered += run.output.count(rb"\"name\":\"lookups\",\"rc\":0") // 2
    if answered != vms.count:
        bench.mistakes.append(
            f"{name} brought {answered} of {vms.count} answers: {run.words[-200:]}"
        )
