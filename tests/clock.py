"""A clock that moves only when it is told to, or when somebody sleeps."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta

from bot.clouds.timing import Timing

START = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


@dataclass(kw_only=True)
class Clock:
    """Time for one test; sleeping takes none of ours."""

    now: datetime = START
    #: seconds of every sleep, in order
    slept: list[float] = field(default_factory=list)
    #: how far the clock of the other side is ahead of this one
    lead: timedelta = timedelta(0)

    @property
    def timing(self) -> Timing:
        """Return it as what the product asks for; chance never adds to a wait."""
        return Timing(
            now=lambda: self.now,
            monotonic=self.seconds,
            sleep=self.sleep,
            jitter=lambda: 0.0,
        )

    @property
    def other_side(self) -> Timing:
        """Return the clock of whom we talk to."""
        return replace(self.timing, now=lambda: self.now + self.lead)

    def seconds(self) -> float:
        """Return the seconds since the test began."""
        return (self.now - START).total_seconds()

    async def sleep(self, seconds: float) -> None:
        """Let time pass and give others their turn."""
        self.slept.append(seconds)
        self.advance(seconds)
        await asyncio.sleep(0)

    def advance(self, seconds: float) -> None:
        """Let time pass."""
        self.now += timedelta(seconds=seconds)
