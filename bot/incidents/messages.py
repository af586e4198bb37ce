"""Messages, in SQL: who may speak, what was said, and what is to be said again."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import ColumnElement, RowMapping, Select, case, func, or_, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.errors import StoreError
from bot.incidents.changes import locked
from bot.incidents.database import Database, add_new
from bot.incidents.errors import UnknownApprovalError, UnknownMessageError
from bot.incidents.fields import as_row
from bot.incidents.message import Message
from bot.incidents.tables import APPROVALS, MESSAGES

_FREED: dict[str, Any] = {"taken_by": None, "taken_until": None}


class Messages:
    """Keeps every Slack message that is ours."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def own(self, message: Message) -> Message:
        """Keep that a message is to be said; return the row there is, also where it was there.

        Raises UnknownIncidentError, or UnknownApprovalError for a card of none.
        """
        async with self._database.writing() as connection:
            due = await _due(connection, message)
            row = {**as_row(message), "due": due}
            await add_new(connection, MESSAGES, row)
            same = [MESSAGES.c[name] == row[name] for name in ("incident_id", "purpose", "channel")]
            kept = (await connection.execute(select(MESSAGES).where(*same))).mappings().first()
            if kept is None:
                raise StoreError(f"The ID {message.id} is another message's: give it a new one.")
            return _message(kept)

    async def claim(
        self, message_id: str, *, by: str, at: datetime, lease: timedelta
    ) -> Message | None:
        """Take a message to send or to edit it; None while somebody else has it.

        Nobody else gets it until `sent`, `rendered` or `release`, or until the lease is over. One
        with a `ts` was sent meanwhile; one without and more than one try may have been, so it is
        looked for by its metadata first.
        """
        begun = case((MESSAGES.c.ts.is_(None), MESSAGES.c.tries + 1), else_=MESSAGES.c.tries)
        taken = {"taken_by": by, "taken_until": at + lease, "tries": begun}
        return await self._one(message_id, _free(at), values=taken)

    async def sent(
        self,
        message_id: str,
        *,
        ts: str,
        at: datetime,
        shown: int,
        digest: str | None = None,
        thread: str | None = None,
    ) -> Message:
        """Keep under which `ts` a message stands in Slack, and which revision it shows.

        The first `ts` counts: where the returned one is another, the message was sent twice and
        this copy is to be deleted. Raises UnknownMessageError.
        """
        posted = {
            "ts": ts, "posted_at": at, "shown": shown, "digest": digest,
            "thread": func.coalesce(thread, MESSAGES.c.thread), **_FREED,
        }  # fmt: skip
        mine = await self._one(message_id, MESSAGES.c.ts.is_(None), values=posted)
        if mine is not None:
            return mine
        first = await self.get(message_id)
        if first is None:
            raise UnknownMessageError(f"There is no message {message_id}.")
        return first

    async def rendered(
        self, message_id: str, *, by: str, shown: int, digest: str | None = None
    ) -> bool:
        """Keep which revision a message shows and free it; False where its lease was lost.

        Then somebody else may have edited it before or after, and it stays behind.
        """
        newest = case((MESSAGES.c.shown < shown, shown), else_=MESSAGES.c.shown)
        values = {"shown": newest, "digest": digest, **_FREED}
        return await self._one(message_id, MESSAGES.c.taken_by == by, values=values) is not None

    async def release(self, message_id: str, *, by: str, until: datetime | None = None) -> bool:
        """Give a message back undone, for anybody at once or from a time; False as `rendered`."""
        values = {"taken_by": None, "taken_until": until}
        return await self._one(message_id, MESSAGES.c.taken_by == by, values=values) is not None

    async def unsent(self, *, since: datetime, at: datetime) -> tuple[Message, ...]:
        """Return messages not known to be posted, that nobody is sending, the oldest first.

        Those with no try were never sent; the others are looked for by their metadata first.
        """
        return await self._all(
            _oldest().where(MESSAGES.c.ts.is_(None), MESSAGES.c.created_at >= since, _free(at))
        )

    async def behind(self, *, at: datetime, limit: int = 100) -> tuple[Message, ...]:
        """Return posted messages that show less than they should, that nobody is editing."""
        late = MESSAGES.c.shown < MESSAGES.c.due
        query = _oldest().where(late, MESSAGES.c.ts.is_not(None), _free(at))
        return await self._all(query.limit(limit))

    async def get(self, message_id: str) -> Message | None:
        """Return a message, or None where there is none of this ID."""
        found = await self._all(select(MESSAGES).where(MESSAGES.c.id == message_id))
        return found[0] if found else None

    async def of(self, incident_id: str) -> tuple[Message, ...]:
        """Return the messages of an incident, the oldest first."""
        return await self._all(_oldest().where(MESSAGES.c.incident_id == incident_id))

    async def at(self, channel: str, ts: str) -> Message | None:
        """Return our message at a place in Slack: a thread is ours where its parent is."""
        place = (MESSAGES.c.channel == channel, MESSAGES.c.ts == ts)
        found = await self._all(select(MESSAGES).where(*place))
        return found[0] if found else None

    async def in_thread(self, channel: str, thread: str) -> tuple[Message, ...]:
        """Return our messages in a thread, its parent included, the oldest first."""
        place = or_(MESSAGES.c.ts == thread, MESSAGES.c.thread == thread)
        return await self._all(_oldest().where(MESSAGES.c.channel == channel, place))

    async def _one(
        self, message_id: str, condition: ColumnElement[bool], *, values: dict[str, Any]
    ) -> Message | None:
        """Change a message under a condition; None where it does not hold."""
        change = update(MESSAGES).where(MESSAGES.c.id == message_id, condition).values(**values)
        async with self._database.writing() as connection:
            row = (await connection.execute(change.returning(MESSAGES))).mappings().first()
            return None if row is None else _message(row)

    async def _all(self, query: Select[Any]) -> tuple[Message, ...]:
        async with self._database.reading() as connection:
            rows: Sequence[RowMapping] = (await connection.execute(query)).mappings().all()
            return tuple(_message(row) for row in rows)


async def _due(connection: AsyncConnection, message: Message) -> int:
    """Return the revision that a message is to show; 0 where it is never edited."""
    incident = await locked(connection, message.incident_id)
    if message.approval_id is None:
        return incident.revision if message.live else 0
    mine = (APPROVALS.c.id == message.approval_id) & (APPROVALS.c.incident_id == incident.id)
    revision: int | None = await connection.scalar(select(APPROVALS.c.revision).where(mine))
    if revision is None:
        asked = f"There is no approval {message.approval_id} in incident {incident.id}"
        raise UnknownApprovalError(f"{asked}, so it has no card.")
    return revision


def _free(at: datetime) -> ColumnElement[bool]:
    return or_(MESSAGES.c.taken_until.is_(None), MESSAGES.c.taken_until <= at)


def _oldest() -> Select[Any]:
    return select(MESSAGES).order_by(MESSAGES.c.created_at, MESSAGES.c.id)


def _message(row: RowMapping) -> Message:
    return Message(**row)
