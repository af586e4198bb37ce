"""Work that would keep the interpreter from the event loop, done in a thread or in a process.

Reading a log holds the interpreter nearly all the time: beside a hundred acknowledgements a second
a thread makes everybody wait, a process of its own nobody.
"""

from __future__ import annotations

import asyncio
import logging
import multiprocessing
import os
import signal
import threading
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, TypeVar

from bot.diagnosis import diagnose_bytes
from bot.errors import InputError

_LOG = logging.getLogger(__name__)
_T = TypeVar("_T")


class Threads:
    """Does work in threads of this process."""

    #: what is handed over is copied into another process, so it must be small
    apart = False

    async def run(self, work: Callable[..., _T], /, *given: Any) -> _T:  # noqa: ANN401
        """Return what the work comes to; it may raise anything."""
        return await asyncio.to_thread(work, *given)


@dataclass(kw_only=True)
class Apart(Threads):
    """Does work in a process of its own, which may die of what it is given without us."""

    _pool: ProcessPoolExecutor | None = None
    #: one after the other: who dies here dies of its own work
    _alone: asyncio.Lock = field(default_factory=asyncio.Lock)
    apart = True

    async def run(self, work: Callable[..., _T], /, *given: Any) -> _T:  # noqa: ANN401
        """Return what the work comes to; work, what is given and what is raised can be pickled.

        Where the process dies, everything that was under way is done again, each in a process of
        its own. Raises InputError for what takes that one down, too.
        """
        pool = self._pool = self._pool or _one()
        loop = asyncio.get_running_loop()
        try:
            return await loop.run_in_executor(pool, work, *given)
        except BrokenProcessPool:
            if self._pool is pool:
                _LOG.error("the process that reads logs died; another one takes its place")
                self._pool = None
                pool.shutdown(wait=False)
        async with self._alone:
            alone = _one()
            try:
                return await loop.run_in_executor(alone, work, *given)
            except BrokenProcessPool:
                raise InputError(
                    "This log took down the process that was reading it, twice. Give the part "
                    "around the failure, and send the log to whoever keeps this bot."
                ) from None
            finally:
                alone.shutdown(wait=False)

    def close(self) -> None:
        """End the process; what is under way comes to nothing."""
        if self._pool is not None:
            self._pool.shutdown(wait=False, cancel_futures=True)
            self._pool = None


@asynccontextmanager
async def apart() -> AsyncIterator[Threads]:
    """Yield what does work in another process; threads where this machine allows none."""
    aside = Apart()
    try:
        await aside.run(os.getpid)
    except OSError as error:
        _LOG.warning("logs are read in this process, since no other one can be had: %s", error)
        yield Threads()
        return
    try:
        yield aside
    finally:
        aside.close()


def _one() -> ProcessPoolExecutor:
    # a fork would copy locks that our threads hold
    context = multiprocessing.get_context("spawn")
    return ProcessPoolExecutor(1, mp_context=context, initializer=_begun)


def _begun() -> None:
    """Leave signals to the bot, end when it ends, and be ready for the first log."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    diagnose_bytes(b"\n")


def _end_with_parent() -> None:
    # a killed bot tells nobody, and the queue that is waited at stays open: we hold it, too
    if parent := multiprocessing.parent_process():
        parent.join()
    os._exit(1)
