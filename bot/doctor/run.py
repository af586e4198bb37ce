"""Make every check at once, each in bounded time, and stop at none."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence

from bot.doctor.look import Look
from bot.doctor.model import Answer, Checkup, Outcome, Row, fail, skip
from bot.doctor.table import CHECKS, Check
from bot.errors import BotError
from bot.schedulers.errors import NeedsWayError

log = logging.getLogger(__name__)

_ORDER = (Outcome.FAIL, Outcome.WARN, Outcome.OK, Outcome.SKIP)


async def examine(look: Look, checks: Sequence[Check] = CHECKS) -> Checkup:
    """Return what all checks say, in their order."""
    try:
        answers = await asyncio.gather(*(_made(check, look) for check in checks))
    finally:
        await look.end()
    rows = tuple(
        Row(
            check=check.name,
            about=one.about,
            outcome=one.outcome,
            said=one.said,
            mend=one.mend,
        )
        for check, found in zip(checks, answers, strict=True)
        for one in found
    )
    outcomes = {row.outcome for row in rows}
    return Checkup(
        worst=next((one for one in _ORDER if one in outcomes), Outcome.SKIP),
        level=int(look.settings.level),
        config=str(look.config or ""),
        rows=rows,
    )


async def _made(check: Check, look: Look) -> Sequence[Answer]:
    """Make one check; whatever it raises is its answer."""
    if lacking := next((need for need in check.needs if not need.met(look)), None):
        return (skip(lacking.value),)
    try:
        async with asyncio.timeout(check.within.total_seconds()):
            return await check.ask(look) or (skip("There is nothing to check."),)
    except Exception as error:  # noqa: BLE001 # none may hide what the other checks found
        return (_broken(check, error),)


def _broken(check: Check, error: Exception) -> Answer:
    """Return what an error in a check comes to; one that is no error of ours is our mistake."""
    match error:
        case TimeoutError():
            return fail(f"No answer came within {check.within.total_seconds():g} s.", check.mend)
        case NeedsWayError():
            return skip(f"Not checked: {error}")
        case BotError():
            return fail(str(error), check.mend)
        case OSError():
            return fail(f"{error.strerror or error}.", check.mend)
    log.error("the check %s broke", check.name, exc_info=error)
    said = f"The check itself broke ({type(error).__name__}); this says nothing of the set-up."
    return fail(said, "Report it, with what stands on standard error.")
