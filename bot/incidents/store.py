"""The store: SQLite in a file, or PostgreSQL by URL."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from typing import Any

from asyncpg import PostgresError
from sqlalchemy import (
    ColumnElement,
    Connection,
    RowMapping,
    Select,
    delete,
    event,
    insert,
    select,
    update,
)
from sqlalchemy.engine import URL, make_url
from sqlalchemy.engine.interfaces import DBAPIConnection
from sqlalchemy.exc import ArgumentError, DBAPIError, IntegrityError
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, create_async_engine

from bot.errors import StoreError
from bot.incidents.migrate import migrate, revisions
from bot.incidents.model import SeenJob
from bot.incidents.tables import SEEN_JOBS

#: Short names of databases, as people write them in a URL, and the drivers that are used.
_DRIVERS = {
    "sqlite": "sqlite+aiosqlite",
    "sqlite+aiosqlite": "sqlite+aiosqlite",
    "postgres": "postgresql+asyncpg",
    "postgresql": "postgresql+asyncpg",
    "postgresql+asyncpg": "postgresql+asyncpg",
}
#: Two replicas may meet one new job at once; the loser of the insert then finds the winner's row.
_TRIES = 5
_WRITES = "writes"


class Store:
    """Keeps what is seen; every method is one transaction."""

    def __init__(self, engine: AsyncEngine) -> None:
        self._engine = engine
        self._writer = engine.execution_options(**{_WRITES: True})

    async def see(self, job: SeenJob) -> SeenJob:
        """Add one look at a job and return all that is now known of that run.

        A field that was once told is never lost; of two looks the later one counts, in whichever
        order they arrive. A look that cannot be at the run known last starts a new run.
        """
        for _ in range(_TRIES - 1):
            try:
                return await self._see(job)
            except IntegrityError:
                continue
        return await self._see(job)

    async def _see(self, job: SeenJob) -> SeenJob:
        async with self._writing() as connection:
            # locked: a second replica must add to what this one writes
            runs = await connection.execute(_runs(job.cluster, job.job_id).with_for_update())
            rows = runs.mappings().all()
            for row in rows:
                known = _job(row)
                if known.same_run(job):
                    merged = known.merged(job)
                    key = _is(job.cluster, job.job_id) & (SEEN_JOBS.c.run == row["run"])
                    await connection.execute(update(SEEN_JOBS).where(key).values(**_row(merged)))
                    return merged
            run = max((row["run"] for row in rows), default=0) + 1
            await connection.execute(insert(SEEN_JOBS).values(run=run, **_row(job)))
            return job

    async def job(self, cluster: str, job_id: str) -> SeenJob | None:
        """Return what is known of the newest run of a job, or None where none was seen."""
        runs = await self.runs(cluster, job_id)
        return runs[0] if runs else None

    async def runs(self, cluster: str, job_id: str) -> tuple[SeenJob, ...]:
        """Return every run under a job's ID, the newest first."""
        async with self._reading() as connection:
            rows = await connection.execute(_runs(cluster, job_id))
            return tuple(_job(row) for row in rows.mappings())

    async def seen_since(
        self, since: datetime, *, cluster: str | None = None
    ) -> tuple[SeenJob, ...]:
        """Return the runs that were last seen at a time or later, the latest first."""
        query = select(SEEN_JOBS).where(SEEN_JOBS.c.last_seen >= since)
        if cluster is not None:
            query = query.where(SEEN_JOBS.c.cluster == cluster)
        query = query.order_by(
            SEEN_JOBS.c.last_seen.desc(), SEEN_JOBS.c.cluster, SEEN_JOBS.c.job_id
        )
        async with self._reading() as connection:
            rows = await connection.execute(query)
            return tuple(_job(row) for row in rows.mappings())

    async def revisions(self) -> tuple[str, str]:
        """Return the revision that the database is at, and the newest that this version knows.

        Begins a writing transaction, and so shows that the database can be written to.
        """
        async with self._writing() as connection:
            return await connection.run_sync(revisions)

    async def forget(self, before: datetime) -> int:
        """Delete the runs that were last seen before a time and return how many those were."""
        async with self._writing() as connection:
            gone = await connection.execute(delete(SEEN_JOBS).where(SEEN_JOBS.c.last_seen < before))
            return gone.rowcount

    @asynccontextmanager
    async def _reading(self) -> AsyncIterator[AsyncConnection]:
        with _explained(self._engine.url):
            async with self._engine.begin() as connection:
                yield connection

    @asynccontextmanager
    async def _writing(self) -> AsyncIterator[AsyncConnection]:
        with _explained(self._engine.url):
            async with self._writer.begin() as connection:
                yield connection


@asynccontextmanager
async def open_store(url: str) -> AsyncIterator[Store]:
    """Open the store at a database URL, its schema created or migrated, and close it at the end.

    `sqlite:///path` and `postgresql://…` are understood. Raises StoreError where the URL is none,
    the database cannot be reached, or a newer version has used it.
    """
    address = _address(url)
    engine = create_async_engine(address, pool_pre_ping=address.get_backend_name() != "sqlite")
    if address.get_backend_name() == "sqlite":
        _set_up_sqlite(engine)
    try:
        with _explained(address):
            async with engine.execution_options(**{_WRITES: True}).begin() as connection:
                await connection.run_sync(migrate)
        yield Store(engine)
    finally:
        await engine.dispose()


def _address(url: str) -> URL:
    try:
        address = make_url(url)
    except ArgumentError as error:
        message = "The database URL cannot be read; write sqlite:///path or postgresql://host/name."
        raise StoreError(message) from error
    driver = _DRIVERS.get(address.drivername)
    if driver is None:
        message = f"{address.drivername} is not supported; the store takes SQLite or PostgreSQL."
        raise StoreError(message)
    address = address.set(drivername=driver)
    if address.get_backend_name() == "sqlite":
        if not address.database or address.database == ":memory:":
            # every connection would have a database of its own, and a restart would lose all
            raise StoreError("The store needs a file: write sqlite:///path.")
        folder = Path(address.database).parent
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            raise StoreError(f"The folder {folder} cannot be made: {error.strerror}.") from error
    return address


def _set_up_sqlite(engine: AsyncEngine) -> None:
    @event.listens_for(engine.sync_engine, "connect")
    def connected(connection: DBAPIConnection, _record: object) -> None:
        # the driver must not begin transactions on its own: "begin" below does
        connection.isolation_level = None
        cursor = connection.cursor()
        for pragma in (
            "busy_timeout=30000",
            "foreign_keys=ON",
            "journal_mode=WAL",
            "synchronous=FULL",
        ):
            cursor.execute(f"PRAGMA {pragma}")
        cursor.close()

    @event.listens_for(engine.sync_engine, "begin")
    def begun(connection: Connection) -> None:
        # a transaction that reads before it writes must hold the lock from its start
        writes = connection.get_execution_options().get(_WRITES)
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


@contextmanager
def _explained(address: URL) -> Iterator[None]:
    """Turn the driver's errors into ours, but for a lost race, which `see` repeats."""
    try:
        yield
    except IntegrityError:
        raise
    except (DBAPIError, PostgresError, OSError) as error:
        shown = address.render_as_string(hide_password=True)
        cause = str(error.orig if isinstance(error, DBAPIError) else error).strip()
        raise StoreError(f"The database {shown} does not answer as it should: {cause}") from error


def _is(cluster: str, job_id: str) -> ColumnElement[bool]:
    return (SEEN_JOBS.c.cluster == cluster) & (SEEN_JOBS.c.job_id == job_id)


def _runs(cluster: str, job_id: str) -> Select[Any]:
    return select(SEEN_JOBS).where(_is(cluster, job_id)).order_by(SEEN_JOBS.c.run.desc())


def _job(row: RowMapping) -> SeenJob:
    return SeenJob(**{name: value for name, value in row.items() if name != "run"})


def _row(job: SeenJob) -> dict[str, Any]:
    return asdict(job)
