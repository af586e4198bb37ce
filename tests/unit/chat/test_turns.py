"""Whose turn it is when many ask at once."""

from __future__ import annotations

import asyncio

import pytest

from bot.chat.turns import Turn, Turns

pytestmark = pytest.mark.anyio
_MANY = 20


@pytest.fixture
def anyio_backend() -> str:
    """Run on asyncio, as the product does."""
    return "asyncio"


async def _settled() -> None:
    for _ in range(10):
        await asyncio.sleep(0)


async def _held(turns: Turns, begun: list[Turn], over: asyncio.Event) -> None:
    async with turns.first() as turn:
        begun.append(turn)
        await over.wait()


async def test_only_some_at_a_time() -> None:
    """Of many, some begin, and each that ends lets one more begin; in the end all have."""
    turns, begun, over = Turns(), list[Turn](), asyncio.Event()
    tasks = [asyncio.create_task(_held(turns, begun, over)) for _ in range(_MANY)]
    await _settled()
    assert 0 < len(begun) < _MANY
    over.set()
    await asyncio.gather(*tasks)
    assert len(begun) == _MANY


async def test_a_slow_one_passes_its_turn_on() -> None:
    """Whoever waits for others lets the next begin, once, though it is not over itself."""
    turns, begun, over = Turns(), list[Turn](), asyncio.Event()
    tasks = [asyncio.create_task(_held(turns, begun, over)) for _ in range(_MANY)]
    await _settled()
    before = len(begun)
    begun[0].pass_on()
    begun[0].pass_on()
    await _settled()
    assert len(begun) == before + 1
    over.set()
    await asyncio.gather(*tasks)
    again = [asyncio.create_task(_held(turns, begun, asyncio.Event())) for _ in range(_MANY)]
    await _settled()
    assert len(begun) == _MANY + before
    for task in again:
        task.cancel()


async def test_the_rest_waits_for_quiet() -> None:
    """What can wait goes on when nobody is left who waits for a first report."""
    turns, begun, over = Turns(), list[Turn](), asyncio.Event()
    tasks = [asyncio.create_task(_held(turns, begun, over)) for _ in range(_MANY)]
    await _settled()
    rest = asyncio.create_task(turns.others())
    await _settled()
    assert not rest.done()
    over.set()
    await asyncio.gather(*tasks, rest)


async def test_one_that_is_given_up_in_the_line() -> None:
    """Who gives up before their turn takes none away, and is waited for no longer."""
    turns, begun, over = Turns(), list[Turn](), asyncio.Event()
    tasks = [asyncio.create_task(_held(turns, begun, over)) for _ in range(_MANY)]
    await _settled()
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    await turns.others()
    async with turns.first():
        pass
