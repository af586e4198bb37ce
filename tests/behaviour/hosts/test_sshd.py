"""Prove on a real OpenSSH sshd, with real commands, what the simulated fleet only stands for."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import time
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import asyncssh
import pytest

from bot.hosts import probes, wire
from bot.hosts.grants import PROBING
from bot.hosts.model import Row
from bot.hosts.port import Target
from bot.hosts.probes import Question
from bot.hosts.ssh.connect import Place, open_to
from bot.hosts.ssh.hosts import SshHosts, ssh_hosts
from bot.hosts.ssh.options import Jump
from bot.hosts.ssh.pins import Pins
from bot.hosts.words import Address, HostName, Port, Proof
from tests.behaviour.hosts.sshd import ALIAS, Sshd, is_root, running_sshd

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.needs("sshd"),
    pytest.mark.skipif(not is_root(), reason="sshd logs in only for root"),
]

TARGET = Target(
    vm_id=ALIAS,
    name="this-machine",
    address=Address("127.0.0.1"),
    proof_kind="host_name",
    proof=Proof(socket.gethostname().split(".")[0]),
)


@pytest.fixture
def sshd(tmp_path: Path) -> Iterator[Sshd]:
    """Return a running sshd."""
    with running_sshd(tmp_path) as running:
        yield running


def _question(port: int) -> Question:
    return Question(
        names=(HostName("localhost"), HostName("no-such-host.invalid")),
        address=Address("127.0.0.1"),
        port=Port(port),
    )


async def test_every_probe_answers_and_is_read(sshd: Sshd) -> None:
    """All rows come back from a real machine in one round trip, and their parsers take them."""
    async with ssh_hosts(sshd.options) as hosts:
        evidence = await hosts.probe(TARGET, _question(sshd.options.port))

    assert evidence.failure is None, evidence.detail
    assert set(evidence.results) == {probe.name for probe in probes.PROBES}
    for probe in probes.PROBES:
        evidence.read(probe)
    assert evidence.read(probes.BOOT_ID) == _boot_id()
    connect = evidence.read(probes.RENDEZVOUS)
    assert connect is not None
    assert connect.outcome == "connected"
    lookups = evidence.read(probes.LOOKUPS)
    assert lookups is not None
    assert lookups.by_name["localhost"].ok
    assert not lookups.by_name["no-such-host.invalid"].ok
    mounts = evidence.read(probes.MOUNTS)
    assert mounts
    assert "/" in {mount.mount for mount in mounts}
    assert evidence.delays.shell is not None
    assert evidence.delays.helper is not None


async def test_one_exec_a_probe_and_one_login_for_many(sshd: Sshd) -> None:
    """Sshd logs one accepted key for three probes."""
    async with ssh_hosts(sshd.options) as hosts:
        for _ in range(3):
            await hosts.probe(TARGET, _question(1))

    assert sshd.log.count("Accepted publickey") == 1


async def test_no_more_connections_stay_open_than_are_allowed(sshd: Sshd) -> None:
    """The one that was unused for longest is closed, so that a large job needs few open files."""
    known = sshd.options.known_hosts
    assert known is not None
    pinned = known.read_text(encoding="utf-8").partition(" ")[2]
    known.write_text("".join(f"vm-{at} {pinned}" for at in range(4)), encoding="utf-8")
    limits = replace(sshd.options.limits, kept=2)
    targets = [replace(TARGET, vm_id=f"vm-{at}") for at in (0, 1, 2, 3, 3, 2, 0)]
    async with ssh_hosts(replace(sshd.options, limits=limits)) as hosts:
        for target in targets:
            found = await hosts.probe(target, _question(1))
            assert found.failure is None, found.detail
            assert _ours(sshd.options.port) <= 3

    assert sshd.log.count("Accepted publickey") == 5


def _ours(port: int) -> int:
    """Count our connections to a local port (proc(5), net/tcp: state 01 is established)."""
    lines = Path("/proc/self/net/tcp").read_text(encoding="utf-8").splitlines()[1:]
    fields = [line.split() for line in lines]
    return sum(one[2].endswith(f":{port:04X}") and one[3] == "01" for one in fields)


async def test_a_wrong_identity_stops_the_far_side_before_any_probe(sshd: Sshd) -> None:
    """Where the proof does not hold, the helper runs nothing at all."""
    rows = probes.rows(_question(1), "host_name", Proof("another-machine"))

    answers = await _raw(sshd, rows, wire.WITHIN)

    assert set(answers.results) == {"identity"}
    assert answers.results["identity"].rc == 1
    assert answers.complete


def _row(name: str, *argv: str, seconds: float = 60, most_bytes: int = 1000) -> Row:
    return Row(name=name, argv=argv, timeout=timedelta(seconds=seconds), most_bytes=most_bytes)


async def test_the_whole_ends_in_time_when_every_command_hangs(sshd: Sshd) -> None:
    """Twenty commands that hang take the total time and no more, and leave no process behind."""
    rows = [_row(f"hang-{number}", "sleep", f"97.{number:03}") for number in range(20)]
    began = time.monotonic()

    answers = await _raw(sshd, rows, timedelta(seconds=1))

    assert time.monotonic() - began < 6
    assert [result.rc for result in answers.results.values()] == [None] * 20
    assert all(result.timed_out for result in answers.results.values())
    assert not _running("sleep\0" + "97.")


async def test_each_probe_has_its_own_time_and_bound(sshd: Sshd) -> None:
    """A flood is cut, what was printed before a time-out is kept, and codes are told."""
    rows = [
        _row("flood", "sh", "-c", "yes", seconds=1),
        _row("partial", "sh", "-c", "echo first; sleep 97", seconds=1),
        _row("child", "sh", "-c", "sleep 97.5 & echo started", seconds=5),
        _row("code", "sh", "-c", "exit 7"),
        _row("signal", "sh", "-c", "kill -SEGV $$"),
        _row("absent", "no-such-program-here"),
    ]

    answers = await _raw(sshd, rows, wire.WITHIN)

    found = answers.results
    assert len(found["flood"].output) == 1000
    assert found["flood"].cut
    assert found["flood"].timed_out
    assert found["partial"].output == b"first\n"
    assert found["partial"].timed_out
    assert found["child"].output == b"started\n"
    assert found["child"].duration < timedelta(seconds=4)
    assert found["code"].rc == 7
    assert found["signal"].rc == -11
    assert found["absent"].rc == 127
    assert not _running("sleep\0" + "97.5")


async def test_words_reach_the_far_side_whole(sshd: Sshd) -> None:
    """No word is ever split, expanded or run by a shell on the way."""
    odd = ["$(touch /x)", "a;b", "*", "'\"", "`id`", "-n", "é", "\\", "a b", "💡"]
    rows = [_row("odd", "printf", "%s\\n", *odd)]

    answers = await _raw(sshd, rows, wire.WITHIN)

    assert answers.results["odd"].text.splitlines() == odd


async def test_a_talking_login_shell_does_no_harm(tmp_path: Path) -> None:
    """What a start-up file prints before the answer is passed over."""
    with running_sshd(tmp_path, 'ForceCommand echo hello; eval "$SSH_ORIGINAL_COMMAND"') as loud:
        async with ssh_hosts(loud.options) as hosts:
            evidence = await hosts.probe(TARGET, _question(1))

    assert evidence.failure is None, evidence.detail
    assert evidence.detail == ""


async def test_the_agent_signs_and_is_not_forwarded(sshd: Sshd) -> None:
    """On the far side there is no agent's socket, whatever the account that runs us has."""
    answers = await _raw(sshd, [_row("env", "sh", "-c", "echo [$SSH_AUTH_SOCK]")], wire.WITHIN)

    assert answers.results["env"].output == b"[]\n"


async def test_a_jump_host_of_openssh_leads_on(sshd: Sshd) -> None:
    """A real jump host forwards, and a closed port behind it is no silence."""
    jump = Jump(host="127.0.0.1", user="root", port=sshd.options.port)
    known = sshd.options.known_hosts
    assert known is not None
    known.write_text(
        known.read_text(encoding="utf-8")
        + known.read_text(encoding="utf-8").replace(ALIAS, "127.0.0.1"),
        encoding="utf-8",
    )
    through = replace(sshd.options, jumps=(jump,))
    async with ssh_hosts(through) as hosts:
        assert (await hosts.probe(TARGET, _question(1))).failure is None
    async with ssh_hosts(replace(through, port=1)) as hosts:
        refused = await hosts.probe(TARGET, _question(1))
    assert refused.failure == "hangs"


async def test_a_jump_host_that_fails_is_the_way_and_not_the_machine(sshd: Sshd) -> None:
    """Everybody behind it hears the same, and nobody waits for it one after another."""
    lost = replace(sshd.options, jumps=(Jump(host="127.0.0.1", user="root", port=1),))
    async with ssh_hosts(lost) as hosts:
        found = await asyncio.gather(
            *(hosts.probe(replace(TARGET, vm_id=f"vm-{n}"), _question(1)) for n in range(8))
        )

    assert {one.failure for one in found} == {"route"}


async def test_a_refused_key_is_our_access(sshd: Sshd) -> None:
    """Sshd's refusal is told from silence, and names the account."""
    asyncssh.generate_private_key("ssh-ed25519").write_private_key(sshd.folder / "id")
    async with ssh_hosts(sshd.options) as hosts:
        evidence = await hosts.probe(TARGET, _question(1))

    assert evidence.failure == "access"
    assert "root" in evidence.detail


async def test_a_host_certificate_needs_no_pin(tmp_path: Path) -> None:
    """A host key that our authority signed for the VM id is trusted; without it, it is not."""
    authority = asyncssh.generate_private_key("ssh-ed25519")
    certificate = tmp_path / "host_key-cert.pub"
    with running_sshd(tmp_path, f"HostCertificate {certificate}") as sshd:
        key = asyncssh.read_private_key(tmp_path / "host_key")
        signed = authority.generate_host_certificate(key, "host", principals=[ALIAS])
        signed.write_certificate(certificate)
        shown = authority.export_public_key("openssh").decode()
        known = tmp_path / "known_hosts"
        known.write_text(f"@cert-authority * {shown}", encoding="utf-8")
        os.kill(int((tmp_path / "pid").read_text(encoding="utf-8")), signal.SIGHUP)
        async with ssh_hosts(sshd.options) as hosts:
            found = await _until_reached(hosts)
            other = await hosts.probe(replace(TARGET, vm_id="vm-2"), _question(1))

    assert found == ""
    assert other.failure == "access"


async def _until_reached(hosts: SshHosts) -> str:
    until = time.monotonic() + 10
    while True:
        evidence = await hosts.probe(TARGET, _question(1))
        if evidence.failure is None or time.monotonic() > until:
            return evidence.detail
        await asyncio.sleep(0.1)


async def _raw(sshd: Sshd, rows: tuple[Row, ...] | list[Row], within: timedelta) -> wire.Answers:
    options = sshd.options
    place = Place(name="x", alias=ALIAS, address="127.0.0.1", port=options.port, user="root")
    opened = await open_to(place, options.keys, Pins(options.known_hosts), options.limits)
    answers = wire.Answers(rows)
    async with opened.connection as connection:
        done = await connection.run(
            wire.command(), input=wire.standard_input(rows, within), encoding=None
        )
        assert isinstance(done.stdout, bytes)
        answers.feed(done.stdout)
    return answers


def _boot_id() -> str:
    return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="utf-8").strip()


def _running(words: str) -> bool:
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if words.encode() in path.read_bytes():
                return True
        except OSError:
            continue
    return False


@pytest.mark.needs("sudo")
async def test_what_sudo_allows_is_asked_on_the_same_connection(sshd: Sshd) -> None:
    """The real sudo lists all for root, which is more than looking."""
    async with ssh_hosts(sshd.options) as hosts:
        await hosts.probe(TARGET, _question(1))
        told = await hosts.privileges(TARGET)

    assert told.untold == ""
    assert told.beyond(PROBING)
    assert not told.grants(PROBING)
    assert sshd.log.count("Accepted publickey") == 1


async def test_a_machine_that_cannot_be_asked_for_sudo_tells_why(sshd: Sshd) -> None:
    """Unknown is not "nothing allowed"."""
    options = replace(sshd.options, keys=replace(sshd.options.keys, files=()))
    async with ssh_hosts(options) as hosts:
        told = await hosts.privileges(TARGET)

    assert told.commands == ()
    assert "this-machine was not asked" in told.untold
