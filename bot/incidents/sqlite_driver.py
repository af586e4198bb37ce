"""SQLite for SQLAlchemy's asyncio, without a thread hop for each statement.

aiosqlite gives each statement four hops to a thread and back, 15 in a transaction of ours: 8 ms,
of which SQLite takes one. Here a statement is run where it stands, since all of ours are short.
BEGIN IMMEDIATE is tried again and again while another process writes; what else may wait runs in a
thread: opening, closing, and COMMIT on a disk that is slow. A connection in a thread is nobody
else's: closing it from the loop, as SQLAlchemy does for who is cancelled, would end the process.

It has the names of aiosqlite that SQLAlchemy's dialect asks for, and stands in its place.
"""

from __future__ import annotations

import asyncio
import contextlib
import sqlite3
import time
from collections.abc import Callable, Generator, Sequence
from itertools import chain, repeat
from types import SimpleNamespace
from typing import Any, ClassVar, Self

from sqlalchemy.dialects.sqlite.aiosqlite import AsyncAdapt_aiosqlite_dbapi

#: A hop to a thread costs half a millisecond of the loop: worth it for commits slower than this.
_SLOW_S = 0.003
_FORGETS = 0.9
_BEGIN = "BEGIN IMMEDIATE"
_NO_WAIT, _WAIT_MS = "PRAGMA busy_timeout=0", 30_000
#: SQLite's own steps between two tries, in milliseconds; the last one from then on
_STEPS_MS = (1, 2, 5, 10, 15, 20, 25)


async def _beside(function: Callable[[], None]) -> None:
    """Run it in a thread; who is cancelled meanwhile goes when it is over, not before."""
    running = asyncio.ensure_future(asyncio.to_thread(function))
    try:
        await asyncio.shield(running)
    except asyncio.CancelledError:
        while not running.done():
            with contextlib.suppress(asyncio.CancelledError):
                await asyncio.wait({running})
        if not running.cancelled():
            running.exception()
        raise


def _code(error: sqlite3.Error) -> int:
    """Return the code without its extension: SQLITE_BUSY has three."""
    return error.sqlite_errorcode & 0xFF


class Cursor:
    """A cursor whose statements run at once."""

    def __init__(self, owner: Connection, connection: sqlite3.Connection) -> None:
        self._owner = owner
        self._cursor = connection.cursor()

    async def __aenter__(self) -> Self:
        """Return it: there is nothing to wait for."""
        return self

    @property
    def description(self) -> Any:  # noqa: ANN401 - as sqlite3 has it
        """Return the columns of the last result."""
        return self._cursor.description

    @property
    def rowcount(self) -> int:
        """Return how many rows the last statement changed."""
        return self._cursor.rowcount

    @property
    def lastrowid(self) -> int | None:
        """Return the last row's number."""
        return self._cursor.lastrowid

    async def execute(self, sql: str, parameters: Sequence[Any] = ()) -> Cursor:
        """Run a statement; one that needs another process's lock waits for it beside the others."""
        if sql == _BEGIN:
            await self._begin()
            self._owner.writes = True
        else:
            self._cursor.execute(sql, parameters)
        return self

    async def _begin(self) -> None:
        self._cursor.execute(_NO_WAIT)
        try:
            await self._begun()
        finally:
            self._cursor.execute(f"PRAGMA busy_timeout={_WAIT_MS}")

    async def _begun(self) -> None:
        until = time.monotonic() + _WAIT_MS / 1000
        steps = chain(_STEPS_MS, repeat(_STEPS_MS[-1]))
        while True:
            try:
                self._cursor.execute(_BEGIN)
            except sqlite3.OperationalError as error:
                if _code(error) != sqlite3.SQLITE_BUSY or time.monotonic() > until:
                    raise
                await asyncio.sleep(next(steps) / 1000)
            else:
                return

    async def executemany(self, sql: str, parameters: Sequence[Any]) -> Cursor:
        """Run a statement for each row of parameters."""
        self._cursor.executemany(sql, parameters)
        return self

    async def fetchall(self) -> list[Any]:
        """Return the rows that are left."""
        return self._cursor.fetchall()

    async def fetchone(self) -> Any:  # noqa: ANN401 - a row of any shape
        """Return the next row."""
        return self._cursor.fetchone()

    async def fetchmany(self, size: int = 1) -> list[Any]:
        """Return the next rows."""
        return self._cursor.fetchmany(size)

    async def close(self) -> None:
        """Close it."""
        self._cursor.close()


class Connection:
    """A connection; awaited once to be opened, as aiosqlite's."""

    #: how long commits have taken lately, in seconds
    disk_s: ClassVar[float] = 0.0

    def __init__(self, open_it: Callable[[], sqlite3.Connection]) -> None:
        self._open = open_it
        #: None before it is opened and once it is closed
        self._connection: sqlite3.Connection | None = None
        #: in a transaction that may write
        self.writes = False
        # SQLAlchemy sets a flag of aiosqlite's thread
        self._thread = SimpleNamespace(daemon=True)

    def __await__(self) -> Generator[Any, None, Connection]:
        """Open it, in a thread."""
        return self._opened().__await__()

    async def _opened(self) -> Connection:
        try:
            await _beside(self._open_now)
        except asyncio.CancelledError:
            self.stop()
            raise
        return self

    def _open_now(self) -> None:
        self._connection = self._open()

    @property
    def _conn(self) -> sqlite3.Connection:
        if self._connection is None:
            raise ValueError("Connection closed")
        return self._connection

    @property
    def isolation_level(self) -> str | None:
        """Return None: transactions begin by statements of ours alone."""
        return self._conn.isolation_level

    def cursor(self) -> Cursor:
        """Return a new cursor."""
        return Cursor(self, self._conn)

    async def create_function(self, *arguments: Any, **named: Any) -> None:  # noqa: ANN401
        """Give SQL a function."""
        self._conn.create_function(*arguments, **named)

    async def commit(self) -> None:
        """Commit; in a thread where something was written and the disk has been slow lately."""
        writes, self.writes = self.writes, False
        if writes and Connection.disk_s > _SLOW_S:
            await _beside(self._commit)
        else:
            self._commit()

    def _commit(self) -> None:
        began = time.perf_counter()
        self._conn.commit()
        took = time.perf_counter() - began
        # falls slowly, rises at once: one slow commit is paid for, not a row of them
        Connection.disk_s = max(took, Connection.disk_s * _FORGETS)

    async def rollback(self) -> None:
        """Roll back."""
        self.writes = False
        self._conn.rollback()

    async def close(self) -> None:
        """Close it, in a thread: the last one writes the log back."""
        held, self._connection = self._connection, None
        if held is not None:
            await _beside(held.close)

    def stop(self) -> None:
        """Close it now, where nothing can be awaited any more."""
        held, self._connection = self._connection, None
        if held is not None:
            held.close()


def _connect(database: str, **named: Any) -> Connection:  # noqa: ANN401
    named |= {"check_same_thread": False, "isolation_level": None}
    return Connection(lambda: sqlite3.connect(database, **named))


def driver() -> AsyncAdapt_aiosqlite_dbapi:
    """Return the driver as `create_async_engine` takes it by `module`."""
    named = (
        "DatabaseError", "Error", "IntegrityError", "NotSupportedError", "OperationalError",
        "ProgrammingError", "sqlite_version", "sqlite_version_info",
    )  # fmt: skip
    names = {name: getattr(sqlite3, name) for name in named}
    module: Any = SimpleNamespace(connect=_connect, Connection=Connection, __version__="0", **names)
    return AsyncAdapt_aiosqlite_dbapi(module, sqlite3)
