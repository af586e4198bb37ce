"""How the store keeps values that databases hold differently: times, other people's text, JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import DateTime, Dialect, String
from sqlalchemy.types import TypeDecorator

from bot.errors import InputError


class UtcTime(TypeDecorator[datetime]):
    """An aware time, kept in UTC on databases with and without zones."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """Turn an aware time into UTC; SQLite keeps the digits only."""
        if value is None:
            return None
        utc = value.astimezone(UTC)
        return utc.replace(tzinfo=None) if dialect.name == "sqlite" else utc

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """Give the zone back."""
        del dialect
        if value is None:
            return None
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


class ForeignText(TypeDecorator[str]):
    """Text that others wrote: what a database cannot hold (NUL, half a surrogate) is marked."""

    impl = String
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | None:
        """Replace what PostgreSQL or UTF-8 refuse."""
        del dialect
        if value is None:
            return None
        return (
            value.encode("utf-8", "replace")
            .decode("utf-8")
            .replace("\0", "\N{REPLACEMENT CHARACTER}")
        )


class Json(TypeDecorator[Any]):
    """A JSON value as ASCII text.

    Escaped, every text comes back as it was: PostgreSQL's own types refuse an escaped NUL.
    """

    impl = String
    cache_ok = True

    def process_bind_param(self, value: object, dialect: Dialect) -> str | None:
        """Write the value; raises InputError for what is not JSON."""
        del dialect
        return None if value is None else json_text(value)

    def process_result_value(self, value: str | None, dialect: Dialect) -> object:
        """Read it back."""
        del dialect
        return None if value is None else json.loads(value)


def json_text(value: object) -> str:
    """Return a value as one line of ASCII JSON; raises InputError for what is not JSON."""
    try:
        return json.dumps(value, allow_nan=False, separators=(",", ":"), default=_plain)
    except (TypeError, ValueError, RecursionError) as error:
        raise InputError(f"What is to be kept is not JSON: {error}.") from error


def _plain(value: object) -> object:
    """Take any mapping for an object: values may be read-only ones."""
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"Object of type {type(value).__name__} is not JSON serializable")
