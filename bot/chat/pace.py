"""One message a second in a channel, and a few at once before that holds."""

from __future__ import annotations

import asyncio
import time
from collections import defaultdict

#: https://docs.slack.dev/apis/web-api/rate-limits: one a second, short bursts are let through
EVERY_S = 1.0
BURST = 3


class Pace:
    """Lets whoever wants to speak in a channel wait for a turn, in order."""

    def __init__(self, *, every_s: float = EVERY_S, burst: int = BURST) -> None:
        self._every = every_s
        self._allowance = (burst - 1) * every_s
        self._next: dict[str, float] = defaultdict(float)

    async def turn(self, channel: str) -> None:
        """Wait until a message may be posted in a channel."""
        now = time.monotonic()
        at = max(self._next[channel], now - self._allowance)
        self._next[channel] = at + self._every
        if at > now:
            await asyncio.sleep(at - now)
