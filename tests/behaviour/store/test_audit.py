"""The audit chain: what was changed behind its back is found, on each database."""

from __future__ import annotations

import csv
import io
import json
from datetime import timedelta
from pathlib import Path

import pytest
from sqlalchemy import delete, insert, select, update

from bot.commands.audit import COLUMNS, exported, moment, sentences, verified
from bot.errors import UsageError
from bot.incidents import heads
from bot.incidents.audit import Deed, hashed
from bot.incidents.heads import Head
from bot.incidents.store import Store
from bot.incidents.tables import AUDIT
from bot.settings import Settings
from bot.settings.tree import StoreSettings
from tests.behaviour.store.rows import AT, MINUTE

pytestmark = pytest.mark.anyio


def deed(number: int) -> Deed:
    """Return something that was done, another thing each time."""
    at = AT + number * MINUTE
    return Deed(at=at, what="approved", who="U0GRACE", incident_id="i", about=f"a{number}")


async def six(store: Store) -> None:
    """Keep six deeds."""
    for number in range(1, 7):
        await store.audit.note(deed(number))


async def run(store: Store, statement: object) -> None:
    """Change the table as somebody does who has the database's password."""
    async with store.database.writing() as connection:
        await connection.execute(statement)  # type: ignore[call-overload]


async def test_a_chain_as_it_was_written_holds(store: Store) -> None:
    """All rows are counted, and the last one is told, to be kept."""
    assert (await heads.verify(store.audit)).rows == 0
    await six(store)
    found = await heads.verify(store.audit)
    assert (found.rows, found.problem, found.head.number) == (6, "", 6)
    assert (await heads.verify(store.audit, found.head)).problem == ""


@pytest.mark.parametrize(
    "change",
    [{"who": "U0LINUS"}, {"at": AT}, {"what": "declined"}, {"vm_id": "x"}, {"digest": "x"},
     {"incident_id": "x"}, {"about": "x"}, {"hash": "0" * 64}],
    ids=lambda one: next(iter(one)),
)  # fmt: skip
async def test_an_edited_row(store: Store, change: dict[str, object]) -> None:
    """Whichever field was changed, the row is named."""
    await six(store)
    await run(store, update(AUDIT).where(AUDIT.c.number == 3).values(**change))
    found = await heads.verify(store.audit)
    assert (found.rows, found.problem) == (2, "Row 3 is not as it was written.")


async def test_an_edited_row_with_a_hash_of_its_own(store: Store) -> None:
    """Who makes the row's hash fit breaks the next row's link to it."""
    await six(store)
    async with store.database.reading() as connection:
        previous = await connection.scalar(select(AUDIT.c.previous).where(AUDIT.c.number == 3))
    other = deed(33)
    values = {"about": other.about, "at": other.at, "hash": hashed(3, other, str(previous))}
    await run(store, update(AUDIT).where(AUDIT.c.number == 3).values(**values))
    found = await heads.verify(store.audit)
    assert (found.rows, found.problem) == (3, "Row 4 does not follow the row before it.")


@pytest.mark.parametrize("number", [1, 3])
async def test_a_deleted_row(store: Store, number: int) -> None:
    """A gap is found, at the start, too."""
    await six(store)
    await run(store, delete(AUDIT).where(AUDIT.c.number == number))
    found = await heads.verify(store.audit)
    assert found.rows == number - 1
    assert found.problem == f"Row {number} is missing: the next one is {number + 1}."


async def test_an_inserted_row(store: Store) -> None:
    """A row that was put in follows nothing, even where those behind it were moved to make room."""
    await six(store)
    for number in (6, 5, 4):
        moved = update(AUDIT).where(AUDIT.c.number == number).values(number=number + 1)
        await run(store, moved)
    async with store.database.reading() as connection:
        last = await connection.scalar(select(AUDIT.c.hash).where(AUDIT.c.number == 3))
    put = {
        "number": 4, "at": AT, "what": "approved", "who": "U0LINUS", "incident_id": "i",
        "about": "a", "vm_id": "", "digest": "", "previous": str(last),
    }  # fmt: skip
    fitting = Deed(at=AT, what="approved", who="U0LINUS", incident_id="i", about="a")
    put["hash"] = hashed(4, fitting, str(last))
    await run(store, insert(AUDIT).values(**put))
    found = await heads.verify(store.audit)
    assert (found.rows, found.problem) == (4, "Row 5 does not follow the row before it.")


async def test_rows_cut_off(store: Store) -> None:
    """The chain alone cannot tell; against a row that was kept it is found."""
    await six(store)
    head = (await heads.verify(store.audit)).head
    await run(store, delete(AUDIT).where(AUDIT.c.number > 4))
    assert not (await heads.verify(store.audit)).problem
    found = await heads.verify(store.audit, head)
    assert found.problem == "The last rows are gone: row 6 was kept, and 4 is last."
    await store.audit.note(deed(50))
    await store.audit.note(deed(60))
    assert "Row 6 is another one" in (await heads.verify(store.audit, head)).problem


async def test_the_bot_keeps_the_head(store: Store, tmp_path: Path) -> None:
    """It follows the chain, and never a chain that the kept row is not in any more."""
    await heads.follow(store.audit, tmp_path)
    assert heads.kept(tmp_path) is None
    await six(store)
    await heads.follow(store.audit, tmp_path)
    assert heads.kept(tmp_path) == (await heads.verify(store.audit)).head
    await store.audit.note(deed(7))
    await heads.follow(store.audit, tmp_path)
    kept = heads.kept(tmp_path)
    assert kept is not None
    assert kept.number == 7
    await run(store, delete(AUDIT).where(AUDIT.c.number > 5))
    for number in (8, 9, 10):
        await store.audit.note(deed(number))
    await heads.follow(store.audit, tmp_path)
    assert heads.kept(tmp_path) == kept


async def test_as_the_command_says_it(store: Store, url: str, tmp_path: Path) -> None:
    """Verify keeps the head itself; what is broken is said with how many rows hold."""
    await six(store)
    told = Settings(state_dir=tmp_path, store=StoreSettings(url=url))
    found, held = await verified(told, ())
    assert "6 rows hold." in sentences(found, held)
    found, held = await verified(told, (Head(number=2, hash="f" * 64),))
    assert "Row 2 is another one than was kept" in sentences(found, held)[0]
    found, held = await verified(told, ())
    assert "6 rows hold, also against row 6 kept before." in sentences(found, held)
    await run(store, delete(AUDIT).where(AUDIT.c.number == 6))
    found, held = await verified(told, ())
    assert sentences(found, held)[0].startswith("BROKEN after 5 rows that hold. The last rows are")


@pytest.mark.parametrize("form", ["jsonl", "csv"])
async def test_exports(store: Store, url: str, tmp_path: Path, form: str) -> None:
    """Every row from a time on, with all that its hash is made of."""
    await six(store)
    told = Settings(state_dir=tmp_path, store=StoreSettings(url=url))
    out = io.StringIO()
    assert await exported(told, AT + 3 * MINUTE, form, out) == 4
    text = out.getvalue()
    rows = (
        [json.loads(line) for line in text.splitlines()]
        if form == "jsonl"
        else list(csv.DictReader(io.StringIO(text)))
    )
    assert [int(row["number"]) for row in rows] == [3, 4, 5, 6]
    assert tuple(rows[0]) == COLUMNS
    assert rows[1]["previous"] == rows[0]["hash"]
    assert rows[0]["who"] == "U0GRACE"


def test_the_times_that_people_write() -> None:
    """A while ago, a date, a time; without a zone it is UTC, and anything else is refused."""
    assert moment("2h", AT) == AT - timedelta(hours=2)
    assert moment("2030-01-02", AT) == AT.replace(hour=0, minute=0, second=0, microsecond=0)
    assert moment("2030-01-02T03:04:05.678901", AT) == AT
    assert moment("2030-01-02T04:04:05.678901+01:00", AT) == AT
    with pytest.raises(UsageError, match="is no time"):
        moment("yesterday", AT)
