"""`nccl-dns audit`: whether the chain of who did what holds, and its rows for other programs."""

from __future__ import annotations

import asyncio
import csv
import json
import re
from collections.abc import Callable
from datetime import UTC, date, datetime, time, timedelta
from pathlib import Path
from typing import TextIO

from bot.errors import UsageError
from bot.incidents import heads
from bot.incidents.audit import Link
from bot.incidents.heads import Head, Verified
from bot.incidents.store import open_store
from bot.settings import Settings, load

COLUMNS = (
    "number", "at", "what", "who", "incident_id", "about", "vm_id", "digest", "previous", "hash",
)  # fmt: skip
_AGO = re.compile(r"(?P<count>\d{1,6})(?P<unit>[smhdw])")
_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days", "w": "weeks"}
#: A cell that begins so is a formula to a spreadsheet.
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def verify(config: Path | None, head: str | None) -> tuple[Verified, tuple[Head, ...]]:
    """Verify the chain; return what it came to and the rows that it was held against."""
    told = load(config)
    given = (heads.parsed(head),) if head else ()
    return asyncio.run(verified(told, given))


async def verified(
    settings: Settings, given: tuple[Head, ...]
) -> tuple[Verified, tuple[Head, ...]]:
    """Verify the chain against what a person kept and what the state folder keeps."""
    found = heads.kept(settings.state_dir)
    held = (*given, *([found] if found else []))
    async with open_store(settings.store_url) as store:
        result = await heads.verify(store.audit, *held)
    if not result.problem and result.rows and result.head.number > (found.number if found else 0):
        heads.keep(settings.state_dir, result.head)
    return result, held


def sentences(found: Verified, held: tuple[Head, ...]) -> tuple[str, ...]:
    """Say what a look at the chain came to, and what it cannot show."""
    if found.problem:
        return (
            f"BROKEN after {found.rows:,} rows that hold. {found.problem}",
            "Keep a copy of the database as it is now, and compare it with an export made before.",
        )
    against = ", ".join(str(one.number) for one in held)
    said = f"{found.rows:,} rows hold" + (
        f", also against row {against} kept before." if held else "."
    )
    note = (
        "The chain alone cannot show that its last rows were cut off, or that all of it was "
        "written anew: for that, keep this row where the bot cannot write, and give it with --head."
    )
    return said, f"Last row: {found.head}", note


def export(config: Path | None, since: str | None, form: str, out: TextIO) -> int:
    """Write rows as they come, the oldest first; return how many."""
    start = moment(since, datetime.now(UTC)) if since else None
    return asyncio.run(exported(load(config), start, form, out))


async def exported(settings: Settings, since: datetime | None, form: str, out: TextIO) -> int:
    """Write the rows of the store from a time on."""
    write = _writer(form, out)
    count = 0
    async with open_store(settings.store_url) as store:
        async for link in store.audit.links():
            if since is None or link.deed.at >= since:
                write(row_of(link))
                count += 1
    return count


def row_of(link: Link) -> dict[str, str | int | None]:
    """Return a row as it is exported: what its hash is made of, and the hash."""
    deed = link.deed
    return {
        "number": link.number,
        "at": deed.at.astimezone(UTC).isoformat(),
        "what": deed.what,
        "who": deed.who,
        "incident_id": deed.incident_id,
        "about": deed.about,
        "vm_id": deed.vm_id,
        "digest": deed.digest,
        "previous": link.previous,
        "hash": link.hash,
    }


def _writer(form: str, out: TextIO) -> Callable[[dict[str, str | int | None]], object]:
    if form == "jsonl":
        return lambda row: out.write(json.dumps(row) + "\n")
    rows = csv.writer(out, lineterminator="\n")
    rows.writerow(COLUMNS)
    return lambda row: rows.writerow([_cell(row[name]) for name in COLUMNS])


def _cell(value: str | int | None) -> str:
    text = "" if value is None else str(value)
    return f"'{text}" if text.startswith(_FORMULA) else text


def moment(text: str, now: datetime) -> datetime:
    """Return the time that a person means: `2h` ago, a date, or a time; UTC where no zone is said.

    Raises UsageError.
    """
    if found := _AGO.fullmatch(text.strip()):
        return now - timedelta(**{_UNITS[found["unit"]]: int(found["count"])})
    try:
        if len(text.strip()) == len("2030-01-02"):
            return datetime.combine(date.fromisoformat(text.strip()), time(), UTC)
        at = datetime.fromisoformat(text.strip())
    except ValueError:
        message = f"{text!r} is no time: write 2h, 3d, 2030-01-02 or 2030-01-02T03:04:05Z."
        raise UsageError(message) from None
    return at if at.tzinfo else at.replace(tzinfo=UTC)
