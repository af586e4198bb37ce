"""Stop every step that changes anything, and let steps go on: a pause, and the breaker."""

from __future__ import annotations

from datetime import timedelta

from bot.chat.asker import Asker
from bot.chat.desk import Desk
from bot.chat.mapping import switch_shown
from bot.chat.rendering import SWITCHED
from bot.diagnosis.redact import redact
from bot.incidents.incident import Incident, IncidentState
from bot.incidents.switches import Name, Switch
from bot.recovery.policy import Act, Matter, ruling

#: A switch put longer ago is news to nobody.
_NEWS = timedelta(hours=1)
_LONGEST = 500
_DONE = {
    Name.PAUSE: "Paused: no step that changes anything goes past its next boundary.",
    Name.BREAKER: "The breaker is open: no step that changes anything is begun.",
}


async def pause(desk: Desk, asker: Asker, reason: str) -> None:
    """Stop all steps at their next boundary, for everybody; said where it was asked."""
    here = await desk.store.incidents.any_open_in(asker.channel)
    person = await desk.people.known(asker.user)
    ruled = ruling(desk.rules.policy, Act.PAUSE, person, Matter(incident_here=here), desk.now())
    if not ruled.allowed:
        return await desk.explain(asker, ruled.why)
    switch = Switch(name=Name.PAUSE, on=True, reason=_words(reason), who=asker.user, at=desk.now())
    if not await desk.store.switches.put(switch):
        return await desk.explain(
            asker, "It is paused already.", next_step=f"{desk.rules.command} status says by whom."
        )
    await _said_here(desk, asker, switch)
    return await desk.explain(
        asker, _DONE[Name.PAUSE], not_done="Reading, reports and tickets go on.",
        next_step=f"An approver lets steps go on: {desk.rules.command} resume and why.",
    )  # fmt: skip


async def resume(desk: Desk, asker: Asker, reason: str) -> None:
    """Let steps go on: an approver ends the pause and closes the breaker, and says why."""
    person = await desk.people.known(asker.user)
    ruled = ruling(desk.rules.policy, Act.RESUME, person, Matter(), desk.now())
    if not ruled.allowed:
        return await desk.explain(asker, f"{ruled.why} An approver has to resume.")
    ended = []
    for one in await desk.store.switches.on():
        off = Switch(name=one.name, on=False, reason=_words(reason), who=asker.user, at=desk.now())
        if await desk.store.switches.put(off):
            ended.append(one)
            await _said_here(desk, asker, off)
    if not ended:
        return await desk.explain(asker, "Nothing is paused, and the breaker is closed.")
    was = " and ".join(switch_shown(one).what.lower() for one in ended)
    return await desk.explain(
        asker, f"Steps may go on (it was: {was}).", not_done="What was refused is not made up for.",
        next_step="Ask for a step anew where it is still needed.",
    )  # fmt: skip


def _words(reason: str) -> str:
    return redact(" ".join(reason.split())).text[:_LONGEST]


async def _said_here(desk: Desk, asker: Asker, switch: Switch) -> None:
    """Say it in the thread in which it was asked, if that is an incident's."""
    incident = await desk.incident_in(asker.channel, asker.thread) if asker.thread else None
    if incident is not None:
        await _say(desk, incident, switch)


async def say_switched(desk: Desk, said: set[str]) -> None:
    """Say in each thread with steps that wait or go on what stops them now, or does no more.

    `said` are those known to be. Once in a thread, also after a restart: its row is there already.
    """
    for switch in await desk.store.switches.all():
        name = _purpose(switch)
        if name in said or switch.at < desk.now() - _NEWS:
            continue
        for incident_id in await _held_up(desk, switch):
            incident = await desk.store.incidents.get(incident_id)
            if incident is not None and incident.state is IncidentState.OPEN:
                await _say(desk, incident, switch)
        said.add(name)


async def _held_up(desk: Desk, switch: Switch) -> tuple[str, ...]:
    """Return incidents with a step that waits, or was approved lately."""
    waiting = await desk.store.approvals.waiting(limit=1000)
    lately = await desk.store.approvals.approved_since(switch.at - _NEWS)
    found = [one.incident_id for one in (*waiting, *lately) if one.proposed_at <= switch.at]
    return tuple(dict.fromkeys(found))


async def _say(desk: Desk, incident: Incident, switch: Switch) -> None:
    parent = await desk.parent(incident)
    if parent is not None:
        row = desk.row(incident, _purpose(switch), parent=parent, live=False)
        await desk.outbox.say(row)


def _purpose(switch: Switch) -> str:
    at = round(switch.at.timestamp() * 1000)
    return f"{SWITCHED}{switch.name}:{'on' if switch.on else 'off'}:{at}"
