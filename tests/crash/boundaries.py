"""Every place at which something durable or something outside changes, to be killed at."""

from __future__ import annotations

import os
import random
import signal
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any

from bot.recovery.engine.port import Durable, Part


@dataclass(kw_only=True)
class Boundaries:
    """Counts the boundaries that this process comes to, and kills it at one of them."""

    #: the number of the one, from 1; 0 for none
    kill_at: int = 0
    #: kill at each with this chance instead
    chance: float = 0.0
    rng: random.Random = field(default_factory=random.Random)
    #: where the names of those that were reached are kept
    trace: Path | None = None
    count: int = 0

    def reach(self, name: str) -> None:
        """Come to a boundary; does not return where it is the one."""
        self.count += 1
        if self.trace is not None:
            with self.trace.open("a", encoding="utf-8") as file:
                file.write(f"{self.count} {name}\n")
        if self.count == self.kill_at or self.rng.random() < self.chance:
            os.kill(os.getpid(), signal.SIGKILL)

    def after(
        self, name: str, call: Callable[..., Awaitable[Any]]
    ) -> Callable[..., Awaitable[Any]]:
        """Return a call with a boundary after it; what is before it is the one before."""

        async def called(*given: Any, **named: Any) -> Any:  # noqa: ANN401
            told = await call(*given, **named)
            self.reach(f"after {name}")
            return told

        return called


@dataclass(frozen=True, kw_only=True)
class Watched(Durable):
    """A workflow whose parts have boundaries: done but not kept, and kept."""

    durable: Durable
    boundaries: Boundaries

    async def once(self, name: str, part: Part) -> Any:  # noqa: ANN401
        """Do a part once."""

        async def done() -> Any:  # noqa: ANN401
            told = await part()
            self.boundaries.reach(f"{name} done, not kept")
            return told

        told = await self.durable.once(name, done)
        self.boundaries.reach(f"{name} kept")
        return told

    async def sleep(self, lasting: timedelta) -> None:
        """Wait."""
        await self.durable.sleep(lasting)
        self.boundaries.reach("slept")
