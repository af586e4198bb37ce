"""Whose turn it is when many ask at once: first reports before everything that can wait."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

#: First reports that are made at one time: more of them at once make each one later.
_AT_ONCE = 6
#: Whatever waits for quiet goes on after so long all the same.
_MOST_S = 20.0


class Turns:
    """Lets first reports go first, in the order in which they were asked for."""

    def __init__(self) -> None:
        self._free = asyncio.Semaphore(_AT_ONCE)
        self._first = 0
        self._quiet = asyncio.Event()
        self._quiet.set()

    @asynccontextmanager
    async def first(self) -> AsyncIterator[None]:
        """Make a first report within the block."""
        self._first += 1
        self._quiet.clear()
        try:
            async with self._free:
                yield
        finally:
            self._first -= 1
            if not self._first:
                self._quiet.set()

    async def others(self) -> None:
        """Wait until nobody waits for a first report, for a while at most."""
        with suppress(TimeoutError):
            await asyncio.wait_for(self._quiet.wait(), _MOST_S)
