"""Many who ask at once share one listing."""

from __future__ import annotations

import asyncio
from collections.abc import Collection

import pytest

from bot.clouds.errors import CloudUnavailableError
from bot.clouds.memory import MemoryCloud
from bot.clouds.model import Action, Vm, VmState
from bot.clouds.shared import FRESH, SharedReads
from tests.clock import Clock
from tests.unit.clouds.test_model import VM

pytestmark = pytest.mark.anyio


class _Counted(MemoryCloud):
    """Counts listings, and holds them up while `go` is not set."""

    def __init__(self) -> None:
        super().__init__([VM])
        self.asked = 0
        self.go = asyncio.Event()
        self.go.set()
        self.fails = False

    async def list(
        self, *, names: Collection[str] | None = None, ids: Collection[str] | None = None
    ) -> tuple[Vm, ...]:
        self.asked += 1
        await self.go.wait()
        if self.fails:
            raise CloudUnavailableError("The cloud does not answer.")
        return await super().list(names=names, ids=ids)


async def test_who_asks_at_once_shares_a_listing() -> None:
    """However many ask at one time, the cloud is asked once; a few seconds later it is anew."""
    cloud, clock = _Counted(), Clock()
    shared = SharedReads(cloud, timing=clock.timing)
    answers = await asyncio.gather(*(shared.list() for _ in range(50)))
    assert {answer[0].id for answer in answers} == {VM.id}
    clock.advance(FRESH.total_seconds())
    await shared.list()
    assert cloud.asked == 1
    clock.advance(1)
    await shared.list()
    assert cloud.asked == 2


async def test_one_on_its_way_is_never_too_old() -> None:
    """However long a key has to wait for its pace, those who come later wait for the same call."""
    cloud, clock = _Counted(), Clock()
    cloud.go.clear()
    shared = SharedReads(cloud, timing=clock.timing)
    first = asyncio.create_task(shared.list())
    await asyncio.sleep(0)
    clock.advance(60)
    second = asyncio.create_task(shared.list())
    await asyncio.sleep(0)
    cloud.go.set()
    await asyncio.gather(first, second)
    assert cloud.asked == 1


async def test_who_gives_up_takes_it_from_nobody() -> None:
    """The others get the listing that was asked for by somebody who waits no longer."""
    cloud = _Counted()
    cloud.go.clear()
    shared = SharedReads(cloud)
    first, second = (asyncio.create_task(shared.list()) for _ in range(2))
    await asyncio.sleep(0)
    first.cancel()
    await asyncio.gather(first, return_exceptions=True)
    cloud.go.set()
    assert (await second)[0].id == VM.id
    assert cloud.asked == 1


async def test_a_failure_is_not_kept() -> None:
    """All who waited are told of a failure; the next one asks again."""
    cloud = _Counted()
    cloud.fails = True
    shared = SharedReads(cloud)
    told = await asyncio.gather(*(shared.list() for _ in range(3)), return_exceptions=True)
    assert [type(one) for one in told] == [CloudUnavailableError] * 3
    assert cloud.asked == 1
    cloud.fails = False
    assert await shared.list()


async def test_nothing_from_before_an_action() -> None:
    """After an action a listing is asked for anew, however fresh the last one is."""
    cloud = _Counted()
    shared = SharedReads(cloud)
    await shared.list()
    await shared.act(VM.id, Action.STOP)
    await shared.list()
    assert cloud.asked == 2


async def test_everything_else_is_asked_each_time() -> None:
    """Filters, one VM and operations come from the cloud itself."""
    cloud = _Counted()
    shared = SharedReads(cloud)
    await shared.list()
    cloud.set_state(VM.id, "STATE_ERROR")
    assert (await shared.list(names=[VM.name]))[0].state is VmState.ERROR
    assert (await shared.get(VM.id)).state is VmState.ERROR
    cloud.set_state(VM.id, "STATE_SHUTOFF")
    begun = await shared.act(VM.id, Action.START)
    assert (await shared.operation(begun.id)).id == begun.id
    assert [one.id for one in await shared.operations(VM.id)] == [begun.id]


async def test_closing_ends_what_nobody_waits_for() -> None:
    """A listing that is on its way does not outlive what shares it."""
    cloud = _Counted()
    cloud.go.clear()
    shared = SharedReads(cloud)
    waiting = asyncio.create_task(shared.list())
    await asyncio.sleep(0)
    await shared.close()
    assert isinstance((await asyncio.gather(waiting, return_exceptions=True))[0], BaseException)
