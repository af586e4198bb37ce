"""A database file is its owner's alone, and what was forgotten is not left in it."""

from __future__ import annotations

from pathlib import Path

import anyio
import pytest

from bot.errors import StoreError
from bot.incidents.store import open_store
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
    with pytest.raises(StoreError, match="does not answer as it should: unable to open"):
        anyio.run(_open, f"sqlite:///{tmp_path}")


async def _open(url: str) -> None:
    async with open_store(url):
        pass
