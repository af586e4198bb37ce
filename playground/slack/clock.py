"""Time as the workspace sees it: real, or moved by hand."""

from __future__ import annotations

import asyncio
import itertools
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Protocol


class Clock(Protocol):
    """What limits and time-outs are measured with."""

    def now(self) -> datetime:
        """Return the time, aware and in UTC."""

    async def sleep(self, duration: timedelta) -> None:
        """Wait so long."""


class RealClock:
    """The machine's clock."""

    def now(self) -> datetime:
        """Return the time, aware and in UTC."""
        return datetime.now(UTC)

    async def sleep(self, duration: timedelta) -> None:
        """Wait so long."""
        await asyncio.sleep(duration.total_seconds())


@dataclass(kw_only=True)
class HandClock:
    """A clock that stands still until somebody moves it."""

    time: datetime = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
    _waiting: list[tuple[datetime, int, asyncio.Event]] = field(default_factory=list)
    _numbers: itertools.count[int] = field(default_factory=itertools.count)

    def now(self) -> datetime:
        """Return the time that it stands at."""
        return self.time

    def waits(self) -> list[timedelta]:
        """Return how far it has to be moved until each of those who wait goes on."""
        return sorted(wait[0] - self.time for wait in self._waiting)

    async def sleep(self, duration: timedelta) -> None:
        """Wait until it has been moved so far."""
        wait = (self.time + duration, next(self._numbers), asyncio.Event())
        self._waiting.append(wait)
        try:
            await wait[2].wait()
        finally:
            if wait in self._waiting:
                self._waiting.remove(wait)

    async def advance(self, duration: timedelta) -> None:
        """Move it; whoever has waited long enough gets a turn, in order."""
        end = self.time + duration
        while self._waiting and min(self._waiting)[0] <= end:
            first = min(self._waiting)
            self._waiting.remove(first)
            self.time = max(self.time, first[0])
            first[2].set()
            await asyncio.sleep(0)
        self.time = end
        await asyncio.sleep(0)
