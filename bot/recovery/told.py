"""What people said and what was tried, laid over what is measured of a VM. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from bot.clouds.model import VmState, state_of
from bot.hosts.model import Rung
from bot.incidents.run import Run, RunState
from bot.incidents.statement import Kind, Statement
from bot.recovery.facts import DataStatus, Facts, Tried

#: A later one of these counts, whichever it is.
_DATA = {
    Kind.BACKED_UP: DataStatus.BACKED_UP,
    Kind.NOTHING_TO_KEEP: DataStatus.NOTHING_TO_KEEP,
    Kind.AT_RISK: DataStatus.AT_RISK,
}
#: An unknown outcome is no reason to try the same again.
_TRIED = {
    RunState.PASSED: Tried.WORKED,
    RunState.FAILED: Tried.FAILED,
    RunState.UNKNOWN: Tried.FAILED,
}
#: In a failed run's result: it could not even be begun.
IMPOSSIBLE = "impossible"


def over(facts: Facts, said: Sequence[Statement], runs: Sequence[Run]) -> Facts:
    """Return the facts of a VM with what was said of it and tried on it in its incident.

    Both are in order of time; those of other VMs are left out.
    """
    said = [one for one in said if one.vm_name == facts.vm]
    return replace(
        _after_error(facts, said),
        tried=_tried([one for one in runs if one.vm_name == facts.vm]),
        asked_for={
            Rung(one.about): one.text or "asked for"
            for one in said
            if one.kind is Kind.ASKED_FOR and one.about in set(Rung)
        },
        data=data_status(said),
        others_accepted=frozenset(one.about for one in said if one.kind is Kind.DISPENSABLE),
        picked_by=_last(said, Kind.PICKED, "who") or facts.picked_by,
        ticket=_last(said, Kind.TICKET, "text"),
        typed_name=_last(said, Kind.NAME_TYPED, "text"),
    )


def data_status(said: Sequence[Statement]) -> DataStatus:
    """Return what is known of the data of one VM: the last word counts."""
    found = [_DATA[one.kind] for one in said if one.kind in _DATA]
    return found[-1] if found else DataStatus.UNKNOWN


def _tried(runs: Sequence[Run]) -> dict[Rung, Tried]:
    tried: dict[Rung, Tried] = {}
    for run in runs:
        if run.step not in set(Rung) or run.state not in _TRIED:
            continue
        impossible = run.state is RunState.FAILED and run.result.get(IMPOSSIBLE) is True
        tried[Rung(run.step)] = Tried.IMPOSSIBLE if impossible else _TRIED[run.state]
    return tried


def _last(said: Sequence[Statement], kind: Kind, field: str) -> str:
    found = [getattr(one, field) or "" for one in said if one.kind is kind]
    return str(found[-1]) if found else ""


def _after_error(facts: Facts, said: Sequence[Statement]) -> Facts:
    """Return the facts with what ERROR leaves behind: support's word counts if it is later."""
    states = [one for one in said if one.kind is Kind.STATE]
    errors = [one for one in states if state_of(one.about) is VmState.ERROR]
    last = errors[-1].at if errors else None

    def since(kind: Kind) -> bool:
        return any(one.kind is kind and (last is None or one.at >= last) for one in said)

    return replace(
        facts,
        was_in_error=facts.was_in_error or bool(errors),
        reads_outside_error=tuple(
            one.at
            for one in states
            if state_of(one.about) is not VmState.ERROR and (last is None or one.at > last)
        ),
        support_confirmed=since(Kind.SUPPORT_CONFIRMED),
        proceed_without=since(Kind.PROCEED_WITHOUT),
    )
