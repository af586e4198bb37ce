"""Keep below a number of requests a minute, for all that share one key."""

from __future__ import annotations

import asyncio
from collections import deque
from datetime import timedelta

from bot.clouds.timing import Timing

#: Crusoe documents no limit for the control API; its own MCP server keeps to this many a minute.
REQUESTS_A_MINUTE = 60

#: Past the end of a window, so that rounding cannot let one request too many into it.
_MARGIN = 0.001


class Pace:
    """Let no more than so many requests start in any window; later ones wait in line."""

    def __init__(
        self,
        *,
        timing: Timing,
        requests: int = REQUESTS_A_MINUTE,
        window: timedelta = timedelta(minutes=1),
    ) -> None:
        if requests < 1:
            raise ValueError("a pace needs at least one request a window")
        self._timing = timing
        self._requests = requests
        self._window = window.total_seconds()
        self._starts: deque[float] = deque()
        self._held_until = float("-inf")
        self._line = asyncio.Lock()

    async def turn(self) -> None:
        """Wait until one more request may start, and count it."""
        async with self._line:
            while (wait := self._wait()) > 0:
                await self._timing.sleep(wait)
            self._starts.append(self._timing.monotonic())

    def hold(self, wait: timedelta) -> None:
        """Let nothing start for a while, because the API asked for it."""
        self._held_until = max(self._held_until, self._timing.monotonic() + wait.total_seconds())

    def _wait(self) -> float:
        now = self._timing.monotonic()
        while self._starts and self._starts[0] + self._window < now:
            self._starts.popleft()
        full = len(self._starts) >= self._requests
        free = self._starts[0] + self._window + _MARGIN if full else now
        return max(free, self._held_until) - now
