"""Prove that a machine that misbehaves costs bounded time and memory, and is believed nothing."""

from __future__ import annotations

import asyncio
import base64
import json
import time
import tracemalloc
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import asyncssh
import pytest

from bot.hosts import findings, probes, wire
from bot.hosts.model import Finding, LoginFailure
from bot.hosts.ssh.hosts import ssh_hosts
from bot.hosts.words import HostName, sift
from tests.behaviour.hosts.fleet import Fleet
from tests.behaviour.hosts.hostile import QUICK, TARGET, UUID, Behaviour, Process, behaving, mute

pytestmark = pytest.mark.anyio

QUESTION = probes.Question(names=(HostName("node-0"),))
#: What a probe may take at most, with a busy test machine's slack.
SOON = QUICK.total.total_seconds() + 3


def _identity(found: str = UUID, rc: int = 0) -> bytes:
    output = base64.b64encode(json.dumps({"found": found}).encode()).decode()
    answer = {"name": "identity", "rc": rc, "ms": 1, "output": output}
    return f"{wire.SHELL}\n{wire.HELPER}\n{json.dumps(answer)}\n".encode()


async def _flood(process: Process) -> None:
    process.stdout.write(_identity())
    while True:
        process.stdout.write(b"x" * 65536)
        await process.stdout.drain()


async def _flood_of_lines(process: Process) -> None:
    process.stdout.write(_identity())
    line = b'{"name": "lookups", "rc": 0, "ms": 1, "output": "' + b"QUJD" * 12000 + b'"}\n'
    while True:
        process.stdout.write(line)
        await process.stdout.drain()


async def _flood_of_complaints(process: Process) -> None:
    while True:
        process.stderr.write(b"sudden " * 9000)
        await process.stderr.drain()


@pytest.mark.parametrize("behaviour", [_flood, _flood_of_lines, _flood_of_complaints])
async def test_a_flood_is_bounded(behaviour: Behaviour, tmp_path: Path) -> None:
    """Endless output of any kind ends in time, and not in our memory."""
    async with behaving(behaviour, tmp_path) as reached:
        tracemalloc.start()
        began = time.monotonic()
        evidence = await reached.hosts.probe(TARGET, QUESTION)
        took, peak = time.monotonic() - began, tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()

    assert took < SOON
    assert peak < 24 * 2**20
    assert set(evidence.results) <= {"identity", "lookups"}
    assert evidence.detail


async def test_a_server_that_is_mute_hangs_the_login_only(tmp_path: Path) -> None:
    """Something takes the connection and says nothing: that is told from silence, in time."""

    async def nothing(process: Process) -> None:
        process.exit(0)

    async with (
        mute() as port,
        behaving(nothing, tmp_path) as reached,
        ssh_hosts(replace(reached.options, port=port)) as hosts,
    ):
        began = time.monotonic()
        evidence = await hosts.probe(TARGET, QUESTION)

    assert time.monotonic() - began < SOON
    assert evidence.failure is LoginFailure.HANGS


async def test_a_closed_port_is_no_silence(tmp_path: Path) -> None:
    """A refusal shows that the kernel lives, so no reset is advised for a silent host."""

    async def nothing(process: Process) -> None:
        process.exit(0)

    async with mute() as port:
        pass
    async with (
        behaving(nothing, tmp_path) as reached,
        ssh_hosts(replace(reached.options, port=port)) as hosts,
    ):
        evidence = await hosts.probe(TARGET, QUESTION)

    assert evidence.failure is LoginFailure.HANGS
    assert "refuses" in evidence.detail


async def test_a_changed_host_key_ends_before_anything_is_asked(tmp_path: Path) -> None:
    """Another key than the pinned one is our access problem, and no command is sent."""

    async def never(process: Process) -> None:
        process.exit(0)

    other = asyncssh.generate_private_key("ssh-ed25519")
    async with behaving(never, tmp_path, pinned=other) as reached:
        evidence = await reached.hosts.probe(TARGET, QUESTION)

        assert reached.commands == []
    judged = findings.judge(evidence, None, QUESTION)
    assert [one.finding for one in judged.found] == [Finding.NO_ACCESS]
    assert "host key" in evidence.detail


@pytest.mark.parametrize("kind", ["ecdsa-sha2-nistp256", "ssh-rsa"])
async def test_a_key_of_another_kind_is_a_changed_key(kind: str, tmp_path: Path) -> None:
    """A machine that has no key of the pinned kind any more has changed its key."""

    async def never(process: Process) -> None:
        process.exit(0)

    other = asyncssh.generate_private_key(kind)
    async with behaving(never, tmp_path, pinned=other) as reached:
        evidence = await reached.hosts.probe(TARGET, QUESTION)

    assert evidence.failure is LoginFailure.ACCESS
    assert "host key" in evidence.detail


async def _claims_success_as_another(process: Process) -> None:
    process.stdout.write(_identity(found="00000000-0000-4000-8000-00000000dead", rc=0))
    process.exit(0)


async def _says_nothing_and_succeeds(process: Process) -> None:
    process.exit(0)


async def _shell_that_never_ends(process: Process) -> None:
    await process.stdin.read(-1)
    await process.stdin.read(-1)
    await process.channel.wait_closed()


async def test_the_machines_own_verdict_on_its_identity_is_no_proof(tmp_path: Path) -> None:
    """Exit code 0 beside a foreign UUID is a lie that is seen through on this side."""
    async with behaving(_claims_success_as_another, tmp_path) as reached:
        evidence = await reached.hosts.probe(TARGET, QUESTION)

    assert evidence.results == {}
    assert evidence.failure is LoginFailure.ACCESS


async def test_success_without_an_answer_is_no_success(tmp_path: Path) -> None:
    """A command that exits with 0 and printed nothing was not run."""
    async with behaving(_says_nothing_and_succeeds, tmp_path) as reached:
        evidence = await reached.hosts.probe(TARGET, QUESTION)

    assert evidence.results == {}
    assert evidence.failure is LoginFailure.HANGS


async def test_a_command_that_never_ends_is_ended(tmp_path: Path) -> None:
    """A login shell that hangs is named as such within the time of a probe."""
    async with behaving(_shell_that_never_ends, tmp_path) as reached:
        began = time.monotonic()
        evidence = await reached.hosts.probe(TARGET, QUESTION)

    assert time.monotonic() - began < SOON
    assert evidence.failure is LoginFailure.HANGS
    assert "login shell" in evidence.detail


async def test_failure_beside_a_whole_answer_is_a_whole_answer(tmp_path: Path) -> None:
    """The exit code is never believed, only what was answered."""

    async def lies(process: Process) -> None:
        given = await process.stdin.read(-1)
        process.stdout.write(_identity())
        for row in wire.read_order(given).rows:
            answer = {"name": row.name, "rc": 0, "ms": 1, "output": ""}
            process.stdout.write(json.dumps(answer).encode() + b"\n")
        process.exit(255)

    async with behaving(lies, tmp_path) as reached:
        evidence = await reached.hosts.probe(TARGET, QUESTION)

    assert evidence.failure is None
    assert {"identity", "lookups", "stub"} <= set(evidence.results)
    assert evidence.detail == ""


async def test_sudo_that_wants_a_password_is_our_access(tmp_path: Path) -> None:
    """A sudo rule that is missing is named, and asked for once."""

    async def refuses(process: Process) -> None:
        process.stdout.write(f"{wire.SHELL}\n".encode())
        process.stderr.write(b"sudo: a password is required\n")
        process.exit(1)

    async with behaving(refuses, tmp_path, sudo=True) as reached:
        evidence = await reached.hosts.probe(TARGET, QUESTION)

        assert [command.count("sudo -n") for command in reached.commands] == [1]
    assert evidence.failure is LoginFailure.ACCESS
    assert "password is required" in evidence.detail


async def test_a_slow_login_shell_is_measured(tmp_path: Path) -> None:
    """What the login shell took stands beside what sudo and the helper took."""

    async def slow(process: Process) -> None:
        await asyncio.sleep(0.3)
        process.stdout.write(_identity(found="other"))
        process.exit(0)

    async with behaving(slow, tmp_path) as reached:
        evidence = await reached.hosts.probe(TARGET, QUESTION)

    assert evidence.delays.shell is not None
    assert evidence.delays.shell >= timedelta(seconds=0.3)


async def test_the_first_key_is_taken_only_when_that_is_switched_on(tmp_path: Path) -> None:
    """Trust on first use pins the key once the machine proved who it is, and shows it."""

    async def proves(process: Process) -> None:
        process.stdout.write(_identity())
        process.exit(0)

    async with behaving(proves, tmp_path, tofu=True) as reached:
        evidence = await reached.hosts.probe(TARGET, QUESTION)

        assert evidence.key_on_first_use
        assert (tmp_path / "known_hosts").read_text(encoding="utf-8").startswith(UUID)
        async with ssh_hosts(replace(reached.options, trust_on_first_use=False)) as strict:
            again = await strict.probe(TARGET, QUESTION)
    assert again.failure is None
    assert not again.key_on_first_use


async def test_the_key_of_another_machine_is_not_kept(tmp_path: Path) -> None:
    """A first key whose machine turns out to be another one is forgotten."""
    async with behaving(_claims_success_as_another, tmp_path, tofu=True) as reached:
        await reached.hosts.probe(TARGET, QUESTION)

    assert not (tmp_path / "known_hosts").exists()


HOSTILE = [
    "$(reboot)",
    "-oProxyCommand=touch /x",
    "a;b",
    "`id`",
    "a b",
    "a\nb",
    "node-0\x00",
    "n" * 300,
    "nоde-0",  # noqa: RUF001 # the o is Cyrillic
    "node‐0",  # noqa: RUF001 # the hyphen is U+2010
    "ｎｏｄｅ-0",  # noqa: RUF001 # full-width letters
    "../../etc",
    "node-0'",
    "|tee",
    "",
]


async def test_no_name_from_a_log_is_ever_in_a_command(ssh_fleet: Fleet) -> None:
    """Hostile names are refused, good ones travel as data: the command line is always the same."""
    kept, refused = sift([*HOSTILE, "node-0"])
    question = replace(ssh_fleet.question(), names=kept)

    await ssh_fleet.hosts.probe(ssh_fleet.target("node-1"), question)

    assert kept == (HostName("node-0"),)
    assert set(refused) == set(HOSTILE)
    assert ssh_fleet.server is not None
    assert {command for _, command in ssh_fleet.server.ran} == {wire.command()}


async def test_one_login_serves_all_who_ask(ssh_fleet: Fleet) -> None:
    """Probes of one machine at the same time and afterwards share one connection."""
    target, question = ssh_fleet.target("node-1"), ssh_fleet.question()
    await asyncio.gather(*(ssh_fleet.hosts.probe(target, question) for _ in range(4)))
    await ssh_fleet.hosts.probe(target, question)

    assert ssh_fleet.server is not None
    assert ssh_fleet.server.logins == ["node-1"]
