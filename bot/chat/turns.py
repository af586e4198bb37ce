"""Whose turn it is when many ask at once: first reports before everything that can wait."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
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
    async def first(self) -> AsyncIterator[Turn]:
        """Make a first report within the block, which may pass its turn on before it ends."""
        self._first += 1
        self._quiet.clear()
        turn = Turn(self._over)
        try:
            await self._free.acquire()
            turn.taken = True
            yield turn
        finally:
            turn.pass_on()

    def _over(self, *, taken: bool) -> None:
        if taken:
            self._free.release()
        self._first -= 1
        if not self._first:
            self._quiet.set()

    async def others(self) -> None:
        """Wait until nobody waits for a first report, for a while at most."""
        with suppress(TimeoutError):
            await asyncio.wait_for(self._quiet.wait(), _MOST_S)


class Turn:
    """One report's turn."""

    def __init__(self, over: Callable[..., None]) -> None:
        self._over = over
        self.taken = False
        self._passed = False

    def pass_on(self) -> None:
        """Let the next one begin: what is waited for now costs nothing here."""
        if not self._passed:
            self._passed = True
            self._over(taken=self.taken)
