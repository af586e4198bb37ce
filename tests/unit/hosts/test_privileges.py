"""Prove how what `sudo -n -l` prints is read."""

from __future__ import annotations

import pytest

from bot.hosts.grants import PROBING, REPAIRING
from bot.hosts.privileges import read

DEFAULTS = "Matching Defaults entries for nccl-probe on node-2:\n    env_reset, mail_badpass\n\n"
HELPER = '    (root) NOPASSWD: /usr/local/libexec/nccl-dns-probe ""\n'
MAY = "User nccl-probe may run the following commands on node-2:\n"


def test_the_helper_alone_is_no_more_than_granted() -> None:
    """Defaults are no commands."""
    told = read(DEFAULTS + MAY + HELPER)

    assert told.grants(PROBING)
    assert told.beyond(PROBING) == ()
    assert not told.grants(REPAIRING)
    assert len(told.beyond(REPAIRING)) == 1


@pytest.mark.parametrize(
    "more",
    [
        "(ALL : ALL) ALL",
        "(ALL : ALL) NOPASSWD: ALL, !/bin/su",
        "(root) NOPASSWD: /usr/local/libexec/nccl-dns-probe",
        '(ALL) NOPASSWD: /usr/local/libexec/nccl-dns-probe ""',
        "(root) NOPASSWD: /usr/bin/systemctl restart systemd-resolved",
    ],
)
def test_anything_else_is_more(more: str) -> None:
    """Another user, arguments and other programs, too."""
    assert read(f"{MAY}{HELPER}    {more}\n").beyond(PROBING) == (more,)


@pytest.mark.parametrize(
    "said",
    [
        "User bin is not allowed to run sudo on node-2.\n",
        "Sorry, user nccl-probe may not run sudo on node-2.\n",
        "env: 'sudo': No such file or directory\n",
        "sh: 1: sudo: not found\n",
    ],
)
def test_nothing_allowed_is_an_answer(said: str) -> None:
    """Whoever has no sudo has no rights by it."""
    told = read(said)

    assert (told.commands, told.untold) == ((), "")
    assert not told.grants(PROBING)


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ("sudo: a password is required\n", "asks for a password"),
        ("", "said ''"),
        ("\x1b[31mLast login: today\n" * 50, "Last login"),
    ],
)
def test_what_says_nothing_is_not_taken_for_no_rights(said: str, words: str) -> None:
    """Unknown is said to be unknown, in bounded and harmless text."""
    told = read(said)

    assert words in told.untold
    assert "\x1b" not in told.untold
    assert len(told.untold) < 300
