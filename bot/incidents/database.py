"""One database: SQLite in a file, or PostgreSQL by URL; every block is one transaction."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Coroutine, Iterator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager, nullcontext
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

from asyncpg import PostgresError
from sqlalchemy import Connection, Executable, Table, event
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.engine import URL, make_url
from sqlalchemy.engine.interfaces import DBAPIConnection
from sqlalchemy.exc import ArgumentError, DBAPIError, IntegrityError, StatementError
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, create_async_engine

from bot.errors import BotError, StoreError
from bot.incidents.migrate import migrate
from bot.incidents.sqlite_driver import driver

#: Short names of databases, as people write them in a URL, and the drivers that are used.
_DRIVERS = {
    "sqlite": "sqlite+aiosqlite",
    "sqlite+aiosqlite": "sqlite+aiosqlite",
    "postgres": "postgresql+asyncpg",
    "postgresql": "postgresql+asyncpg",
    "postgresql+asyncpg": "postgresql+asyncpg",
}
_WRITES = "writes"
_T = TypeVar("_T")
_Gate = AbstractAsyncContextManager[Any]
#: Connections in the pool, and how many of them are for what is not urgent.
_POOL = 15
_AT_ONCE = 10


class Database:
    """Hands out connections; a block that ends well is committed, any other leaves no trace."""

    def __init__(self, engine: AsyncEngine) -> None:
        self._engine = engine
        self._writer = engine.execution_options(**{_WRITES: True})
        self._apart: set[asyncio.Task[Any]] = set()
        self._others = asyncio.Semaphore(_AT_ONCE)
        # SQLite has one writer at a time and lets the others poll for it in no order: some would
        # wait for seconds. Here they queue, and one of that queue at most is before an urgent one.
        sqlite = engine.dialect.name == "sqlite"
        self._turn: _Gate = asyncio.Lock() if sqlite else nullcontext()
        self._queue: _Gate = asyncio.Lock() if sqlite else nullcontext()

    @asynccontextmanager
    async def reading(self) -> AsyncIterator[AsyncConnection]:
        """Open a transaction that holds up no writer; raises StoreError."""
        with _explained(self._engine.url):
            async with self._others, self._engine.begin() as connection:
                yield connection

    @asynccontextmanager
    async def writing(self) -> AsyncIterator[AsyncConnection]:
        """Open a transaction that may write; raises StoreError, and IntegrityError as it is.

        Not inside another one: that would wait for itself.
        """
        async with self._queue, self._others, self.writing_now() as connection:
            yield connection

    @asynccontextmanager
    async def writing_now(self) -> AsyncIterator[AsyncConnection]:
        """Open a transaction that may write before all others that wait: for what Slack awaits."""
        with _explained(self._engine.url):
            async with self._turn, self._writer.begin() as connection:
                yield connection

    async def apart(self, transaction: Coroutine[Any, Any, _T]) -> _T:
        """Run a transaction in a task of its own, which goes on when the caller gives up.

        A cancelled statement would hold its caller until the database answers: with SQLite, until
        another process frees its lock.
        """
        task = asyncio.ensure_future(transaction)
        self._apart.add(task)
        task.add_done_callback(self._ended)
        return await asyncio.shield(task)

    def _ended(self, task: asyncio.Task[Any]) -> None:
        self._apart.discard(task)
        # looked at, for nobody may be there to look: who gave up has said so already
        _ = task.cancelled() or task.exception()

    async def close(self) -> None:
        """Wait for what goes on without a caller, and close the connections."""
        if self._apart:
            await asyncio.wait(self._apart)
        await self._engine.dispose()


async def add_new(connection: AsyncConnection, table: Table, row: Mapping[str, Any]) -> bool:
    """Insert a row unless one stands in its way, also one of another replica; say which.

    An insert that loses the race waits for the winner, whose row the next statement sees.
    """
    new = _new(table, connection.dialect.name)
    return (await connection.execute(new, dict(row))).first() is not None


@cache
def _new(table: Table, name: str) -> Executable:
    """Return the statement, made once: making one takes longer than running it."""
    dialect = postgresql if name == "postgresql" else sqlite
    key = next(iter(table.primary_key))
    new: Executable = dialect.insert(table).on_conflict_do_nothing().returning(key)
    return new


@asynccontextmanager
async def open_database(url: str) -> AsyncIterator[Database]:
    """Open the database at a URL, its schema created or migrated, and close it at the end.

    `sqlite:///path` and `postgresql://…` are understood. Raises StoreError where the URL is none,
    the database cannot be reached, or a newer version has used it.
    """
    address = _address(url)
    sqlite = address.get_backend_name() == "sqlite"
    engine = create_async_engine(
        address,
        **({"module": driver()} if sqlite else {}),
        pool_size=_POOL,
        max_overflow=0,
        pool_pre_ping=not sqlite,
        # they are other people's text, not yet redacted: an error must not carry it to a log
        hide_parameters=True,
    )
    if sqlite:
        _set_up_sqlite(engine)
    database = Database(engine)
    try:
        async with database.writing() as connection:
            await connection.run_sync(migrate)
        yield database
    finally:
        await database.close()


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
        _make_file(Path(address.database))
    return address


def _make_file(path: Path) -> None:
    """Make a database file that is its owner's alone: it holds what others pasted."""
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        message = f"The folder {path.parent} cannot be made: {error.strerror}."
        raise StoreError(message) from error
    try:
        if not path.exists():
            path.touch(mode=0o600)
    except OSError as error:
        raise StoreError(f"The file {path} cannot be written: {error.strerror}.") from error
    # asked before the driver tries, whose thread may outlive the loop when it cannot open a file
    if not path.is_file():
        raise StoreError(f"{path} is not a file, so it cannot hold the store.")
    if not os.access(path, os.R_OK | os.W_OK):
        raise StoreError(f"The file {path} may not be read and written by this user.")


def _set_up_sqlite(engine: AsyncEngine) -> None:
    @event.listens_for(engine.sync_engine, "connect")
    def connected(connection: DBAPIConnection, _record: object) -> None:
        cursor = connection.cursor()
        for pragma in (
            "busy_timeout=30000",
            "foreign_keys=ON",
            "journal_mode=WAL",
            "synchronous=FULL",
            # what is forgotten must not stay readable in the file
            "secure_delete=ON",
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
    """Turn the driver's errors into ours, but for a lost race, which its writer repeats."""
    try:
        yield
    except IntegrityError:
        raise
    except (DBAPIError, PostgresError, OSError) as error:
        shown = address.render_as_string(hide_password=True)
        cause = str(error.orig if isinstance(error, DBAPIError) else error).strip()
        raise StoreError(f"The database {shown} does not answer as it should: {cause}") from error
    except StatementError as error:
        # a value that a column of ours has refused
        if isinstance(error.orig, BotError):
            raise error.orig from None
        raise
