"""Prove that checks run beside each other, in bounded time, and that none stops another."""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Awaitable, Callable, Sequence
from datetime import timedelta

import pytest

from bot.clouds.crusoe.account import KeyCheck
from bot.clouds.errors import CloudUnavailableError
from bot.doctor.look import Look
from bot.doctor.model import Answer, Outcome, fail, ok, skip, warn
from bot.doctor.run import examine
from bot.doctor.table import CHECKS, Check, Need
from bot.errors import BotError
from bot.schedulers.errors import NeedsWayError
from bot.settings import Settings
from bot.triage.services import Services

pytestmark = pytest.mark.anyio

Ask = Callable[[Look], Awaitable[Sequence[Answer]]]


@pytest.fixture
def look(monkeypatch: pytest.MonkeyPatch) -> Look:
    """Return a look at nothing."""
    for name in list(os.environ):
        if name.upper().startswith("NCCL_DNS_"):
            monkeypatch.delenv(name)

    async def nobody() -> KeyCheck:
        raise CloudUnavailableError("Nobody is there.")

    return Look(settings=Settings(), config=None, services=Services(), whose_key=nobody)


def check(name: str, ask: Ask, seconds: float = 5, needs: tuple[Need, ...] = ()) -> Check:
    """Return a row of a table."""
    return Check(
        name=name, ask=ask, mend="Mend it.", needs=needs, within=timedelta(seconds=seconds)
    )


def says(*answers: Answer) -> Ask:
    """Return a check that says this."""

    async def ask(_: Look) -> Sequence[Answer]:
        return answers

    return ask


def raises(error: Exception) -> Ask:
    """Return a check that breaks."""

    async def ask(_: Look) -> Sequence[Answer]:
        raise error

    return ask


async def hangs(_: Look) -> Sequence[Answer]:
    """Never answer."""
    await asyncio.Event().wait()
    return ()


@pytest.mark.parametrize(
    ("error", "outcome", "said"),
    [
        (BotError("The sentence."), Outcome.FAIL, "The sentence."),
        (NeedsWayError("It cannot."), Outcome.SKIP, "Not checked: It cannot."),
        (PermissionError(13, "Permission denied"), Outcome.FAIL, "Permission denied."),
        (ZeroDivisionError(), Outcome.FAIL, "The check itself broke (ZeroDivisionError)"),
    ],
)
async def test_an_error_is_the_answer_of_its_check_alone(
    look: Look, error: Exception, outcome: Outcome, said: str, caplog: pytest.LogCaptureFixture
) -> None:
    """What comes behind it is checked all the same, and a mistake of ours is in the log."""
    checkup = await examine(look, [check("a", raises(error)), check("b", says(ok("Well.")))])

    first, second = checkup.rows
    assert (first.check, first.outcome) == ("a", outcome)
    assert first.said.startswith(said)
    assert (second.check, second.said) == ("b", "Well.")
    logged = [one for one in caplog.records if one.levelno == logging.ERROR]
    assert bool(logged) is isinstance(error, ZeroDivisionError)


async def test_a_check_that_hangs_is_given_up(look: Look) -> None:
    """Within its own time, and the others have answered meanwhile."""
    checkup = await examine(
        look, [check("a", hangs, 0.05), check("b", hangs, 0.05), check("c", says(ok("Well.")))]
    )

    assert [row.outcome for row in checkup.rows] == [Outcome.FAIL, Outcome.FAIL, Outcome.OK]
    assert checkup.rows[0].said == "No answer came within 0.05 s."
    assert checkup.rows[0].mend == "Mend it."


async def test_checks_run_at_once(look: Look) -> None:
    """The first can wait for what the second does."""
    done = asyncio.Event()

    async def waits(_: Look) -> Sequence[Answer]:
        await done.wait()
        return (ok("Well."),)

    async def does(_: Look) -> Sequence[Answer]:
        done.set()
        return (ok("Well."),)

    checkup = await examine(look, [check("a", waits), check("b", does)])

    assert checkup.worst is Outcome.OK


async def test_what_is_not_set_is_not_asked(look: Look) -> None:
    """The reason names what is not set."""
    checkup = await examine(
        look, [check("a", raises(AssertionError()), needs=(Need.CLUSTER, Need.SSH))]
    )

    (row,) = checkup.rows
    assert (row.outcome, row.said) == (Outcome.SKIP, "No cluster is set ([clusters.NAME]).")


@pytest.mark.parametrize(
    ("answers", "worst"),
    [
        ((ok("."), warn(".", "m"), fail(".", "m"), skip(".")), Outcome.FAIL),
        ((skip("."), ok("."), warn(".", "m")), Outcome.WARN),
        ((skip("."), ok(".")), Outcome.OK),
        ((skip("."),), Outcome.SKIP),
        ((), Outcome.SKIP),
    ],
)
async def test_the_worst_counts(look: Look, answers: tuple[Answer, ...], worst: Outcome) -> None:
    """A check that has nothing to say leaves a row, too."""
    checkup = await examine(look, [check("a", says(*answers))])

    assert checkup.worst is worst
    assert checkup.failed is (worst is Outcome.FAIL)
    assert len(checkup.rows) == max(len(answers), 1)


async def test_nothing_that_is_set_is_nothing_that_fails(look: Look) -> None:
    """Without settings only what lies here is checked."""
    checkup = await examine(look, [one for one in CHECKS if one.needs])

    assert {row.outcome for row in checkup.rows} == {Outcome.SKIP}


async def test_one_question_is_asked_once_whoever_gives_up(look: Look) -> None:
    """Who runs out of time stops waiting; the others get the answer."""
    asked = []
    answered = asyncio.Event()

    async def slow() -> str:
        asked.append("asked")
        await answered.wait()
        return "answer"

    async def impatient(look: Look) -> Sequence[Answer]:
        return (ok(await look.once("question", slow)),)

    async def patient(look: Look) -> Sequence[Answer]:
        said = look.once("question", slow)
        asyncio.get_running_loop().call_later(0.2, answered.set)
        return (ok(await said),)

    checkup = await examine(look, [check("a", impatient, 0.02), check("b", patient)])

    assert [row.outcome for row in checkup.rows] == [Outcome.FAIL, Outcome.OK]
    assert asked == ["asked"]


def test_each_row_of_the_table_is_named_once() -> None:
    """A reader of --json finds a check by its name."""
    names = [one.name for one in CHECKS]

    assert len(set(names)) == len(names)
    assert all(one.mend.endswith(".") for one in CHECKS)
    assert all(timedelta(0) < one.within <= timedelta(minutes=1) for one in CHECKS)
