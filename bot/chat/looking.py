"""A paste, a job or a file: from the words of a person to a report in a thread.

`look` reads from top to bottom: one incident, its placeholder at once, the check, the report.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from bot.chat import picturing
from bot.chat.asker import Asker
from bot.chat.checking import Found, Wanted, checked
from bot.chat.desk import Desk
from bot.chat.errors import AwayError, ClosedChannelError, NotMemberError
from bot.chat.mapping import kept
from bot.chat.placing import link, say_where
from bot.chat.rendering import EVIDENCE, PROBES, REVISED
from bot.chat.turns import Turn
from bot.diagnosis.redact import redact
from bot.errors import BotError
from bot.incidents.ids import new_id
from bot.incidents.incident import Entry, Incident, IncidentState, job_key, paste_key
from bot.incidents.message import PARENT, Message
from bot.reports.slack.notices import invite
from bot.schedulers import ids

#: A report that is there within this time needs no placeholder before it.
_AT_ONCE_S = 0.4
#: After this much more time a report is slow, and others go before the rest of it.
_SLOW_S = 0.6

__all__ = ["Wanted", "add", "again", "key_of", "look"]


async def look(desk: Desk, asker: Asker, wanted: Wanted) -> Incident | None:
    """Look at what somebody wants looked at, and report where they asked.

    What was asked about before has one thread: in another channel a card links to it. Returns the
    incident where its report is here and new.
    """
    async with desk.turns.first() as turn:
        seen = await _first(desk, asker, wanted, turn)
    if seen is None:
        return None
    incident, parent, found = seen
    await _below(desk, incident, parent, found)
    return incident


async def _first(
    desk: Desk, asker: Asker, wanted: Wanted, turn: Turn
) -> tuple[Incident, Message, Found] | None:
    """Make the report itself; None where it came to nothing, or is in another thread."""
    try:
        incident, new = await _opened(desk, asker, wanted)
    except BotError as error:
        await desk.explain(asker, error)
        return None
    if not new and incident.channel != asker.channel:
        await link(desk, asker, incident)
        return None
    if not new and incident.check is not None:
        await say_where(desk, asker, incident)
    checking = asyncio.ensure_future(_found(desk, asker, incident, wanted))
    try:
        if not await _within(checking, _AT_ONCE_S) and not await _placed(desk, asker, incident):
            return None
        if not await _within(checking, _SLOW_S):
            # it waits for a machine, the cloud or a scheduler: nobody else has to
            turn.pass_on()
        found = await checking
    finally:
        checking.cancel()
    if found is None:
        return None
    newest = await _kept(desk, asker, incident, found)
    parent = await _placed(desk, asker, newest)
    if parent is None:
        await found.warn()
        return None
    return newest, parent, found


async def _within(task: asyncio.Future[Any], seconds: float) -> bool:
    """Tell whether a task has ended within some seconds, however it did."""
    done, _ = await asyncio.wait({task}, timeout=seconds)
    return bool(done)


async def add(desk: Desk, asker: Asker, incident: Incident, wanted: Wanted, *, added: str) -> None:
    """Look again at an incident with what somebody added, and say what that changed."""
    parent = await desk.parent(incident)
    if parent is None or incident.state is not IncidentState.OPEN:
        await desk.explain(asker, "This incident is over, so nothing is added to it.")
        return
    found = await _found(desk, asker, incident, wanted)
    if found is None:
        return
    newest = await _report(desk, asker, incident, parent, found, kind="revised", about=added)
    await desk.outbox.say(
        desk.row(newest, f"{REVISED}{newest.revision}", parent=parent, live=False)
    )


async def again(desk: Desk, asker: Asker, incident: Incident, *, named: Sequence[str] = ()) -> None:
    """Look again at an incident's job, or at machines that a person picked."""
    job = f"{incident.cluster}:{incident.job_id}" if incident.job_id else None
    if job is None and not named:
        await desk.explain(
            asker,
            "This incident is of a pasted log, which is not kept: there is no job to ask again.",
            next_step=f"Paste it again, or give the job's ID: {desk.rules.command} 48213",
        )
        return
    parent = await desk.parent(incident)
    if parent is None:
        return
    found = await _found(desk, asker, incident, Wanted(job=job, named=tuple(named)))
    if found is not None:
        await _report(desk, asker, incident, parent, found)


async def _opened(desk: Desk, asker: Asker, wanted: Wanted) -> tuple[Incident, bool]:
    """Open an incident, or find the open one; raises BotError for a job of no known cluster."""
    cluster = job_id = None
    key = paste_key(wanted.fingerprint)
    if wanted.job is not None:
        cluster, job_id = key_of(desk, wanted.job)
        key = job_key(cluster, job_id)
    change = await desk.store.incidents.open(
        Incident(
            id=new_id(),
            key=key,
            opened_at=desk.now(),
            asked_by=asker.user,
            team=asker.team,
            channel=asker.channel,
            cluster=cluster,
            job_id=job_id,
        )
    )
    return change.incident, change.made


def key_of(desk: Desk, job: str) -> tuple[str, str]:
    """Return the cluster and the ID that a job is kept under; raises BotError for none."""
    clusters = desk.services.known_clusters
    parsed = ids.parse(job, clusters)
    return ids.resolve(parsed, clusters).name, parsed.job


async def _placed(desk: Desk, asker: Asker, incident: Incident) -> Message | None:
    """Post the placeholder; where the bot may not, say so and end the incident."""
    try:
        return await desk.outbox.say(
            desk.row(incident, PARENT, channel=asker.channel, thread=asker.thread)
        )
    except (NotMemberError, ClosedChannelError) as error:
        entry = Entry(at=desk.now(), kind="not posted", text=str(error))
        await desk.store.incidents.close(incident.id, entry, state=IncidentState.DISMISSED)
        if isinstance(error, NotMemberError):
            wrote = f"{desk.rules.command} {asker.wrote}".strip()
            await desk.tell(asker, invite(wrote, desk.identity.name))
        else:
            await desk.explain(asker, error)
        return None


async def _found(desk: Desk, asker: Asker, incident: Incident, wanted: Wanted) -> Found | None:
    """Check what is wanted; None where nothing came of it, which is said."""
    try:
        return await checked(desk, asker, incident, wanted)
    except AwayError:
        raise
    except BotError as error:
        await _failed(desk, asker, incident, error)
        return None


async def _failed(desk: Desk, asker: Asker, incident: Incident, error: BotError) -> None:
    """Say to the asker, and in the placeholder, why nothing came of it; a report stays."""
    await desk.explain(asker, error)
    newest = await desk.store.incidents.get(incident.id)
    if newest is None:
        return
    if newest.check is not None:
        if parent := await desk.parent(incident):
            await desk.outbox.edit(parent.id)
        return
    text = redact(str(error)).text[:500]
    entry = Entry(at=desk.now(), kind="not checked", text=text)
    await desk.store.incidents.close(incident.id, entry, state=IncidentState.DISMISSED)
    await desk.outbox.refresh(incident.id)


async def _report(
    desk: Desk, asker: Asker, incident: Incident, parent: Message, found: Found,
    *, kind: str = "checked", about: str | None = None,
) -> Incident:  # fmt: skip
    """Keep a check, show it in the parent, and put evidence, probes and picture below it."""
    newest = await _kept(desk, asker, incident, found, kind=kind, about=about)
    await _below(desk, newest, parent, found)
    return newest


async def _kept(
    desk: Desk, asker: Asker, incident: Incident, found: Found,
    *, kind: str = "checked", about: str | None = None,
) -> Incident:  # fmt: skip
    """Keep a check, and show it in the parent."""
    entry = Entry(
        at=desk.now(), kind=kind, who=asker.user, about=about,
        text=redact(found.checked.headline).text[:500],
    )  # fmt: skip
    newest = await desk.store.incidents.keep_check(incident.id, kept(found.checked), entry)
    await desk.outbox.refresh(incident.id)
    return newest


async def _below(desk: Desk, incident: Incident, parent: Message, found: Found) -> None:
    """Put evidence, probes and picture below a report, once nobody waits for a first one."""
    await found.warn()
    await desk.turns.others()
    made = found.checked
    if made.diagnosis is not None or made.logs:
        await desk.outbox.say(desk.row(incident, EVIDENCE, parent=parent))
    if made.machines:
        await desk.outbox.say(desk.row(incident, PROBES, parent=parent))
    if found.matrix is not None:
        await picturing.of_check(desk, incident, parent, found.matrix)
