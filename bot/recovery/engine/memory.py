"""An engine in memory: for tests and dry looks; what it runs ends with the process."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from datetime import timedelta
from typing import Any

from bot.recovery.engine.port import Carry, Durable, Engine, Part, Status


class MemoryDurable(Durable):
    """Keeps results in a dictionary that may be handed to a second try."""

    def __init__(self, kept: dict[str, Any] | None = None) -> None:
        #: name of a part → what it returned
        self.kept: dict[str, Any] = {} if kept is None else kept

    async def once(self, name: str, part: Part) -> Any:  # noqa: ANN401
        """Do a part that has no result yet."""
        if name not in self.kept:
            self.kept[name] = await part()
        return self.kept[name]

    async def sleep(self, lasting: timedelta) -> None:
        """Wait in this process."""
        await asyncio.sleep(lasting.total_seconds())


class MemoryEngine(Engine):
    """Runs chains as tasks of this process."""

    def __init__(self, carry: Carry) -> None:
        self._carry = carry
        self._tasks: dict[str, asyncio.Task[None]] = {}

    async def start(self, approval_id: str) -> None:
        """Start a chain that was not started here before."""
        if approval_id not in self._tasks:
            doing = self._carry(MemoryDurable(), approval_id)
            self._tasks[approval_id] = asyncio.ensure_future(doing)

    async def status(self, approval_id: str) -> Status:
        """Return where a chain stands."""
        task = self._tasks.get(approval_id)
        if task is None:
            return Status.UNKNOWN
        if not task.done():
            return Status.RUNNING
        if task.cancelled():
            return Status.CANCELLED
        return Status.BROKEN if task.exception() else Status.DONE

    async def cancel(self, approval_id: str) -> None:
        """Cancel a chain."""
        task = self._tasks.get(approval_id)
        if task is not None:
            task.cancel()

    async def wait(self, approval_id: str) -> None:
        """Wait for a chain."""
        task = self._tasks.get(approval_id)
        if task is not None:
            with suppress(asyncio.CancelledError):
                await asyncio.wait([task])

    def holds(self) -> bool:
        """Nobody else knows of what runs here."""
        return True
