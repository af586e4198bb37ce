"""Prove what holds for every row of the repairs, and what their answers come to."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from bot.hosts import probes, repairs
from bot.hosts.model import Evidence, LoginFailure, ProbeResult, Rung
from bot.hosts.repairs import REPAIRS, Repair, Result, outcome
from bot.hosts.words import Proof
from bot.recovery.ladder import LADDER


def _told(*results: tuple[str, int | None, bytes], failure: LoginFailure | None = None) -> Evidence:
    return Evidence(
        vm_id="v",
        name="node-1",
        at=datetime(2030, 1, 2, tzinfo=UTC),
        failure=failure,
        detail="It lets nobody in.",
        results={
            name: ProbeResult(name=name, rc=rc, duration=timedelta(0), output=output)
            for name, rc, output in results
        },
    )


@pytest.mark.parametrize("repair", REPAIRS, ids=lambda repair: repair.rung)
def test_a_repair_is_systemctl_and_little_else(repair: Repair) -> None:
    """Each row's commands end in time, and probes of the table show what they did."""
    assert {command.argv[0] for command in repair.commands} == {"systemctl"}
    assert all(timedelta(0) < one.timeout <= timedelta(seconds=100) for one in repair.commands)
    assert repair.shown_by[0] is probes.IDENTITY
    assert set(repair.shown_by) <= set(probes.PROBES)
    assert repair.loses


@pytest.mark.parametrize("repair", REPAIRS, ids=lambda repair: repair.rung)
def test_the_identity_comes_first_and_each_command_waits_for_the_last(repair: Repair) -> None:
    """All rows are gates: what follows one that fails is not run."""
    rows = repairs.rows(repair.rung, "product_uuid", Proof("some-id"))

    assert [row.name for row in rows] == ["identity", *(one.name for one in repair.commands)]
    assert all(row.gate for row in rows)
    assert repairs.within(repair.rung) >= sum((row.timeout for row in rows), timedelta(0))


def test_the_ladder_and_the_table_say_the_same_of_what_is_lost() -> None:
    """A person is told once what will not come back."""
    loses = {row.rung: row.loses for row in LADDER}

    assert {repair.rung: repair.loses for repair in REPAIRS} == {
        repair.rung: loses[repair.rung] for repair in REPAIRS
    }
    assert {row.number for row in LADDER if row.rung in loses and row.rung in RUNGS} == {1, 2}


RUNGS = {repair.rung for repair in REPAIRS}
IDENTITY, RESET = ("identity", 0, b"{}"), ("reset_failed", 0, b"")


@pytest.mark.parametrize(
    ("told", "result", "words"),
    [
        (_told(IDENTITY, RESET, ("restart", 0, b"")), Result.RAN, "probes show"),
        (_told(IDENTITY, RESET, ("restart", 1, b"bad\x1b[0m")), Result.FAILED, r"code 1: 'bad\x1b"),
        (_told(IDENTITY, RESET, ("restart", None, b"")), Result.UNKNOWN, "restart systemd-res"),
        (_told(IDENTITY, RESET), Result.UNKNOWN, "restart systemd-res"),
        (_told(IDENTITY), Result.UNKNOWN, "reset-failed"),
        (_told(IDENTITY, ("reset_failed", 126, b"no")), Result.NOT_RUN, "code 126"),
        (_told(IDENTITY, ("reset_failed", 127, b"")), Result.NOT_RUN, "code 127"),
        (_told(IDENTITY, RESET, ("restart", 127, b"")), Result.FAILED, "code 127"),
        (_told(failure=LoginFailure.HANGS), Result.NOT_RUN, "lets nobody in"),
        (_told(IDENTITY, RESET, ("restart", 1, b"x" * 9999)), Result.FAILED, "xxx"),
    ],
)
def test_what_an_answer_comes_to(told: Evidence, result: Result, words: str) -> None:
    """What was not answered is unknown, never undone, and none of it says that it helped."""
    came = outcome(Rung.RESTART_RESOLVER, told)

    assert came.result is result
    assert words in came.why
    assert len(came.why) < 350
    assert came.why.isprintable()
