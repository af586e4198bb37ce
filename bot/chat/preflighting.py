"""Ask all machines of a job who resolves whom, with the progress in one reply of its thread."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field, replace

from bot.chat import picturing
from bot.chat.asker import Asker
from bot.chat.desk import Desk
from bot.chat.errors import AwayError, ChatError
from bot.chat.looking import Wanted, key_of, look
from bot.chat.placing import say_where
from bot.chat.rendering import PREFLIGHT
from bot.chat.telling import PREFLIGHT as KIND
from bot.chat.telling import preflights
from bot.diagnosis.redact import redact
from bot.errors import BotError
from bot.incidents.incident import LONGEST_TEXT, Entry, Incident, IncidentState, job_key
from bot.incidents.message import Message
from bot.reports.preflights import Drawn, beside, drawn
from bot.reports.slack.message import Attachment
from bot.reports.slack.values import Asking
from bot.triage.preflight import Preflight, preflight

_LOG = logging.getLogger(__name__)
#: Between two edits of the reply.
_EDIT_EVERY_S = 1.0
_AWAY_S = 5.0
_MORE = "\n… (whole text attached)"
_NO_SSH = "A pre-flight asks the machines, and no SSH account is set ([ssh])."


async def ask_for(desk: Desk, asker: Asker, job: str) -> None:
    """Ask all machines of a job, or of the job whose thread this is where none is named."""
    incident = await _of(desk, asker, job)
    if incident is None:
        return
    if incident.channel != asker.channel:
        await say_where(desk, asker, incident)
    await ask_all(desk, asker, incident)


async def _of(desk: Desk, asker: Asker, job: str) -> Incident | None:
    """Return the incident of a job, looked at first where it is new; None where that failed."""
    if not job:
        here = await desk.incident_in(asker.channel, asker.thread) if asker.thread else None
        if here is None:
            await desk.explain(
                asker, "A pre-flight asks the machines of a job, and no job is named.",
                next_step=f"Name it: {desk.rules.command} preflight 48213",
            )  # fmt: skip
        return here
    try:
        cluster, job_id = key_of(desk, job)
    except BotError as error:
        await desk.explain(asker, error)
        return None
    known = await desk.store.incidents.open_of(job_key(cluster, job_id))
    if known is not None and known.check is not None:
        return known
    return await look(desk, asker, Wanted(job=job))


async def ask_all(desk: Desk, asker: Asker, incident: Incident) -> None:
    """Ask all machines of an incident's job, one such look at a time, and show what comes of it."""
    parent = await desk.parent(incident)
    why = _why_not(desk, incident)
    if why or parent is None:
        return await desk.explain(asker, why or "The report of this incident was never posted.")
    ended = preflights(await desk.store.incidents.timeline(incident.id))
    row = desk.row(incident, f"{PREFLIGHT}{len(ended) + 1}", parent=parent)
    asking = desk.outbox.renderer.asking
    first = incident.id not in asking
    asking.setdefault(incident.id, Asking(by=asker.user, began_at=desk.now()))
    posted = await desk.outbox.say(row)
    async with desk.outbox.held(posted) as ours:
        if ours:
            await _Run(desk=desk, asker=asker, incident=incident, row=posted).go()
    if not ours:
        if first:
            asking.pop(incident.id, None)  # it is another replica's
        await desk.explain(
            asker, "A pre-flight of this job is under way: its reply in the thread says how far.",
            next_step="Wait for it; another can be started then.",
        )  # fmt: skip
    return None


def _why_not(desk: Desk, incident: Incident) -> str:
    if incident.state is not IncidentState.OPEN:
        return "This incident is over, so no machine is asked."
    if incident.job_id is None:
        return "This incident is of a pasted log: without a job its machines are not known."
    return _NO_SSH if desk.services.hosts is None else ""


@dataclass(kw_only=True)
class _Run:
    """One pre-flight, whose reply is ours to edit."""

    desk: Desk
    asker: Asker
    incident: Incident
    row: Message
    changed: asyncio.Event = field(default_factory=asyncio.Event)

    async def go(self) -> None:
        """Ask, draw, post; what cannot be asked stands in the reply."""
        asking = self.desk.outbox.renderer.asking
        await self.desk.turns.others()
        try:
            async with self._shown():
                found = await preflight(
                    self.desk.services,
                    job=f"{self.incident.cluster}:{self.incident.job_id}",
                    tell=self._tell,
                )
                self._put(replace(self._asking, said="drawing who resolves whom"))
                made = await asyncio.to_thread(_drawn, found)
        except BotError as error:
            await self._record(f"Not done: {redact(str(error)).text}"[:LONGEST_TEXT])
        else:
            text, more = _cut(redact(made.text).text)
            await self._post(made, *more)
            await self._record(text)
        finally:
            asking.pop(self.incident.id, None)

    async def _post(self, made: Drawn, *more: Attachment) -> None:
        """Post the picture once Slack is there: the machines are not asked again for that."""
        while True:
            try:
                await picturing.posted(self.desk, self.row, made, *more)
            except AwayError as error:
                _LOG.warning("the picture waits for Slack: %s", error)
                await asyncio.sleep(_AWAY_S)
            else:
                return

    async def _record(self, text: str) -> None:
        entry = Entry(at=self.desk.now(), kind=KIND, who=self.asker.user, text=text)
        await self.desk.store.incidents.record(self.incident.id, entry)

    def _tell(self, doing: str, done: int, of: int) -> None:
        self._put(replace(self._asking, said=doing, done=done, total=of))

    @property
    def _asking(self) -> Asking:
        fresh = Asking(by=self.asker.user, began_at=self.desk.now())
        return self.desk.outbox.renderer.asking.get(self.incident.id, fresh)

    def _put(self, asking: Asking) -> None:
        self.desk.outbox.renderer.asking[self.incident.id] = asking
        self.changed.set()

    @asynccontextmanager
    async def _shown(self) -> AsyncIterator[None]:
        """Edit the reply at each change, at most once a second, until the block ends."""
        editing = asyncio.create_task(self._edit())
        try:
            yield
        finally:
            editing.cancel()
            with suppress(asyncio.CancelledError):
                await editing

    async def _edit(self) -> None:
        while True:
            await self.changed.wait()
            self.changed.clear()
            try:
                await self.desk.outbox.show(self.row)
            except ChatError as error:
                _LOG.warning("the reply stays as it is: %s", error)
            await asyncio.sleep(_EDIT_EVERY_S)


def _drawn(found: Preflight) -> Drawn:
    return drawn(found.matrix, beside(found))


def _cut(text: str) -> tuple[str, tuple[Attachment, ...]]:
    """Return as much of a text as a timeline takes, and the whole as a file where that is less."""
    if len(text) <= LONGEST_TEXT:
        return text, ()
    kept = text[: LONGEST_TEXT - len(_MORE)].rpartition("\n")[0]
    whole = Attachment(name="who-resolves-whom.txt", content=text.encode())
    return f"{kept}{_MORE}", (whole,)
