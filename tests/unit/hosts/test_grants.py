"""Prove that an installed helper runs the table's command lines and nothing else."""

from __future__ import annotations

import subprocess
import sys
from datetime import timedelta
from pathlib import Path

import pytest

from bot.hosts import grants, probes, wire
from bot.hosts.errors import UnsafeWordError
from bot.hosts.model import Row
from bot.hosts.words import Address, HostName, Port, Proof

QUESTION = probes.Question(
    names=(HostName("localhost"), HostName("a-1.b_2.internal.")),
    address=Address("2001:db8::1"),
    port=Port(29500),
)


def _run(folder: Path, rows: tuple[Row, ...]) -> wire.Answers:
    """Run the installed helper's text as sudo would, on this machine."""
    helper = folder / "helper"
    helper.write_text(grants.installed_helper(), encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-I", str(helper)],
        input=wire.standard_input(rows, timedelta(seconds=20), installed=True),
        capture_output=True,
        check=True,
    )
    answers = wire.Answers(rows)
    answers.feed(done.stdout)
    return answers


def _row(*argv: str) -> Row:
    return Row(name=" ".join(argv), argv=argv, timeout=timedelta(seconds=9), most_bytes=999)


def test_every_row_of_the_table_is_granted(tmp_path: Path) -> None:
    """A probe that the helper would refuse is a probe that sudo does not cover."""
    rows = tuple(
        row
        for row in probes.rows(QUESTION, "host_name", Proof("any"))
        if row.name != "identity" and row.argv[0] != "@containers"
    )

    answers = _run(tmp_path, rows)

    assert answers.complete
    assert not [one.name for one in answers.results.values() if b"may not run" in one.output]


@pytest.mark.parametrize(
    "argv",
    [
        ("sh", "-c", "id"),
        ("systemctl", "restart", "systemd-resolved"),
        ("systemctl", "show", "ssh", "-p", "MainPID"),
        ("@file", "/etc/shadow"),
        ("@file", "/etc/resolv.conf", "/etc/shadow"),
        ("@lookups",),
        ("@lookups", "$(reboot)"),
        ("@lookups", "good", "-x"),
        ("@lookups", "n" * 300),
        ("@lookups", "good\n"),
        ("@tcp", "node-0", "22"),
        ("@tcp", "10.0.0.1", "22", "23"),
        ("@identity", "any_file", "x"),
        ("@resolvectl", "flush-caches"),
        ("@dns", "8.8.8.8", "localhost"),
    ],
)
def test_what_is_no_row_is_refused(argv: tuple[str, ...], tmp_path: Path) -> None:
    """The helper runs as root, so it checks each word itself, whoever calls it."""
    answers = _run(tmp_path, (_row(*argv),))

    (result,) = answers.results.values()
    assert result.rc == 126
    assert b"may not run" in result.output


def test_sudo_grants_the_helper_without_arguments() -> None:
    """The empty string of sudoers(5) forbids every argument."""
    text = grants.sudoers("nccl-probe")

    assert text.splitlines()[-1] == f'nccl-probe ALL=(root) NOPASSWD: {grants.HELPER_PATH} ""'


@pytest.mark.parametrize("user", ["", "ALL", "a b", "a\nb", "%wheel", "x=y", "-x"])
def test_an_account_that_is_none_gets_no_file(user: str) -> None:
    """Nothing that sudoers would read as more than one account is written."""
    with pytest.raises(UnsafeWordError):
        grants.sudoers(user)
