"""The clock as one value, so that waits and times can be someone else's in tests and demos."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC, datetime


def utc_now() -> datetime:
    """Return the time of day, aware and in UTC."""
    return datetime.now(UTC)


@dataclass(frozen=True, kw_only=True, slots=True)
class Timing:
    """Everything that depends on real time or chance."""

    #: time of day, aware and in UTC
    now: Callable[[], datetime] = utc_now
    #: seconds that only grow
    monotonic: Callable[[], float] = time.monotonic
    #: wait this many seconds
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    #: a number in [0, 1) that spreads clients which failed together
    jitter: Callable[[], float] = random.random
