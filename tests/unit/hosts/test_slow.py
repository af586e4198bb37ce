"""Prove that slowness is blamed on the part of the way and on the machines that show it."""

from __future__ import annotations

from datetime import timedelta

import pytest

from bot.hosts.model import Delays
from bot.hosts.slow import slow


def _delays(login: float, shell: float | None, helper: float | None) -> Delays:
    return Delays(
        login=timedelta(seconds=login),
        shell=None if shell is None else timedelta(seconds=shell),
        helper=None if helper is None else timedelta(seconds=helper),
    )


QUICK = [(f"node-{at}", _delays(0.3, 0.1, 0.2)) for at in range(6)]


@pytest.mark.parametrize(
    ("delays", "words"),
    [
        (_delays(0.3, 4, 0.2), "The login shell of node-9 takes 4.0 s"),
        (_delays(3, 0.1, 0.2), "Sshd of node-9 takes 3.0 s"),
        (_delays(0.3, 0.1, 2), "Sudo or Python of node-9 takes 2.0 s"),
    ],
)
def test_the_part_that_takes_the_time_is_named(delays: Delays, words: str) -> None:
    """One machine is slow in one part: one sentence."""
    ((text, names),) = slow([*QUICK, ("node-9", delays)])

    assert words in text
    assert names == ("node-9",)


def test_nobody_is_slow_where_all_are_quick() -> None:
    """Three times as long as peers is no news below what a person would call slow."""
    assert not list(slow([*QUICK, ("node-9", _delays(1.2, 1.2, 1.2))]))
    assert not list(slow([]))


def test_all_slow_names_no_machine() -> None:
    """Where the machine in the middle is slow, the cause is shared, and may be ours."""
    ((text, names),) = slow([(name, _delays(0.3, 5, 0.1)) for name, _ in QUICK])

    assert "On half of the machines the login shell takes 5.0 s" in text
    assert "how busy this machine is" in text
    assert len(names) == len(QUICK)


def test_what_was_not_measured_is_not_slow() -> None:
    """A machine that was not reached says nothing of its shell."""
    assert not list(slow([*QUICK, ("node-9", Delays())]))
    assert not list(slow([*QUICK, ("node-9", _delays(0.3, None, None))]))


def test_two_machines_have_no_peers() -> None:
    """Without a middle to compare with, only what is slow by itself is named."""
    ((_, names),) = slow([("node-0", _delays(0.3, 2, 0.1)), ("node-1", _delays(0.3, 0.1, 0.1))])

    assert names == ("node-0",)
