"""The audit chain: who proposed, decided, ran what and when; each row carries the last one's hash.

Rows hold ids and digests, never other people's text, so that forgetting text breaks no chain. Pure.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256

from bot.incidents.fields import look_over

#: Hash before the first row.
START = "0" * 64


@dataclass(frozen=True, kw_only=True, slots=True)
class Deed:
    """One thing that was done."""

    at: datetime
    #: `proposed`, `approved`, `sent`, `passed`, …
    what: str
    #: Slack user or account; None for the bot by itself
    who: str | None = None
    incident_id: str = ""
    #: id of the approval, run or statement
    about: str = ""
    vm_id: str = ""
    #: of what was seen, or of the words that were said
    digest: str = ""

    def __post_init__(self) -> None:
        """Refuse what the store cannot keep; raises InputError or ValueError."""
        look_over(self, "what", "who", "incident_id", "about", "vm_id", "digest")


@dataclass(frozen=True, kw_only=True, slots=True)
class Link:
    """A deed in its place in the chain."""

    number: int
    deed: Deed
    previous: str
    hash: str


def hashed(number: int, deed: Deed, previous: str) -> str:
    """Return the hash of a row: of every field of it, and of the row before."""
    told = [
        number, deed.at.astimezone(UTC).isoformat(), deed.what, deed.who, deed.incident_id,
        deed.about, deed.vm_id, deed.digest, previous,
    ]  # fmt: skip
    return sha256(json.dumps(told).encode("ascii")).hexdigest()


def digest_of(*words: str) -> str:
    """Return the digest of words that are not kept in the chain themselves."""
    return sha256(json.dumps(words).encode("ascii")).hexdigest()


def broken(links: Iterable[Link], *, last: str = START, number: int = 0) -> str:
    """Say where a chain is broken: a row edited, taken out or put in; empty where it holds."""
    for link in links:
        number += 1
        if link.number != number:
            return f"Row {number} is missing: the next one is {link.number}."
        if link.previous != last:
            return f"Row {number} does not follow the row before it."
        if link.hash != hashed(link.number, link.deed, link.previous):
            return f"Row {number} is not as it was written."
        last = link.hash
    return ""
