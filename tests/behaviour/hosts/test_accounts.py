"""Prove with a real sudo what each of the two accounts can do on a machine, and what it cannot."""

from __future__ import annotations

import socket
import subprocess
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from bot.hosts import grants, probes, repairs, wire
from bot.hosts.model import Row, Rung
from bot.hosts.probes import ProofKind
from bot.hosts.repairs import REPAIRS, Repair
from bot.hosts.words import Address, HostName, Port, Proof
from tests.behaviour.hosts.account import NEEDS, Account, account

pytestmark = NEEDS

KIND: ProofKind = "host_name"
PROOF = Proof(socket.gethostname().split(".")[0])
QUESTION = probes.Question(
    names=(HostName("localhost"), HostName("a-1.b_2.internal.")),
    address=Address("127.0.0.1"),
    port=Port(1),
)


@pytest.fixture
def prober(tmp_path: Path) -> Iterator[Account]:
    """Return the account that looks."""
    with account(tmp_path, grants.PROBING) as one:
        yield one


@pytest.fixture
def repairer(tmp_path: Path) -> Iterator[Account]:
    """Return the account that repairs."""
    with account(tmp_path, grants.REPAIRING) as one:
        yield one


def _row(*argv: str) -> Row:
    return Row(name="asked", argv=argv, timeout=timedelta(seconds=5), most_bytes=999)


def _lines(repair: Repair) -> list[str]:
    return [f"0 {' '.join(command.argv[1:])}" for command in repair.commands]


@pytest.mark.parametrize("repair", REPAIRS, ids=lambda repair: repair.rung)
def test_every_repair_is_granted_and_runs_as_root(repair: Repair, repairer: Account) -> None:
    """A row that needs more than sudo and the helper give fails here."""
    answers = repairer.ask(repairs.rows(repair.rung, KIND, PROOF))

    assert answers.complete
    assert [one.rc for one in answers.results.values()] == [0] * (len(repair.commands) + 1)
    assert repairer.ran == _lines(repair)


def test_every_probe_is_granted(prober: Account) -> None:
    """One `sudo -n` answers the whole table, and the helper refuses none of its rows."""
    rows = probes.rows(QUESTION, KIND, PROOF)

    answers = prober.ask(rows)

    assert answers.complete
    assert set(answers.results) == {probe.name for probe in probes.PROBES}
    assert not [one.name for one in answers.results.values() if b"may not run" in one.output]


def test_syslog_is_told_who_ran_what_and_what_came_of_it(repairer: Account) -> None:
    """The account and the words stand there before the command runs, the result after it."""
    repairer.ask(repairs.rows(Rung.RESTART_RESOLVER, KIND, PROOF))

    order = [
        "nccl-throwaway runs ['systemctl', 'reset-failed', 'systemd-resolved']",
        "nccl-throwaway ran ['systemctl', 'reset-failed', 'systemd-resolved'] with result 0",
        "nccl-throwaway runs ['systemctl', 'restart', 'systemd-resolved']",
        "nccl-throwaway ran ['systemctl', 'restart', 'systemd-resolved'] with result 0",
    ]
    told = [line for line in repairer.told(order[-1]) if line.startswith("<85>nccl-dns-repair[")]
    places = ["\n".join(told).find(one) for one in order]
    assert -1 not in places
    assert places == sorted(places)


def test_a_machine_without_syslog_is_mended_all_the_same(repairer: Account) -> None:
    """Nothing waits for a log daemon that is gone."""
    repairer.end_syslog()

    answers = repairer.ask(repairs.rows(Rung.REBOOT, KIND, PROOF))

    assert answers.results["reboot"].rc == 0


@pytest.mark.parametrize(
    "argv",
    [
        ("systemctl", "stop", "systemd-resolved"),
        ("systemctl", "restart", "sshd"),
        ("systemctl", "restart", "systemd-resolved", "--force"),
        ("systemctl", "reboot", "--force"),
        ("systemctl", "restart", "systemd-resolved\n"),
        ("sh", "-c", "id"),
        ("@file", "/etc/shadow"),
        ("/bin/systemctl", "reboot"),
    ],
)
def test_what_is_no_repair_is_refused_and_logged(argv: tuple[str, ...], repairer: Account) -> None:
    """The helper runs as root, so it checks each word itself, whoever calls it."""
    answers = repairer.ask([_row(*argv)])

    assert answers.results["asked"].rc == 126
    assert repairer.ran == []
    assert repairer.told("nccl-throwaway is refused")


@pytest.mark.parametrize("repair", REPAIRS, ids=lambda repair: repair.rung)
def test_another_machine_is_not_repaired(repair: Repair, repairer: Account) -> None:
    """The proof of identity comes first, and nothing is run where it does not hold."""
    answers = repairer.ask(repairs.rows(repair.rung, KIND, Proof("another-machine")))

    assert answers.complete
    assert set(answers.results) == {"identity"}
    assert repairer.ran == []


def test_a_command_that_fails_ends_the_repair(repairer: Account) -> None:
    """The restart does not follow a reset that failed."""
    repairer.break_systemctl()

    answers = repairer.ask(repairs.rows(Rung.RESTART_RESOLVER, KIND, PROOF))

    assert answers.complete
    assert answers.results["reset_failed"].rc == 5
    assert repairer.ran == ["0 reset-failed systemd-resolved"]


@pytest.mark.parametrize(
    "order",
    [
        b"",
        b"{'within_ms': 1000",
        wire.order([_row("systemctl", "reboot")] * 65, timedelta(seconds=9)),
        wire.order([_row("systemctl", "reboot", "x" * 2**20)], timedelta(seconds=9)),
    ],
    ids=["none", "cut off", "too many rows", "too long"],
)
def test_an_order_that_is_none_of_ours_runs_nothing(order: bytes, repairer: Account) -> None:
    """A caller that was lost, or one that wants to use up the machine, gets nothing run as root."""
    done = repairer.run(["sudo", "-n", grants.REPAIR_PATH], order)

    assert done.returncode != 0
    assert repairer.ran == []


@pytest.mark.parametrize(
    "argv",
    [
        ["sudo", "-n", grants.REPAIR_PATH],
        ["sudo", "-n", grants.HELPER_PATH, "an argument"],
        ["sudo", "-n", "/usr/local/sbin/systemctl", "reboot"],
        ["sudo", "-n", "-u", "daemon", grants.HELPER_PATH],
        ["sudo", "-n", "sh"],
    ],
)
def test_the_probing_account_may_run_its_helper_only(argv: list[str], prober: Account) -> None:
    """Sudo itself refuses everything else, the repair helper first of all."""
    order = wire.order(repairs.rows(Rung.REBOOT, KIND, PROOF), timedelta(seconds=9))

    done = prober.run(argv, order)

    assert done.returncode != 0
    assert done.stderr.startswith(b"sudo: ")
    assert prober.ran == []


@pytest.mark.parametrize("repair", REPAIRS, ids=lambda repair: repair.rung)
def test_the_probing_helper_repairs_nothing(repair: Repair, prober: Account) -> None:
    """What only looks refuses the first command of every repair."""
    answers = prober.ask(repairs.rows(repair.rung, KIND, PROOF))

    assert answers.results[repair.commands[0].name].rc == 126
    assert prober.ran == []


@pytest.fixture
def queries(repairer: Account) -> Iterator[socket.socket]:
    """Let the machine know no name, its own least of all; return a name server that never answers.

    resolv.conf has no room for a port, so it is 53, on an address that nobody else uses.
    """
    etc = repairer.folder / "etc"
    (etc / "hosts").write_text("", encoding="utf-8")
    (etc / "nsswitch.conf").write_text(
        "passwd: files\nshadow: files\ngroup: files\nhosts: files dns\n", encoding="utf-8"
    )
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as server:
        server.bind(("127.77.53.1", 53))
        server.settimeout(0)
        conf = "nameserver 127.77.53.1\noptions timeout:1 attempts:1\n"
        (etc / "resolv.conf").write_text(conf, encoding="utf-8")
        yield server


def test_sudo_asks_no_name_server(repairer: Account, queries: socket.socket) -> None:
    """A hung resolver would hold up the very command that mends it."""
    answers = repairer.ask(repairs.rows(Rung.RESTART_RESOLVER, KIND, PROOF))

    assert answers.results["restart"].rc == 0
    with pytest.raises(BlockingIOError):
        queries.recv(512)


def test_without_our_rule_sudo_asks_for_the_machines_own_name(
    repairer: Account, queries: socket.socket
) -> None:
    """Debian's and Ubuntu's sudo does; should it stop, the rule is no longer needed."""
    version = subprocess.run(["sudo", "-V"], capture_output=True, check=True).stdout
    if b"--with-fqdn" not in version:
        pytest.skip("this sudo is built without fqdn")
    rules = repairer.folder / "etc" / "sudoers.d" / "nccl-dns"
    rules.write_text(rules.read_text(encoding="utf-8").replace("!fqdn, ", ""), encoding="utf-8")

    repairer.ask(repairs.rows(Rung.RESTART_RESOLVER, KIND, PROOF))

    assert socket.gethostname().encode() in queries.recv(512)


@pytest.mark.parametrize("grant", [grants.PROBING, grants.REPAIRING], ids=lambda one: one.path)
def test_sudo_finds_no_fault_with_the_files(grant: grants.Grant, tmp_path: Path) -> None:
    """`visudo` reads each as it is written, and sudo takes the one program from it."""
    with account(tmp_path, grant) as one:
        rules = one.folder / "etc" / "sudoers.d" / "nccl-dns"
        read = subprocess.run(["visudo", "-c", "-f", rules], capture_output=True, check=False)
        listed = one.run(["sudo", "-n", "-l", grant.path])

    assert read.returncode == 0, read.stderr
    assert listed.returncode == 0, listed.stderr
    assert listed.stdout.decode().split() == [grant.path]
