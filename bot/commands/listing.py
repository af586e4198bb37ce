"""`nccl-dns incidents` and `nccl-dns show`: what the store knows, for a terminal."""

from __future__ import annotations

from bot.chat import telling
from bot.chat.mapping import incident_shown, switch_shown
from bot.errors import InputError
from bot.incidents.approval import Approval, ApprovalState
from bot.incidents.incident import Incident
from bot.incidents.run import Run
from bot.incidents.store import Store, open_store
from bot.recovery.service import plan_of
from bot.recovery.steps.table import STEPS
from bot.reports.foreign import printable
from bot.settings import Settings

_MOST = 50


async def incidents(settings: Settings) -> tuple[str, ...]:
    """Return what is open, the newest first, and what stops steps now; raises StoreError."""
    async with open_store(settings.store_url) as store:
        opened = await store.incidents.still_open(limit=_MOST)
        lines = [*await _stopped(store), *map(_row, opened)]
        if not opened:
            lines.append("Nothing is open.")
        if (count := await store.incidents.count_open()) > len(opened):
            lines.append(f"and {count - len(opened)} more")
    return tuple(map(printable, lines))


async def show(settings: Settings, incident_id: str) -> tuple[str, ...]:
    """Return one incident: its steps with the ids to decide by, and what happened when.

    Raises StoreError, or InputError where there is no such incident.
    """
    async with open_store(settings.store_url) as store:
        incident = await store.incidents.get(incident_id)
        if incident is None:
            raise InputError(f"There is no incident {incident_id}; nccl-dns incidents lists them.")
        lines = [*await _stopped(store), _row(incident)]
        for approval in await store.approvals.of(incident.id):
            lines += _approval(approval, await store.step_runs.of(approval.id))
        entries = await store.incidents.timeline(incident.id)
        lines += ["", "Timeline (UTC):"]
        lines += [
            f"  {one.at:%Y-%m-%d %H:%M:%S}  {one.what}{f'  ({one.by})' if one.by else ''}"
            for one in telling.timeline(entries)
        ]
    return tuple(map(printable, lines))


async def _stopped(store: Store) -> tuple[str, ...]:
    found = [switch_shown(one) for one in await store.switches.on()]
    return tuple(
        f"{one.what} since {one.at:%Y-%m-%d %H:%M} UTC"
        f"{f' by {one.by}' if one.by else ''}{f': {one.why}' if one.why else ''}"
        for one in found
    )


def _row(incident: Incident) -> str:
    shown = incident_shown(incident)
    when = f"{shown.asked_at:%Y-%m-%d %H:%M}"
    state = incident.state.value
    return f"{incident.id}  {when}  {state}  {shown.job or 'pasted log'}  {shown.headline}".rstrip()


def _approval(approval: Approval, runs: tuple[Run, ...]) -> list[str]:
    steps = ", then ".join(STEPS[step].title for step in approval.chain if step in STEPS)
    lines = ["", f"Approval {approval.id}: {steps} on {approval.vm_name}: {approval.state.value}"]
    if approval.state is ApprovalState.OPEN:
        until = f"{approval.expires_at:%H:%M} UTC" if approval.expires_at else "it is ready"
        so_far = f", approved by {approval.first_by} so far" if approval.first_by else ""
        lines.append(f"  waits for {approval.needs} until {until}{so_far}")
        lines += [f"  {number}. {line}" for number, line in enumerate(plan_of(approval), 1)]
    elif approval.decided_by:
        lines.append(f"  by {approval.decided_by}")
    lines += [f"  {STEPS[run.step].title}: {run.state.value}. {run.sentence}" for run in runs]
    return lines
