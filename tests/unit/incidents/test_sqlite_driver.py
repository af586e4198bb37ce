"""A writer that has to wait holds up nobody but itself."""

from __future__ import annotations

import asyncio
import sqlite3
import threading
import time
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from bot.incidents.sqlite_driver import Connection
from bot.incidents.store import Store, open_store
from tests.behaviour.store.rows import AT, incident

pytestmark = pytest.mark.anyio
_TICKS = 20


@pytest.fixture
def anyio_backend() -> str:
    """Run on asyncio, as the product does."""
    return "asyncio"


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[Store]:
    """Return a store in a file."""
    async with open_store(f"sqlite:///{tmp_path / 'bot.db'}") as opened:
        yield opened


@pytest.fixture
def other(store: Store, tmp_path: Path) -> Iterator[sqlite3.Connection]:
    """Return another process' connection, as far as SQLite can tell."""
    del store
    connection = sqlite3.connect(tmp_path / "bot.db", isolation_level=None, timeout=0)
    yield connection
    connection.close()


@pytest.fixture
def slow_disk() -> Iterator[None]:
    """Let commits have been slow lately."""
    Connection.disk_s = 1.0
    yield
    Connection.disk_s = 0.0


async def test_the_loop_goes_on_while_another_process_writes(
    store: Store, other: sqlite3.Connection
) -> None:
    """A write waits for another process' lock beside the loop, and succeeds once that is free."""
    other.execute("BEGIN IMMEDIATE")
    writing = asyncio.create_task(store.incidents.open(incident()))
    for _ in range(_TICKS):
        await asyncio.sleep(0.001)
        assert not writing.done()
    other.execute("ROLLBACK")
    assert (await writing).made


async def test_who_gives_up_leaves_no_lock(store: Store, other: sqlite3.Connection) -> None:
    """A write that is cancelled while it waits writes nothing, and keeps nobody from writing."""
    other.execute("BEGIN IMMEDIATE")
    writing = asyncio.create_task(store.incidents.open(incident()))
    for _ in range(_TICKS):
        await asyncio.sleep(0.001)
    writing.cancel()
    await asyncio.wait({writing}, timeout=0.01)
    other.execute("ROLLBACK")
    await asyncio.gather(writing, return_exceptions=True)
    other.execute("BEGIN IMMEDIATE")
    other.execute("ROLLBACK")
    assert await store.incidents.recent() == ()
    assert (await store.incidents.open(incident())).made


async def test_many_who_give_up_at_once_end_no_process(
    store: Store, other: sqlite3.Connection
) -> None:
    """Writers cancelled while the lock comes free leave a store that works."""
    for round_ in range(_TICKS):
        other.execute("BEGIN IMMEDIATE")
        writing = [asyncio.create_task(store.incidents.open(incident())) for _ in range(5)]
        await asyncio.sleep(0.001 * (round_ % 4))
        other.execute("ROLLBACK")
        for each in writing:
            each.cancel()
        await asyncio.gather(*writing, return_exceptions=True)
    assert (await store.incidents.open(incident())).incident.id


@pytest.mark.usefixtures("slow_disk")
async def test_who_gives_up_while_committing_leaves_when_that_is_over(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody touches a connection that a thread is committing, and what it wrote is there."""
    begun, ended = threading.Event(), threading.Event()
    commit, close, stop = Connection._commit, Connection.close, Connection.stop
    early: list[str] = []

    def slowly(self: Connection) -> None:
        begun.set()
        time.sleep(0.05)
        commit(self)
        ended.set()

    async def closing(self: Connection) -> None:
        early.extend([] if ended.is_set() else ["close"])
        await close(self)

    def stopping(self: Connection) -> None:
        early.extend([] if ended.is_set() else ["stop"])
        stop(self)

    monkeypatch.setattr(Connection, "_commit", slowly)
    monkeypatch.setattr(Connection, "close", closing)
    monkeypatch.setattr(Connection, "stop", stopping)
    writing = asyncio.create_task(store.incidents.open(incident()))
    await asyncio.to_thread(begun.wait)
    for _ in range(2):
        writing.cancel()
        await asyncio.sleep(0.001)
    assert not writing.done()
    with pytest.raises(asyncio.CancelledError):
        await writing
    assert ended.is_set()
    assert early == []
    assert len(await store.incidents.recent()) == 1


@pytest.mark.usefixtures("slow_disk")
async def test_a_slow_disk_is_waited_for_in_a_thread(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where commits have been slow, what is written is committed beside the loop, and is there."""
    beside: list[str] = []
    in_thread = asyncio.to_thread

    async def noted(function, *arguments):  # type: ignore[no-untyped-def]  # noqa: ANN001,ANN002,ANN202
        beside.append(function.__name__)
        return await in_thread(function, *arguments)

    monkeypatch.setattr(asyncio, "to_thread", noted)
    made = (await store.incidents.open(incident(opened_at=AT))).incident
    assert beside == ["_commit"]
    found = await store.incidents.get(made.id)
    assert found is not None
    # whoever only reads has nothing to wait for
    assert beside == ["_commit"]
    assert Connection.disk_s < 1.0
