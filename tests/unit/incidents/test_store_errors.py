"""What is wrong with a database is said in a sentence, without its password."""

from __future__ import annotations

from pathlib import Path

import anyio
import pytest

from bot.errors import StoreError
from bot.incidents.store import open_store


async def opening(url: str) -> None:
    """Open a store and close it."""
    async with open_store(url):
        pass


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("not a url", "cannot be read"),
        ("mysql://db/bot", "SQLite or PostgreSQL"),
        ("sqlite://", "needs a file"),
        ("sqlite:///:memory:", "needs a file"),
    ],
)
def test_a_url_that_will_not_do(url: str, message: str) -> None:
    """The answer says what to write; a database in memory would forget everything."""
    with pytest.raises(StoreError, match=message):
        anyio.run(opening, url)


def test_a_server_that_does_not_answer_is_named_without_the_password() -> None:
    """The address helps whoever reads the message, the password helps nobody."""
    url = "postgresql://bot:hunter2@127.0.0.1:1/bot"

    with pytest.raises(StoreError) as error:
        anyio.run(opening, url)

    assert "@127.0.0.1:1/bot does not answer" in str(error.value)
    assert "hunter2" not in str(error.value)


def test_a_file_that_is_no_database_is_left_alone(tmp_path: Path) -> None:
    """Somebody's notes are not overwritten."""
    notes = tmp_path / "bot.db"
    notes.write_text("not a database, but somebody's notes\n" * 50, encoding="utf-8")
    before = notes.read_bytes()

    with pytest.raises(StoreError, match="file is not a database"):
        anyio.run(opening, f"sqlite:///{notes}")

    assert notes.read_bytes() == before


def test_a_folder_that_cannot_be_made_is_said(tmp_path: Path) -> None:
    """A file stands where the state folder should be."""
    (tmp_path / "state").write_text("", encoding="utf-8")

    with pytest.raises(StoreError, match="cannot be made"):
        anyio.run(opening, f"sqlite:///{tmp_path}/state/x/bot.db")


def test_the_state_folder_is_its_owners(tmp_path: Path) -> None:
    """What is seen of jobs names people and their paths."""
    anyio.run(opening, f"sqlite:///{tmp_path}/state/bot.db")

    assert (tmp_path / "state").stat().st_mode & 0o077 == 0
