"""Deliveries, in SQL: one insert before the ack, and everything else after it."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Executable,
    RowMapping,
    Select,
    bindparam,
    delete,
    func,
    or_,
    select,
    update,
)

from bot.incidents.database import Database, add_new
from bot.incidents.delivery import Delivery
from bot.incidents.fields import as_row
from bot.incidents.tables import DELIVERIES

#: How often a delivery is begun before it is left to a person: one may kill whoever begins it.
MOST_TRIES = 5
_UNDONE = DELIVERIES.c.done_at.is_(None)
# Made once: making a statement takes SQLAlchemy longer than running it.
_THIS = DELIVERIES.c.id == bindparam("b_id")
_EXTEND = (
    update(DELIVERIES)
    .where(_THIS, DELIVERIES.c.taken_by == bindparam("b_by"), _UNDONE)
    .values(taken_until=bindparam("b_until"))
)
_DONE = (
    update(DELIVERIES)
    .where(_THIS, _UNDONE)
    .values(done_at=bindparam("b_at"), payload=None, taken_until=None)
)


class Deliveries:
    """Keeps what Slack delivered until it is done, once, by whichever replica."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def receive(self, delivery: Delivery) -> bool:
        """Keep a delivery; False where it was delivered before, then nothing is to be done.

        One insert and nothing else. With `taken_by`, `taken_until` and one try it is taken at
        once by who received it. A caller may give up at any moment and is free at once; the
        insert may succeed after that, and what is delivered again is still kept once.
        """
        return await self._database.apart(self._receive(delivery))

    async def _receive(self, delivery: Delivery) -> bool:
        async with self._database.writing_now() as connection:
            return await add_new(connection, DELIVERIES, as_row(delivery))

    async def take(
        self,
        *,
        by: str,
        at: datetime,
        lease: timedelta,
        limit: int = 10,
        most_tries: int = MOST_TRIES,
    ) -> tuple[Delivery, ...]:
        """Take undone deliveries that nobody works on, the oldest first; no two get the same.

        One whose lease is over is taken again: its replica has died, or is slower than the lease.
        """
        free = (
            select(DELIVERIES.c.id)
            .where(_UNDONE, _free(at), DELIVERIES.c.tries < most_tries)
            .order_by(DELIVERIES.c.received_at, DELIVERIES.c.id)
            .limit(limit)
            .with_for_update(skip_locked=True)
        )
        async with self._database.writing() as connection:
            # two statements: PostgreSQL may run a subquery again and lock more rows than asked for
            ids = (await connection.execute(free)).scalars().all()
            taken = (
                update(DELIVERIES)
                .where(DELIVERIES.c.id.in_(ids))
                .values(taken_by=by, taken_until=at + lease, tries=DELIVERIES.c.tries + 1)
                .returning(DELIVERIES)
            )
            rows = (await connection.execute(taken)).mappings().all()
        return tuple(sorted(map(_delivery, rows), key=lambda one: (one.received_at, one.id)))

    async def extend(self, delivery_id: str, *, by: str, until: datetime) -> bool:
        """Keep a delivery longer, or give it back from a time on; False where it was lost."""
        return await self._changed(_EXTEND, b_id=delivery_id, b_by=by, b_until=until)

    async def done(self, delivery_id: str, *, at: datetime) -> bool:
        """Mark a delivery as done and forget what it held; False where somebody did before."""
        return await self._changed(_DONE, b_id=delivery_id, b_at=at)

    async def given_up(self, *, most_tries: int = MOST_TRIES) -> tuple[Delivery, ...]:
        """Return undone deliveries that are not taken again, the oldest first."""
        query = _oldest().where(_UNDONE, DELIVERIES.c.tries >= most_tries)
        async with self._database.reading() as connection:
            return tuple(_delivery(row) for row in (await connection.execute(query)).mappings())

    async def undone(self) -> int:
        """Return how many deliveries are not done."""
        async with self._database.reading() as connection:
            query = select(func.count()).select_from(DELIVERIES).where(_UNDONE)
            return int((await connection.execute(query)).scalar_one())

    async def purge(self, before: datetime) -> int:
        """Delete what was done before a time; return how many those were.

        Keep a day: what is deleted and delivered once more would be done again. Slack repeats an
        event after 1 and 5 minutes, and hourly for a day where an app has delayed events on.
        """
        return await self._deleted(DELIVERIES.c.done_at < before)

    async def forget(self, before: datetime) -> int:
        """Delete what was received before a time, done or not; return how many those were."""
        return await self._deleted(DELIVERIES.c.received_at < before)

    async def _changed(self, change: Executable, **values: Any) -> bool:  # noqa: ANN401
        async with self._database.writing() as connection:
            return (await connection.execute(change, values)).rowcount > 0

    async def _deleted(self, condition: ColumnElement[bool]) -> int:
        async with self._database.writing() as connection:
            return (await connection.execute(delete(DELIVERIES).where(condition))).rowcount


def _free(at: datetime) -> ColumnElement[bool]:
    return or_(DELIVERIES.c.taken_until.is_(None), DELIVERIES.c.taken_until <= at)


def _oldest() -> Select[Any]:
    return select(DELIVERIES).order_by(DELIVERIES.c.received_at, DELIVERIES.c.id)


def _delivery(row: RowMapping) -> Delivery:
    return Delivery(**{name: value for name, value in row.items() if name != "done_at"})
