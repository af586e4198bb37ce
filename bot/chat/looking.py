"""A paste, a job or a file: from the words of a person to a report in a thread.

`look` reads from top to bottom: one incident, its placeholder at once, the check, the report.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from bot.chat import logs
from bot.chat.asker import Asker
from bot.chat.desk import Desk
from bot.chat.errors import AwayError, ChatError, ClosedChannelError, NotMemberError
from bot.chat.mapping import incident_shown, kept
from bot.chat.port import SharedFile
from bot.chat.progress import Progress
from bot.chat.rendering import EVIDENCE, LINK, PROBES, REVISED
from bot.diagnosis import Source, of_bytes
from bot.diagnosis.redact import redact
from bot.errors import BotError
from bot.incidents.ids import new_id
from bot.incidents.incident import Entry, Incident, IncidentState, job_key, paste_key
from bot.incidents.message import PARENT, Message
from bot.reports.slack.notices import invite, linked, secret_found
from bot.schedulers import ids
from bot.triage.case import Asked
from bot.triage.check import check
from bot.triage.model import Checked

_LOG = logging.getLogger(__name__)
#: A report that is there within this time needs no placeholder before it.
_AT_ONCE_S = 0.4
#: Until a placeholder is edited for the first time.
_FIRST_EDIT_S = 0.6
#: Between two edits of a placeholder.
_EDIT_EVERY_S = 1.0


@dataclass(frozen=True, kw_only=True, slots=True)
class Wanted:
    """What is to be looked at."""

    job: str | None = None
    text: str = ""
    files: tuple[SharedFile, ...] = ()
    #: machines that a person picked
    named: tuple[str, ...] = ()

    @property
    def fingerprint(self) -> str:
        """Return what is the same when the same is asked again."""
        told = [self.text, *(one.id for one in self.files)]
        return sha256("\0".join(told).encode("utf-8", "surrogatepass")).hexdigest()


async def look(desk: Desk, asker: Asker, wanted: Wanted) -> None:
    """Look at what somebody wants looked at, and report where they asked.

    What was asked about before has one thread: in another channel a card links to it.
    """
    async with desk.turns.first():
        seen = await _first(desk, asker, wanted)
    if seen is not None:
        await _below(desk, *seen)


async def _first(
    desk: Desk, asker: Asker, wanted: Wanted
) -> tuple[Incident, Message, Checked] | None:
    """Make the report itself; None where it came to nothing, or is in another thread."""
    try:
        incident, new = await _opened(desk, asker, wanted)
    except BotError as error:
        await desk.explain(asker, error)
        return None
    if not new and incident.channel != asker.channel:
        await _link(desk, asker, incident)
        return None
    if not new and incident.check is not None:
        await _say_where(desk, asker, incident)
    await _warn_of_secrets(desk, asker, wanted)
    checking = asyncio.ensure_future(_checked(desk, asker, incident, wanted))
    try:
        if not await _within(checking, _AT_ONCE_S) and not await _placed(desk, asker, incident):
            return None
        checked = await checking
    finally:
        checking.cancel()
    if checked is None:
        return None
    newest = await _kept(desk, asker, incident, checked)
    parent = await _placed(desk, asker, newest)
    return (newest, parent, checked) if parent else None


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
    await _warn_of_secrets(desk, asker, wanted)
    checked = await _checked(desk, asker, incident, wanted)
    if checked is None:
        return
    newest = await _report(desk, asker, incident, parent, checked, kind="revised", about=added)
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
    checked = await _checked(desk, asker, incident, Wanted(job=job, named=tuple(named)))
    if checked is not None:
        await _report(desk, asker, incident, parent, checked)


async def _opened(desk: Desk, asker: Asker, wanted: Wanted) -> tuple[Incident, bool]:
    """Open an incident, or find the open one; raises BotError for a job of no known cluster."""
    cluster = job_id = None
    key = paste_key(wanted.fingerprint)
    if wanted.job is not None:
        clusters = desk.services.known_clusters
        job = ids.parse(wanted.job, clusters)
        cluster = ids.resolve(job, clusters).name
        job_id = job.job
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


async def _link(desk: Desk, asker: Asker, incident: Incident) -> None:
    """Put a card that links to the thread into another channel."""
    await desk.permalink(incident)
    row = desk.row(incident, LINK, channel=asker.channel, thread=asker.thread)
    try:
        await desk.outbox.say(row)
    except NotMemberError:
        await _say_where(desk, asker, incident)


async def _say_where(desk: Desk, asker: Asker, incident: Incident) -> None:
    shown = incident_shown(incident, permalink=await desk.permalink(incident))
    await desk.tell(asker, linked(shown))


async def _warn_of_secrets(desk: Desk, asker: Asker, wanted: Wanted) -> None:
    """Tell a poster whose text held secrets, and nobody else."""
    counts = redact(wanted.text).counts if wanted.text else {}
    if counts:
        await desk.tell(asker, secret_found(counts, ""))


async def _checked(desk: Desk, asker: Asker, incident: Incident, wanted: Wanted) -> Checked | None:
    """Check what is wanted while its placeholder, if any, shows how far that is.

    None where it failed; whoever asked is told why then.
    """
    progress = desk.outbox.renderer.progress.setdefault(incident.id, Progress())
    try:
        async with AsyncExitStack() as stack:
            if incident.check is None:
                await stack.enter_async_context(_shown(desk, incident, progress))
            sources = await _sources(desk, stack, wanted)
            asked = Asked(job=wanted.job, logs=sources, named=wanted.named)
            return await check(desk.services, asked, progress.tell)
    except AwayError:
        raise
    except BotError as error:
        await _failed(desk, asker, incident, error)
        return None
    finally:
        desk.outbox.renderer.progress.pop(incident.id, None)


async def _sources(desk: Desk, stack: AsyncExitStack, wanted: Wanted) -> tuple[Source, ...]:
    found = [of_bytes(wanted.text.encode("utf-8", "replace"))] if wanted.text else []
    for file in wanted.files:
        parts = desk.chat.download(file)
        found += await stack.enter_async_context(logs.reading(file, parts))
    return tuple(found)


async def _failed(desk: Desk, asker: Asker, incident: Incident, error: BotError) -> None:
    """Say to the asker, and in the placeholder, why nothing came of it; a report stays."""
    await desk.explain(asker, error)
    newest = await desk.store.incidents.get(incident.id)
    if newest is None or newest.check is not None:
        return
    text = redact(str(error)).text[:500]
    entry = Entry(at=desk.now(), kind="not checked", text=text)
    await desk.store.incidents.close(incident.id, entry, state=IncidentState.DISMISSED)
    await desk.outbox.refresh(incident.id)


async def _report(
    desk: Desk, asker: Asker, incident: Incident, parent: Message, checked: Checked,
    *, kind: str = "checked", about: str | None = None,
) -> Incident:  # fmt: skip
    """Keep a check, show it in the parent, and put evidence and probes below it."""
    newest = await _kept(desk, asker, incident, checked, kind=kind, about=about)
    await _below(desk, newest, parent, checked)
    return newest


async def _kept(
    desk: Desk, asker: Asker, incident: Incident, checked: Checked,
    *, kind: str = "checked", about: str | None = None,
) -> Incident:  # fmt: skip
    """Keep a check, and show it in the parent."""
    entry = Entry(
        at=desk.now(), kind=kind, who=asker.user, about=about,
        text=redact(checked.headline).text[:500],
    )  # fmt: skip
    newest = await desk.store.incidents.keep_check(incident.id, kept(checked), entry)
    await desk.outbox.refresh(incident.id)
    return newest


async def _below(desk: Desk, incident: Incident, parent: Message, checked: Checked) -> None:
    """Put evidence and probes below a report, once nobody waits for a first one."""
    await desk.turns.others()
    if checked.diagnosis is not None or checked.logs:
        await desk.outbox.say(desk.row(incident, EVIDENCE, parent=parent))
    if checked.machines:
        await desk.outbox.say(desk.row(incident, PROBES, parent=parent))


@asynccontextmanager
async def _shown(desk: Desk, incident: Incident, progress: Progress) -> AsyncIterator[None]:
    """Edit the placeholder at each change, at most once a second, until the block ends."""
    over = asyncio.Event()

    async def edit() -> None:
        wait_s = _FIRST_EDIT_S
        while not over.is_set():
            await progress.changed.wait()
            progress.changed.clear()
            with suppress(TimeoutError):
                await asyncio.wait_for(over.wait(), wait_s)
            if over.is_set():
                return
            wait_s = 0.0
            try:
                if parent := await desk.parent(incident):
                    await desk.outbox.edit(parent.id)
            except ChatError as error:
                _LOG.warning("the placeholder stays as it is: %s", error)
            with suppress(TimeoutError):
                await asyncio.wait_for(over.wait(), _EDIT_EVERY_S)

    editing = asyncio.create_task(edit())
    try:
        yield
    finally:
        over.set()
        progress.changed.set()
        await editing
