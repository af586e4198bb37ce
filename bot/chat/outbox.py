"""Say each thing once: a row before it is sent, looked for before it is sent again, then edited.

A message is made anew from the store whenever it is sent or edited, so that a restart, another
replica or an outage of Slack leaves nothing unsaid and nothing stale.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from hashlib import sha256
from typing import Any

from bot.chat.errors import (
    AwayError,
    ChatError,
    ClosedChannelError,
    GoneError,
    NotMemberError,
    RefusedError,
)
from bot.chat.pace import Pace
from bot.chat.port import Chat
from bot.chat.rendering import SUMMARY, Rendered, Renderer
from bot.clouds.timing import utc_now
from bot.errors import BotError
from bot.incidents.incident import IncidentState
from bot.incidents.message import Message
from bot.incidents.messages import Messages
from bot.reports.slack import message

_LOG = logging.getLogger(__name__)
#: Longer than Slack is waited for; a message of a process that died is free after that.
_LEASE = timedelta(seconds=30)
#: Messages that are older than this are not said any more.
_STILL_NEWS = timedelta(days=1)
_RETRY = timedelta(seconds=5)
_MOST_RETRY = timedelta(minutes=5)
_POLL_S = 0.1
#: How long a message that is held stays so without a word from who holds it: shorter than a
#: delivery's lease, so that whoever takes over a dead process's click finds it free.
_HELD_S = 9.0
_UNSEEN = frozenset({"block_id", "fallback"})
#: Trying again mends none of these.
_NEVER = (GoneError, ClosedChannelError, NotMemberError, RefusedError)


@dataclass(kw_only=True)
class Outbox:
    """Everything that the bot says in channels."""

    chat: Chat
    messages: Messages
    renderer: Renderer
    #: this replica
    me: str
    now: Callable[[], datetime] = utc_now
    pace: Pace = field(default_factory=Pace)

    async def say(self, wanted: Message) -> Message:
        """Say something once and return its row with `ts`; raises ChatError where it cannot be."""
        now = self.now()
        ours = replace(wanted, taken_by=self.me, taken_until=now + _LEASE, tries=1)
        row = await self.messages.own(ours)
        if row.id == wanted.id and row.ts is None:
            return await self._send(row)
        while row.ts is None:
            taken = await self.messages.claim(row.id, by=self.me, at=self.now(), lease=_LEASE)
            if taken is not None:
                return taken if taken.ts else await self._send(taken)
            await asyncio.sleep(_POLL_S)
            row = await self.messages.own(ours)
        return row

    async def _send(self, row: Message) -> Message:
        """Send a message that is ours to send, unless an earlier try has posted it."""
        try:
            made = await self.renderer.render(row, self.now())
            ts = await self._posted_before(row) or await self._posted(row, made.message)
        except BaseException as error:
            # while Slack is away nothing is worn out by trying, and nobody waits once it is back
            away = isinstance(error, AwayError)
            wait = _RETRY if away else min(_RETRY * 2**row.tries, _MOST_RETRY)
            await self.messages.release(row.id, by=self.me, until=self.now() + wait)
            raise
        sent = await self.messages.sent(
            row.id, ts=ts, at=self.now(), shown=made.revision, digest=_digest(made)
        )
        if sent.ts != ts:
            # another replica took this one for dead and was first: one copy stays
            await self._tried(sent, self.chat.delete(row.channel, ts))
            return sent
        await self._attach(sent, made.message)
        return sent

    async def _posted_before(self, row: Message) -> str:
        if row.tries <= 1:
            return ""
        return await self.chat.find(
            row.channel, row.id, since=row.created_at, thread=row.thread or ""
        )

    async def _posted(self, row: Message, made: message.Message) -> str:
        await self.pace.turn(row.channel)
        return await self.chat.post(row.channel, made.of_row(row.id), thread=row.thread or "")

    async def _attach(self, row: Message, made: message.Message) -> None:
        """Put what was cut, whole, into the thread; the message itself stands already."""
        if not made.attachments:
            return
        try:
            await self.attach(row, made.attachments)
        except ChatError as error:
            _LOG.warning("a text that was cut was not attached: %s", error)

    async def attach(self, row: Message, attachments: Sequence[message.Attachment]) -> None:
        """Put files into the thread of a posted message; raises ChatError."""
        await self.pace.turn(row.channel)
        await self.chat.upload(row.channel, row.thread or row.ts or "", attachments)

    async def edit(self, message_id: str) -> None:
        """Show in a posted message how things stand now; left to others where they edit it."""
        row = await self.messages.claim(message_id, by=self.me, at=self.now(), lease=_LEASE)
        if row is None:
            return
        if row.ts is None:
            await self._send(row)
            return
        try:
            made = await self.renderer.render(row, self.now())
            digest = _digest(made)
            if digest != row.digest:
                await self._put(row, row.ts, made)
        except BaseException:
            await self.messages.release(row.id, by=self.me, until=self.now() + _RETRY)
            raise
        await self.messages.rendered(row.id, by=self.me, shown=made.revision, digest=digest)

    async def show(self, row: Message) -> None:
        """Show in a message that is ours for now how things stand; it stays ours."""
        made = await self.renderer.render(row, self.now())
        await self._put(row, row.ts or "", made)

    @asynccontextmanager
    async def held(self, row: Message) -> AsyncIterator[bool]:
        """Keep a posted message to ourselves, across replicas; yield False where another has it.

        Whoever dies with one has it for a few seconds more. It is edited at the end.
        """
        lease = timedelta(seconds=_HELD_S)
        taken = await self.messages.claim(row.id, by=self.me, at=self.now(), lease=lease)
        if taken is None:
            yield False
            return
        holding = asyncio.create_task(self._hold(row.id, lease))
        try:
            yield True
        finally:
            holding.cancel()
            await self.messages.release(row.id, by=self.me)
            await self._tried(row, self.edit(row.id))

    async def _hold(self, message_id: str, lease: timedelta) -> None:
        while True:
            await asyncio.sleep(_HELD_S / 3)
            with suppress(BotError):
                await self.messages.extend(message_id, by=self.me, until=self.now() + lease)

    async def _put(self, row: Message, ts: str, made: Rendered) -> None:
        try:
            await self.chat.update(row.channel, ts, made.message.of_row(row.id))
        except _NEVER as error:
            _LOG.info("a message of incident %s is not edited: %s", row.incident_id, error)

    async def refresh(self, incident_id: str) -> None:
        """Edit every message of an incident that shows less than it should."""
        for row in await self.messages.of(incident_id):
            if row.ts is not None and row.shown < row.due:
                await self._tried(row, self.edit(row.id))

    async def catch_up(self) -> int:
        """Say and edit whatever is behind, of all incidents; return how many messages those were.

        For the start, for after an outage, and for what another replica has left.
        """
        now = self.now()
        unsent = await self.messages.unsent(since=now - _STILL_NEWS, at=now)
        behind = await self.messages.behind(at=now)
        wanted = [row for row in unsent if await self._still_wanted(row)]
        for row in (*wanted, *behind):
            await self._tried(row, self.edit(row.id))
        return len(wanted) + len(behind)

    async def _still_wanted(self, row: Message) -> bool:
        """Tell whether an unsent message is news: of an ended incident its summary alone is."""
        incident = await self.renderer.store.incidents.get(row.incident_id)
        over = incident is None or incident.state is not IncidentState.OPEN
        return incident is not None and (not over or row.purpose == SUMMARY)

    async def _tried(self, row: Message, doing: Awaitable[None]) -> None:
        try:
            await doing
        except BotError as error:
            _LOG.warning("%s of incident %s: %s", row.purpose, row.incident_id, error)


def _digest(made: Rendered) -> str:
    """Return the digest of what people see.

    Block ids change with every edit, and the fallback of a time with its age all the time.
    """
    told = json.dumps([_seen(made.message.blocks), made.message.text], sort_keys=True)
    return sha256(told.encode("utf-8", "surrogatepass")).hexdigest()


def _seen(node: Any) -> Any:  # noqa: ANN401 - any part of a JSON tree
    if isinstance(node, Mapping):
        return {name: _seen(value) for name, value in node.items() if name not in _UNSEEN}
    return [_seen(one) for one in node] if isinstance(node, (list, tuple)) else node
