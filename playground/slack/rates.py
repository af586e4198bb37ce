"""Rate limits: tiers by the minute, and one message a second in a channel.

Source: docs.slack.dev/apis/web-api/rate-limits. A limit is a bucket that fills evenly: whoever
waited may do several at once, which is the short burst that the page allows without a number.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from playground.slack.clock import Clock
from playground.slack.errors import TooFastError

#: Calls a minute by tier; what is «special» there stands at several hundred.
TIERS = {1: 1, 2: 20, 3: 50, 4: 100, 5: 600}

#: Tier 1 tolerates a small burst, without which nobody could reconnect twice in a minute.
_BURST_LEAST = 10


@dataclass(kw_only=True)
class Bucket:
    """So many at once, and then one in each interval."""

    holds: int
    every: timedelta
    left: float
    at: datetime

    def take(self, now: datetime) -> timedelta:
        """Take one, or return how long to wait for it."""
        self.left = min(self.holds, self.left + (now - self.at) / self.every)
        self.at = now
        if self.left >= 1:
            self.left -= 1
            return timedelta(0)
        return (1 - self.left) * self.every


@dataclass(kw_only=True)
class Rates:
    """The limits of one workspace."""

    clock: Clock
    #: messages that may come at once in a channel before the second's pace holds
    burst: int = 4
    #: false lets everything through, for what measures something else
    on: bool = True
    _buckets: dict[tuple[str, str], Bucket] = field(default_factory=dict)

    def call(self, method: str, token: str, tier: int) -> None:
        """Count a call of a method; raise TooFastError over its tier."""
        most = TIERS[tier]
        every = timedelta(minutes=1) / most
        self._take((method, token), holds=max(most, _BURST_LEAST), every=every)

    def message(self, channel: str) -> None:
        """Count a message in a channel; raise TooFastError above one a second."""
        self._take(("message", channel), holds=self.burst, every=timedelta(seconds=1))

    def _take(self, key: tuple[str, str], *, holds: int, every: timedelta) -> None:
        if not self.on:
            return
        now = self.clock.now()
        bucket = self._buckets.get(key)
        if bucket is None:
            bucket = self._buckets[key] = Bucket(holds=holds, every=every, left=holds, at=now)
        if wait := bucket.take(now):
            raise TooFastError(max(1, math.ceil(wait.total_seconds())))
