"""Messages, in SQL: who may speak, what was said, and what is to be said again."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import (
    RowMapping,
    Select,
    bindparam,
    case,
    func,
    or_,
    select,
    update,
)
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.errors import StoreError
from bot.incidents.changes import locked
from bot.incidents.database import Database, add_new
from bot.incidents.errors import UnknownApprovalError, UnknownMessageError
from bot.incidents.fields import as_row
from bot.incidents.message import Message
from bot.incidents.tables import APPROVALS, MESSAGES

# Statements of every report are made once: making one takes SQLAlchemy longer than running it.
_THIS = MESSAGES.c.id == bindparam("b_id")
_MINE = (_THIS, MESSAGES.c.taken_by == bindparam("b_by"))
_FREE = or_(MESSAGES.c.taken_until.is_(None), MESSAGES.c.taken_until <= bindparam("b_at"))
_GET = select(MESSAGES).where(_THIS)
_OLDEST = select(MESSAGES).order_by(MESSAGES.c.created_at, MESSAGES.c.id)
_OF = _OLDEST.where(MESSAGES.c.incident_id == bindparam("b_incident"))
_SAME = select(MESSAGES).where(
    *(MESSAGES.c[name] == bindparam(f"b_{name}") for name in ("incident_id", "purpose", "channel"))
)
_CLAIM = (
    update(MESSAGES)
    .where(_THIS, _FREE)
    .values(
        taken_by=bindparam("b_by"),
        taken_until=bindparam("b_until"),
        tries=case((MESSAGES.c.ts.is_(None), MESSAGES.c.tries + 1), else_=MESSAGES.c.tries),
    )
    .returning(MESSAGES)
)
_SENT = (
    update(MESSAGES)
    .where(_THIS, MESSAGES.c.ts.is_(None))
    .values(
        ts=bindparam("b_ts"),
        posted_at=bindparam("b_at"),
        shown=bindparam("b_shown"),
        digest=bindparam("b_digest"),
        thread=func.coalesce(
            bindparam("b_thread", type_=MESSAGES.c.thread.type), MESSAGES.c.thread
        ),
        taken_by=None,
        taken_until=None,
    )
    .returning(MESSAGES)
)
_RENDERED = (
    update(MESSAGES)
    .where(*_MINE)
    .values(
        shown=case(
            (MESSAGES.c.shown < bindparam("b_shown"), bindparam("b_shown")),
            else_=MESSAGES.c.shown,
        ),
        digest=bindparam("b_digest"),
        taken_by=None,
        taken_until=None,
    )
    .returning(MESSAGES)
)
_EXTEND = (
    update(MESSAGES).where(*_MINE).values(taken_until=bindparam("b_until")).returning(MESSAGES)
)
_RELEASE = (
    update(MESSAGES)
    .where(*_MINE)
    .values(taken_by=None, taken_until=bindparam("b_until"))
    .returning(MESSAGES)
)


class Messages:
    """Keeps every Slack message that is ours."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def own(self, message: Message) -> Message:
        """Keep that a message is to be said; return the row there is, also where it was there.

        A new one that names who has it, until when, and one try, is that one's to send. Raises
        UnknownIncidentError, or UnknownApprovalError for a card of none.
        """
        async with self._database.writing() as connection:
            due = await _due(connection, message)
            row = {**as_row(message), "due": due}
            await add_new(connection, MESSAGES, row)
            same = {f"b_{name}": row[name] for name in ("incident_id", "purpose", "channel")}
            kept = (await connection.execute(_SAME, same)).mappings().first()
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
        return await self._one(_CLAIM, b_id=message_id, b_by=by, b_at=at, b_until=at + lease)

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
        mine = await self._one(
            _SENT, b_id=message_id, b_ts=ts, b_at=at, b_shown=shown, b_digest=digest,
            b_thread=thread,
        )  # fmt: skip
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
        put = await self._one(_RENDERED, b_id=message_id, b_by=by, b_shown=shown, b_digest=digest)
        return put is not None

    async def extend(self, message_id: str, *, by: str, until: datetime) -> bool:
        """Keep a message that is ours for longer; False where its lease was lost."""
        put = await self._one(_EXTEND, b_id=message_id, b_by=by, b_until=until)
        return put is not None

    async def release(self, message_id: str, *, by: str, until: datetime | None = None) -> bool:
        """Give a message back undone, for anybody at once or from a time; False as `rendered`."""
        put = await self._one(_RELEASE, b_id=message_id, b_by=by, b_until=until)
        return put is not None

    async def unsent(self, *, since: datetime, at: datetime) -> tuple[Message, ...]:
        """Return messages not known to be posted, that nobody is sending, the oldest first.

        Those with no try were never sent; the others are looked for by their metadata first.
        """
        return await self._all(
            _OLDEST.where(
                MESSAGES.c.ts.is_(None), MESSAGES.c.created_at >= bindparam("b_since"), _FREE
            ),
            b_since=since,
            b_at=at,
        )

    async def behind(self, *, at: datetime, limit: int = 100) -> tuple[Message, ...]:
        """Return posted messages that show less than they should, that nobody is editing."""
        late = MESSAGES.c.shown < MESSAGES.c.due
        query = _OLDEST.where(late, MESSAGES.c.ts.is_not(None), _FREE)
        return await self._all(query.limit(limit), b_at=at)

    async def get(self, message_id: str) -> Message | None:
        """Return a message, or None where there is none of this ID."""
        found = await self._all(_GET, b_id=message_id)
        return found[0] if found else None

    async def of(self, incident_id: str) -> tuple[Message, ...]:
        """Return the messages of an incident, the oldest first."""
        return await self._all(_OF, b_incident=incident_id)

    async def at(self, channel: str, ts: str) -> Message | None:
        """Return our message at a place in Slack: a thread is ours where its parent is."""
        place = (MESSAGES.c.channel == channel, MESSAGES.c.ts == ts)
        found = await self._all(select(MESSAGES).where(*place))
        return found[0] if found else None

    async def in_thread(self, channel: str, thread: str) -> tuple[Message, ...]:
        """Return our messages in a thread, its parent included, the oldest first."""
        place = or_(MESSAGES.c.ts == thread, MESSAGES.c.thread == thread)
        return await self._all(_OLDEST.where(MESSAGES.c.channel == channel, place))

    async def _one(self, change: Any, **values: Any) -> Message | None:  # noqa: ANN401
        """Make a change to a message; None where its condition does not hold."""
        async with self._database.writing() as connection:
            row = (await connection.execute(change, values)).mappings().first()
            return None if row is None else _message(row)

    async def _all(self, query: Select[Any], **values: Any) -> tuple[Message, ...]:  # noqa: ANN401
        async with self._database.reading() as connection:
            found = await connection.execute(query, values)
            rows: Sequence[RowMapping] = found.mappings().all()
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


def _message(row: RowMapping) -> Message:
    return Message(**row)
