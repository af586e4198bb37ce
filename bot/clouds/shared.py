"""One listing of a cloud for all who ask at about one time: a storm of failures asks the same."""

from __future__ import annotations

import asyncio
from collections.abc import Collection
from dataclasses import dataclass
from datetime import timedelta

from bot.clouds.model import Action, Operation, Vm
from bot.clouds.port import Cloud
from bot.clouds.timing import Timing

#: How old a listing may be that is given again. With fewer, a hundred reports at once would use up
#: what a key may ask in a minute, and the next ones would wait for the rest of it.
FRESH = timedelta(seconds=5)


@dataclass(kw_only=True)
class _Listing:
    reading: asyncio.Task[tuple[Vm, ...]]
    #: when it ended well, on the clock that only grows
    ended_s: float | None = None


class SharedReads(Cloud):
    """A cloud whose listing of all VMs is shared; everything else is asked for each time.

    For reports alone: whoever acts on a VM asks the cloud behind it. Each VM says when it was read.
    """

    def __init__(
        self, cloud: Cloud, *, fresh: timedelta = FRESH, timing: Timing | None = None
    ) -> None:
        self._cloud = cloud
        self._fresh_s = fresh.total_seconds()
        self._timing = timing or Timing()
        self._last: _Listing | None = None

    async def list(
        self, *, names: Collection[str] | None = None, ids: Collection[str] | None = None
    ) -> tuple[Vm, ...]:
        """Return the project's VMs, all of them as of a few seconds ago at most."""
        if names is not None or ids is not None:
            return await self._cloud.list(names=names, ids=ids)
        last = self._last
        if last is None or not self._serves(last):
            last = self._last = _Listing(reading=asyncio.ensure_future(self._cloud.list()))
            last.reading.add_done_callback(lambda _: self._ended(last))
        # whoever gives up must not take it from the others
        return await asyncio.shield(last.reading)

    def _serves(self, last: _Listing) -> bool:
        """Tell whether a listing is under way, or is fresh; one that failed is not kept."""
        if not last.reading.done():
            return True
        age = None if last.ended_s is None else self._timing.monotonic() - last.ended_s
        return age is not None and age <= self._fresh_s

    def _ended(self, last: _Listing) -> None:
        # looked at, for everybody who waited for it may have given up
        if not last.reading.cancelled() and last.reading.exception() is None:
            last.ended_s = self._timing.monotonic()

    async def get(self, vm_id: str) -> Vm:
        """Return one VM as it is now; raises VmNotFoundError."""
        return await self._cloud.get(vm_id)

    async def act(self, vm_id: str, action: Action) -> Operation:
        """Begin an action, after which no older listing is given; raises as `Cloud.act` does."""
        self._last = None
        try:
            return await self._cloud.act(vm_id, action)
        finally:
            self._last = None

    async def operation(self, operation_id: str) -> Operation:
        """Return how far an operation is."""
        return await self._cloud.operation(operation_id)

    async def operations(self, vm_id: str) -> tuple[Operation, ...]:
        """Return the operations on a VM that the cloud still shows."""
        return await self._cloud.operations(vm_id)

    async def close(self) -> None:
        """End a listing that nobody waits for any more."""
        last, self._last = self._last, None
        if last is not None:
            last.reading.cancel()
            await asyncio.gather(last.reading, return_exceptions=True)
