"""Which replicas are alive, by the database's own clock, in SQL."""

from __future__ import annotations

from collections.abc import Collection
from datetime import UTC, datetime, timedelta

from sqlalchemy import delete, func, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.incidents.database import Database, add_new
from bot.incidents.tables import LEASES


class Leases:
    """Keeps until when each replica is taken to be alive."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def beat(self, replica: str, lasting: timedelta) -> None:
        """Say that a replica is alive from now on for a time."""
        async with self._database.writing_now() as connection:
            until = await _now(connection) + lasting
            row = {"replica": replica, "until": until}
            if not await add_new(connection, LEASES, row):
                mine = LEASES.c.replica == replica
                await connection.execute(update(LEASES).where(mine).values(until=until))

    async def dead(self, replicas: Collection[str]) -> frozenset[str]:
        """Return those that are not alive now: whose time is over, or that never said anything."""
        async with self._database.reading() as connection:
            now = await _now(connection)
            query = select(LEASES.c.replica).where(LEASES.c.until > now)
            alive = set((await connection.execute(query)).scalars())
        return frozenset(replicas) - alive

    async def anybody(self) -> bool:
        """Tell whether any replica is alive now."""
        async with self._database.reading() as connection:
            alive = select(LEASES.c.replica).where(LEASES.c.until > await _now(connection))
            return (await connection.execute(alive.limit(1))).first() is not None

    async def clock(self) -> datetime:
        """Return the database's time."""
        async with self._database.reading() as connection:
            return await _now(connection)

    async def leave(self, replica: str) -> None:
        """Forget a replica that has ended."""
        async with self._database.writing() as connection:
            await connection.execute(delete(LEASES).where(LEASES.c.replica == replica))


async def _now(connection: AsyncConnection) -> datetime:
    """Return the database's time: replicas' own clocks may differ."""
    if connection.dialect.name == "sqlite":
        return datetime.now(UTC)  # one machine, one clock
    found = await connection.scalar(select(func.clock_timestamp()))
    assert isinstance(found, datetime)  # noqa: S101 - PostgreSQL's type of it
    return found
