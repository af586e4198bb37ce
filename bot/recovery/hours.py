"""Working hours, as settings write them: `09:00-18:00 Europe/Berlin`, `Mon-Fri 09:00-18:00 UTC`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime, time
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

_DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_WRITTEN = re.compile(
    r"(?:(?P<first>[A-Za-z]{3})-(?P<last>[A-Za-z]{3})\s+)?"
    r"(?P<start>\d\d:\d\d)-(?P<end>\d\d:\d\d)\s+(?P<zone>[A-Za-z0-9_+/-]+)"
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Hours:
    """A part of each day, or of some days of the week; it may go on past midnight."""

    text: str
    start: time
    end: time
    zone: ZoneInfo
    #: 0 is Monday; the day on which it starts
    days: frozenset[int] = frozenset(range(7))

    @classmethod
    def parse(cls, text: str) -> Hours:
        """Return the hours that a text means; raises ValueError with a sentence."""
        found = _WRITTEN.fullmatch(text.strip())
        if found is None:
            raise ValueError(f"{text!r} are no hours: write 'Mon-Fri 09:00-18:00 Europe/Berlin'.")
        try:
            start, end = (time.fromisoformat(found[name]) for name in ("start", "end"))
            zone = ZoneInfo(found["zone"])
            days = _days(found["first"] or "mon", found["last"] or "sun")
        except ZoneInfoNotFoundError:
            raise ValueError(f"This machine knows no time zone {found['zone']}.") from None
        except ValueError as error:
            raise ValueError(f"{text!r} are no hours: {error}.") from None
        return cls(text=text.strip(), start=start, end=end, zone=zone, days=days)

    def hold(self, at: datetime) -> bool:
        """Tell whether a time is within them; their end is not."""
        local = at.astimezone(self.zone)
        now, day = local.time(), local.weekday()
        if self.start <= self.end:
            return day in self.days and self.start <= now < self.end
        if now >= self.start:
            return day in self.days
        return now < self.end and (day - 1) % 7 in self.days


def _days(first: str, last: str) -> frozenset[int]:
    begin, end = (_DAYS.index(one.lower()) if one.lower() in _DAYS else -1 for one in (first, last))
    if min(begin, end) < 0:
        raise ValueError(f"days are {', '.join(one.title() for one in _DAYS)}")
    count = (end - begin) % 7 + 1
    return frozenset((begin + number) % 7 for number in range(count))
