"""How much may be changed at once, and when nothing more is: absolute numbers, and the breaker."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from bot.incidents.run import UNDER_WAY, Run, RunState

_HOUR = timedelta(hours=1)


@dataclass(frozen=True, kw_only=True, slots=True)
class Blast:
    """The most that may be changed; each is a setting."""

    #: VMs under change at one moment
    at_once: int = 1
    #: VMs changed within an hour
    an_hour: int = 4
    #: unknown outcomes, since the breaker was last closed, that open it
    unknowns: int = 2
    #: so many VMs with one finding, looked at within this time, open it
    with_one_finding: int = 3
    together: timedelta = timedelta(minutes=10)
    #: how far this machine's clock may be from the store's
    skew: timedelta = timedelta(seconds=60)


def too_much(run: Run, others: Sequence[Run], blast: Blast, now: datetime) -> str:
    """Say why a run would be one too many now; empty where it is not.

    `others` are the mutating runs of the last hour, and those that are under way.
    """
    others = [one for one in others if one.approval_id != run.approval_id]
    busy = {one.vm_name for one in others if one.state in UNDER_WAY}
    if run.vm_name in busy:
        return f"Another step is under way on {run.vm_name}."
    if len(busy) >= blast.at_once:
        named = ", ".join(sorted(busy))
        return f"{named} is under change now; the limit is {blast.at_once} at once."
    lately = {
        one.vm_name
        for one in others
        if one.started_at and now - one.started_at < _HOUR and one.state is not RunState.REFUSED
    } - {run.vm_name}
    if len(lately) >= blast.an_hour:
        return f"{len(lately)} VMs were changed within the hour; the limit is {blast.an_hour}."
    return ""


def breaks(run: Run, lately: Sequence[Run], blast: Blast) -> str:
    """Say why the breaker opens after a run; empty where it does not.

    `lately` are the mutating runs since the breaker was last closed, this one included.
    """
    if run.state is RunState.FAILED and run.proof:
        return f"What was done to {run.vm_name} did not help."
    unknown = [one for one in lately if one.state is RunState.UNKNOWN]
    if run.state is RunState.UNKNOWN and len(unknown) >= blast.unknowns:
        named = ", ".join(sorted({one.vm_name for one in unknown}))
        return f"What came of {len(unknown)} steps is not known ({named})."
    return ""
