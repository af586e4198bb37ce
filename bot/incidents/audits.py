"""The audit chain, in SQL: rows are added, and never changed or taken away."""

from __future__ import annotations

from collections.abc import AsyncIterator

from sqlalchemy import RowMapping, insert, select, text
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.incidents.audit import START, Deed, Link, broken, hashed
from bot.incidents.database import Database
from bot.incidents.fields import as_row
from bot.incidents.tables import AUDIT

#: Key of PostgreSQL's advisory lock, any number that is ours: "audi" in ASCII.
_LOCK = 0x61756469
_AT_ONCE = 1_000


class Audits:
    """Keeps who did what."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def note(self, deed: Deed) -> Link:
        """Add a deed that belongs to no other change."""
        async with self._database.writing() as connection:
            return await append(connection, deed)

    async def links(self, *, after: int = 0) -> AsyncIterator[Link]:
        """Yield the chain from a row on, in order."""
        while True:
            query = select(AUDIT).where(AUDIT.c.number > after).order_by(AUDIT.c.number)
            async with self._database.reading() as connection:
                rows = (await connection.execute(query.limit(_AT_ONCE))).mappings().all()
            for row in rows:
                yield _link(row)
            if len(rows) < _AT_ONCE:
                return
            after = rows[-1]["number"]

    async def latest(self, limit: int) -> tuple[Link, ...]:
        """Return the last rows, the last one first."""
        query = select(AUDIT).order_by(AUDIT.c.number.desc()).limit(limit)
        async with self._database.reading() as connection:
            return tuple(map(_link, (await connection.execute(query)).mappings()))

    async def broken(self) -> tuple[int, str]:
        """Return how many rows there are, and where the chain is broken, if it is.

        Rows cut off at the end leave no gap: compare the last hash with one exported before.
        """
        found = [link async for link in self.links()]
        return len(found), broken(found)


async def append(connection: AsyncConnection, deed: Deed) -> Link:
    """Add a deed within the transaction that does it: neither is there without the other."""
    if connection.dialect.name == "postgresql":
        # SQLite's writer is alone anyway; taken last, after the incident's lock, by everybody
        await connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _LOCK})
    query = select(AUDIT.c.number, AUDIT.c.hash).order_by(AUDIT.c.number.desc()).limit(1)
    last = (await connection.execute(query)).first()
    number, previous = (last.number + 1, last.hash) if last else (1, START)
    link = Link(
        number=number, deed=deed, previous=previous, hash=hashed(number, deed, previous)
    )  # fmt: skip
    row = {**as_row(deed), "number": number, "previous": previous, "hash": link.hash}
    await connection.execute(insert(AUDIT).values(**row))
    return link


def _link(row: RowMapping) -> Link:
    told = dict(row)
    number, previous, own = told.pop("number"), told.pop("previous"), told.pop("hash")
    return Link(number=number, deed=Deed(**told), previous=previous, hash=own)
