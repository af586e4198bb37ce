"""A writer that has to wait holds up nobody but itself."""

from __future__ import annotations

import asyncio
import sqlite3
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
