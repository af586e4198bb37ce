"""Prove a pre-flight end to end: what is broken, a machine or a name, is what it names."""

from __future__ import annotations

import asyncio
import pwd
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from bot.hosts import probes, wire
from bot.hosts.matrix import Matrix, Seen, observed
from bot.hosts.model import Row
from bot.hosts.port import Target
from bot.hosts.probes import PREFLIGHT, Question
from bot.hosts.remarks import Blame, headline, remarks
from bot.hosts.ssh.hosts import ssh_hosts
from bot.hosts.words import Address, HostName, Proof
from playground.fleet.faults import break_
from tests.behaviour.hosts.fleet import Fleet
from tests.behaviour.hosts.sshd import ALIAS, is_root, running_sshd

#: The cells of a table that are not to be waited for long.
_SOON = 10


async def _looked(fleet: Fleet) -> Matrix:
    domain = fleet.network.domain
    hosts = [machine.name for machine in fleet.network.machines.values()]
    names = tuple(HostName(name) for one in hosts for name in (one, f"{one}.{domain}"))
    found = await asyncio.gather(
        *(fleet.hosts.probe(fleet.target(one), Question(names=names), PREFLIGHT) for one in hosts)
    )
    return Matrix(names=names, observers=tuple(observed(one, names) for one in found))


@pytest.mark.anyio
async def test_a_healthy_fleet_passes(fleet: Fleet) -> None:
    """Every machine finds every machine by both names."""
    found = await _looked(fleet)

    assert not found.wrong, headline(found)
    assert found.tally == {Seen.RESOLVED: 32}


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("fault", "hit", "blame"),
    [
        ("resolver-failed", "node-1", Blame.MACHINE),
        ("resolver-hung", "node-1", Blame.MACHINE),
        ("search-domain-lost", "node-1", Blame.SEARCH_DOMAIN),
        ("host-silent", "node-1", Blame.NOT_REACHED),
        ("record-missing", "node-0", Blame.NAME),
        ("upstream-dead", "node-1", Blame.UPSTREAM),
    ],
)
async def test_a_fault_is_told_by_who_sees_what(
    fleet: Fleet, fault: str, hit: str, blame: Blame
) -> None:
    """Each fault of the fleet is blamed on what is broken, before any job is started."""
    break_(fleet.network, fault, hit)

    found = await _looked(fleet)

    assert found.wrong
    first = remarks(found)[0]
    assert first.blame is blame, first.text
    if blame is not Blame.UPSTREAM:
        assert hit in first.text


# -- a real sshd, a real shell, real look-ups ----------------------------------------------------

real = pytest.mark.skipif(not is_root(), reason="sshd logs in, and mounts are made, only for root")
TARGET = Target(
    vm_id=ALIAS,
    name="this-machine",
    address=Address("127.0.0.1"),
    proof_kind="host_name",
    proof=Proof(socket.gethostname().split(".")[0]),
)


@real
@pytest.mark.anyio
@pytest.mark.needs("sshd")
@pytest.mark.skipif(
    not pwd.getpwuid(0).pw_shell.endswith("/bash"), reason="BASH_ENV is bash's start-up file"
)
async def test_a_slow_login_shell_is_named(tmp_path: Path) -> None:
    """A start-up file that takes its time is found to be what took the time, and is no failure."""
    start_up = tmp_path / "start-up"
    start_up.write_text("unset BASH_ENV\nsleep 2\n", encoding="utf-8")
    with running_sshd(tmp_path, f"SetEnv SHLVL=5 BASH_ENV={start_up}") as sshd:
        limits = replace(sshd.options.limits, total=timedelta(seconds=30))
        async with ssh_hosts(replace(sshd.options, limits=limits)) as hosts:
            names = (HostName("localhost"),)
            evidence = await hosts.probe(TARGET, Question(names=names), PREFLIGHT)

    found = Matrix(names=names, observers=(observed(evidence, names),))
    assert not found.wrong, headline(found)
    slow = [one for one in remarks(found) if one.blame is Blame.SLOW]
    assert "The login shell of this-machine takes" in slow[0].text
    assert "start-up files" in slow[0].text


#: Where nothing listens, and where something listens that never answers.
REFUSING, SILENT = "127.66.0.1", "127.66.0.2"


@pytest.fixture
def silent_server() -> Iterator[None]:
    """Take queries and answer none."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        sock.bind((SILENT, 53))
        yield


def _asked(folder: Path, server: str, names: tuple[str, ...], seconds: float) -> wire.Answers:
    """Run the far side's look-ups where this is the only name server."""
    (folder / "resolv.conf").write_text(f"nameserver {server}\n", encoding="utf-8")
    (folder / "nsswitch.conf").write_text("hosts: files dns\n", encoding="utf-8")
    row = Row(
        name="lookups",
        argv=("@lookups", *names),
        timeout=timedelta(seconds=seconds),
        most_bytes=99999,
    )
    mounts = " && ".join(
        f"mount --bind {folder / name} $(readlink -f /etc/{name})"
        for name in ("resolv.conf", "nsswitch.conf")
    )
    done = subprocess.run(
        [
            "unshare",
            "-m",
            "sh",
            "-c",
            f'{mounts} && exec "$@"',
            "sh",
            sys.executable,
            *wire.PYTHON[1:],
        ],
        input=wire.standard_input([row], timedelta(seconds=20)),
        capture_output=True,
        check=True,
    )
    answers = wire.Answers([row])
    answers.feed(done.stdout)
    return answers


NAMES = ("localhost", *(f"node-{at}.test" for at in range(100)))


@real
@pytest.mark.needs("unshare")
def test_a_resolver_that_fails_is_not_asked_for_the_rest(tmp_path: Path) -> None:
    """After the first names got no answer the others are left alone, and that is said."""
    result = _asked(tmp_path, REFUSING, NAMES, 20).results["lookups"]
    found = probes.LOOKUPS.parse(result)

    assert result.rc == 0
    assert found.by_name["localhost"].ok
    failed = [one for one in found.by_name.values() if one.code == socket.EAI_AGAIN]
    assert 8 <= len(failed) <= 16
    assert set(NAMES) == set(found.by_name) | found.not_asked


@real
@pytest.mark.needs("unshare")
@pytest.mark.usefixtures("silent_server")
def test_a_resolver_that_is_silent_is_told_from_one_not_asked(tmp_path: Path) -> None:
    """Out of time, the names that were under way have no answer, and the others were not asked."""
    result = _asked(tmp_path, SILENT, NAMES, 1).results["lookups"]
    found = probes.LOOKUPS.parse(result)

    assert result.timed_out
    assert set(found.by_name) == {"localhost"}
    assert found.not_asked == frozenset(NAMES[9:])


def test_the_far_side_ends_when_nobody_listens() -> None:
    """A connection that is cut takes the helper and its commands with it."""
    row = Row(name="hang", argv=("sleep", "86.125"), timeout=timedelta(seconds=60), most_bytes=999)
    with subprocess.Popen(
        [sys.executable, *wire.PYTHON[1:]], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as helper:
        assert helper.stdin is not None
        assert helper.stdout is not None
        helper.stdin.write(wire.standard_input([row], timedelta(seconds=60)))
        helper.stdin.close()
        assert helper.stdout.readline() == b"@helper\n"
        _until(lambda: bool(_sleeping()))
        helper.stdout.close()
        assert helper.wait(_SOON) == 1
        _until(lambda: not _sleeping())


def _sleeping() -> list[int]:
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if path.read_bytes() == b"sleep\x0086.125\x00":
                found.append(int(path.parent.name))
        except OSError:
            continue
    return found


def _until(holds: Callable[[], bool]) -> None:
    until = time.monotonic() + _SOON
    while not holds():
        assert time.monotonic() < until
        time.sleep(0.02)
