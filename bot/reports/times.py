"""Read the times that logs have: often without zone, sometimes without year or day. Pure."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

_NO_YEAR = re.compile(r"\d\d-\d\dT")
_CLOCK_ALONE = re.compile(r"\d\d:\d\d")
#: A log's clock may be so far ahead of ours before its time is taken to be of last year, or day.
_AHEAD = timedelta(hours=14)


def has_zone(told: str) -> bool:
    """Tell whether a log's time says in which zone it is."""
    try:
        return datetime.fromisoformat(_python(told)).tzinfo is not None
    except ValueError:
        return False


def log_time(told: str, now: datetime) -> datetime | None:
    """Return a log's time, as if in UTC where it has no zone; None for what is no time.

    A year or a day that is missing is the last one that does not lie ahead of `now`.
    """
    if _CLOCK_ALONE.match(told):
        return _before(f"{now:%Y-%m-%d}T{told}", now, timedelta(days=1))
    if _NO_YEAR.match(told):
        this_year = _before(f"{now.year}-{told}", now, None)
        return this_year or _before(f"{now.year - 1}-{told}", now, None)
    return _parsed(told)


def _before(told: str, now: datetime, step: timedelta | None) -> datetime | None:
    """Return a time that is not ahead of now, a step earlier where it would be."""
    found = _parsed(told)
    if found is None or found <= now + _AHEAD:
        return found
    return found - step if step else None


def _parsed(told: str) -> datetime | None:
    try:
        found = datetime.fromisoformat(_python(told))
    except ValueError:
        return None
    return found if found.tzinfo else found.replace(tzinfo=UTC)


def _python(told: str) -> str:
    """Cut a fraction to the six digits that Python knows."""
    return re.sub(r"(\.\d{6})\d+", r"\1", told)
