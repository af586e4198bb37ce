"""When a request that failed is sent again, as numbers alone."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime


@dataclass(frozen=True, kw_only=True, slots=True)
class RetryPolicy:
    """How often and after which waits.

    Crusoe documents none. Its node remediation waits 1, 2 and 4 s on 409, 429 and 5xx.
    """

    #: times a request is sent at most
    tries: int = 4
    first: timedelta = timedelta(seconds=1)
    longest: timedelta = timedelta(seconds=30)
    #: an asked-for wait longer than this is passed on to the caller instead
    patience: timedelta = timedelta(seconds=60)
    #: how much chance may add to a wait, as a share of it
    spread: float = 0.25

    def delay(
        self, failures: int, *, asked: timedelta | None = None, jitter: float = 0.0
    ) -> timedelta | None:
        """Return the wait after so many failures (from 1), or None to give up.

        Never less than what the API asked for; `jitter` in [0, 1) is the chance.
        """
        if failures >= self.tries or (asked is not None and asked > self.patience):
            return None
        # The exponent is held down so that no number of tries can overflow.
        backoff = min(self.longest, self.first * float(2 ** min(failures - 1, 30)))
        return max(backoff, asked or timedelta(0)) * (1 + self.spread * jitter)


def retry_after(value: str | None, *, date: datetime) -> timedelta | None:
    """Read a Retry-After header, seconds or a date, against the answer's own date (RFC 9110).

    None where it is absent or makes no sense.
    """
    if value is None:
        return None
    text = value.strip()
    if text.isascii() and text.isdigit():
        return timedelta(seconds=min(int(text[:9]), 86_400))
    when = http_date(text)
    return None if when is None else max(when - date, timedelta(0))


def http_date(value: str | None) -> datetime | None:
    """Read a date of HTTP as UTC, or None where there is none."""
    if not value:
        return None
    try:
        when = parsedate_to_datetime(value)
    except (ValueError, OverflowError):
        return None
    return when.replace(tzinfo=UTC) if when.tzinfo is None else when.astimezone(UTC)
