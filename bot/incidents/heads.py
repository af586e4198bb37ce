"""Verify the audit chain, and keep its newest row outside the database: cut rows leave no gap.

A chain shows what was changed within it. That its last rows were cut off, or that somebody wrote
all of it anew from some row on, shows only against a row that was kept elsewhere.
"""

from __future__ import annotations

import json
import logging
import os
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from bot.errors import InputError, StoreError
from bot.incidents.audit import START, broken
from bot.incidents.audits import Audits

_LOG = logging.getLogger(__name__)
#: Name of the file in the state folder.
HEAD_FILE = "audit-head.json"


@dataclass(frozen=True, kw_only=True, slots=True)
class Head:
    """A row of the chain by number and hash, as it was once."""

    number: int
    hash: str

    def __str__(self) -> str:
        """Return it as people copy it."""
        return f"{self.number}:{self.hash}"


NOTHING = Head(number=0, hash=START)


@dataclass(frozen=True, kw_only=True, slots=True)
class Verified:
    """What a look at the whole chain came to."""

    #: rows that hold, from the first one on
    rows: int
    #: the last of them
    head: Head
    #: what is wrong with the row after them, or against a row kept elsewhere; empty if nothing
    problem: str = ""


async def verify(audits: Audits, *kept: Head) -> Verified:
    """Look at every row in order, and hold the chain against rows that were kept elsewhere."""
    wanted: dict[int, set[str]] = {}
    for one in kept:
        if one.number:
            wanted.setdefault(one.number, set()).add(one.hash)
    last = NOTHING
    async for link in audits.links():
        if problem := broken([link], last=last.hash, number=last.number):
            return Verified(rows=last.number, head=last, problem=problem)
        last = Head(number=link.number, hash=link.hash)
        if wanted.pop(link.number, {link.hash}) != {link.hash}:
            problem = (
                f"Row {link.number} is another one than was kept: the chain was written anew at "
                "or before it."
            )
            return Verified(rows=link.number - 1, head=last, problem=problem)
    if wanted:
        problem = f"The last rows are gone: row {max(wanted)} was kept, and {last.number} is last."
        return Verified(rows=last.number, head=last, problem=problem)
    return Verified(rows=last.number, head=last)


def parsed(text: str) -> Head:
    """Return a row that a person kept, `NUMBER:HASH`; raises InputError."""
    number, _, hashed = text.strip().partition(":")
    if not number.isdecimal() or len(hashed) != len(START):
        raise InputError(f"{text[:80]!r} is no NUMBER:HASH as `audit verify` prints it.")
    return Head(number=int(number), hash=hashed.lower())


def kept(folder: Path) -> Head | None:
    """Return the row that was kept in the state folder; None where none was. Raises StoreError."""
    file = folder / HEAD_FILE
    try:
        told = json.loads(file.read_text(encoding="ascii"))
        return Head(number=int(told["number"]), hash=str(told["hash"]))
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise StoreError(
            f"The file {file}, which holds the audit's last row, cannot be read."
        ) from error


def keep(folder: Path, head: Head) -> None:
    """Keep a row in the state folder, whole or not at all; raises StoreError."""
    file = folder / HEAD_FILE
    new = file.with_suffix(f".{os.getpid()}.new")
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        new.write_text(json.dumps({"number": head.number, "hash": head.hash}), encoding="ascii")
        new.replace(file)
    except OSError as error:
        with suppress(OSError):
            new.unlink(missing_ok=True)
        raise StoreError(f"The file {file} cannot be written: {error.strerror}.") from error


async def follow(audits: Audits, folder: Path) -> None:
    """Keep the newest row, where the one kept before still stands under it; say so where not."""
    before = kept(folder) or NOTHING
    after = [link async for link in audits.links(after=max(before.number - 1, 0))]
    stands = not before.number or (
        bool(after) and (after[0].number, after[0].hash) == (before.number, before.hash)
    )
    if not stands:
        _LOG.error(
            "row %d of the audit is gone or another one: nccl-dns audit verify", before.number
        )
    elif after and after[-1].number > before.number:
        keep(folder, Head(number=after[-1].number, hash=after[-1].hash))
