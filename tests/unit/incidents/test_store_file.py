"""What SQLite's file needs: an owner, nothing left in it, and a queue before it."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

import anyio
import pytest

from bot.errors import StoreError
from bot.incidents.store import Store, open_store
from tests.behaviour.store.rows import AT, DAY, delivery, opened

SECRET = "hf_s3cret" * 400


def open_to_others(folder: Path) -> dict[str, int]:
    """Return what others may do with each file."""
    return {path.name: path.stat().st_mode & 0o077 for path in folder.iterdir()}


def test_nobody_else_can_read_the_file(tmp_path: Path) -> None:
    """Nor the log beside it, in a folder that was there before."""
    modes: dict[str, int] = {}

    async def write() -> None:
        async with open_store(f"sqlite:///{tmp_path}/bot.db") as store:
            await opened(store)
            modes.update(open_to_others(tmp_path))

    anyio.run(write)

    assert modes == {"bot.db": 0, "bot.db-wal": 0, "bot.db-shm": 0}


def test_what_was_forgotten_is_not_left_in_the_file(tmp_path: Path) -> None:
    """A delivery's payload when it is done, a check when its time is over."""
    file = tmp_path / "bot.db"

    async def write() -> None:
        async with open_store(f"sqlite:///{file}") as store:
            await store.deliveries.receive(delivery("E1", payload={"text": SECRET}))
            await opened(store, check={"quote": SECRET})

    async def forget() -> None:
        async with open_store(f"sqlite:///{file}") as store:
            await store.deliveries.done("E1", at=AT)
            await store.forget(AT + DAY)

    anyio.run(write)
    assert file.read_bytes().count(b"hf_s3cret") >= 800
    anyio.run(forget)
    assert b"hf_s3cret" not in file.read_bytes()


def test_a_file_that_cannot_be_made_is_said(tmp_path: Path) -> None:
    """With what the system says against it."""
    with pytest.raises(StoreError, match=r"cannot be written: File name too long"):
        anyio.run(_open, f"sqlite:///{tmp_path}/{'x' * 300}")
    with pytest.raises(StoreError, match="is not a file, so it cannot hold the store"):
        anyio.run(_open, f"sqlite:///{tmp_path}")


def test_a_file_of_somebody_else_is_said() -> None:
    """In a process of its own, which gives up root where the tests run as root."""
    code = "import os, sys, bot.incidents.database as d; "
    code += "os.geteuid() or os.setuid(65534); d._make_file(d.Path(sys.argv[1]))"
    # pytest's own folders are closed to other users
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        anyio.run(_open, f"sqlite:///{folder}/bot.db")
        (folder / "bot.db").chmod(0)
        told = subprocess.run(
            [sys.executable, "-c", code, str(folder / "bot.db")],
            capture_output=True, check=False, text=True, timeout=60,
        )  # fmt: skip

    assert "bot.db may not be read and written by this user." in told.stderr


async def _open(url: str) -> None:
    async with open_store(url):
        pass


def test_what_slack_awaits_goes_before_those_who_queue(tmp_path: Path) -> None:
    """SQLite has one writer at a time: an insert before the ack lets one other go first."""
    order: list[str] = []

    async def write(store: Store, name: str) -> None:
        await opened(store, key=name)
        order.append(name)

    async def receive(store: Store) -> None:
        await store.deliveries.receive(delivery("E1"))
        order.append("E1")

    async def all_at_once() -> None:
        async with (
            open_store(f"sqlite:///{tmp_path}/bot.db") as store,
            anyio.create_task_group() as tasks,
            store.database.writing(),
        ):
            for number in range(20):
                tasks.start_soon(write, store, str(number))
            await anyio.wait_all_tasks_blocked()
            tasks.start_soon(receive, store)
            await anyio.wait_all_tasks_blocked()

    anyio.run(all_at_once)

    assert len(order) == 21
    assert order.index("E1") <= 1
