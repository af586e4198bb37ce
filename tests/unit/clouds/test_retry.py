"""Prove waits and pace as numbers, with a clock that only we move."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.clouds.crusoe.pace import Pace
from bot.clouds.crusoe.retry import RetryPolicy, http_date, retry_after
from tests.clock import Clock

NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


def seconds(*numbers: float | None) -> list[timedelta | None]:
    """Return durations of so many seconds."""
    return [None if number is None else timedelta(seconds=number) for number in numbers]


def test_waits_double_and_then_end() -> None:
    """1, 2 and 4 s between four tries, as Crusoe's own node remediation waits."""
    policy = RetryPolicy()

    assert [policy.delay(failures) for failures in (1, 2, 3, 4, 5)] == seconds(1, 2, 4, None, None)


def test_no_wait_is_longer_than_the_longest() -> None:
    """However many tries there are."""
    policy = RetryPolicy(tries=10_000, longest=timedelta(seconds=30))

    assert policy.delay(9_999) == timedelta(seconds=30)


@given(
    st.integers(1, 3),
    st.none() | st.timedeltas(timedelta(0), timedelta(seconds=60)),
    st.floats(0, 1, exclude_max=True),
)
def test_never_sooner_than_asked(failures: int, asked: timedelta | None, jitter: float) -> None:
    """Chance makes a wait longer, by a quarter at most, and never shorter."""
    policy = RetryPolicy()

    wait = policy.delay(failures, asked=asked, jitter=jitter)

    least = max(timedelta(seconds=2 ** (failures - 1)), asked or timedelta(0))
    assert wait is not None
    assert least <= wait <= least * 1.25 + timedelta(microseconds=1)


def test_an_hour_is_not_waited_for() -> None:
    """Beyond patience the caller is told instead of kept."""
    assert RetryPolicy().delay(1, asked=timedelta(hours=1)) is None


@pytest.mark.parametrize(
    ("value", "wait"),
    [
        (None, None),
        ("", None),
        ("0", 0),
        (" 17 ", 17),
        ("99999999999999999999", 86_400),
        ("-5", None),
        ("1.5", None),
        ("soon", None),
        ("²", None),
        ("Fri, 02 Jan 2026 03:04:35 GMT", 30),
        ("Fri, 02 Jan 2026 03:00:00 GMT", 0),
        ("Fri, 99 Jan 2026 03:00:00 GMT", None),
    ],
)
def test_retry_after_is_seconds_or_a_date(value: str | None, wait: float | None) -> None:
    """A date counts from the answer's own, so that our clock does not matter."""
    assert [retry_after(value, date=NOW)] == seconds(wait)


@given(st.text())
def test_no_header_can_break_it(value: str) -> None:
    """Whatever stands there, the outcome is a wait that is not negative, or none."""
    wait = retry_after(value, date=NOW)

    assert wait is None or wait >= timedelta(0)


def test_a_date_without_a_zone_is_utc() -> None:
    """`-0000` says that the zone is not known; HTTP has but one."""
    assert http_date("Fri, 02 Jan 2026 03:04:05 -0000") == NOW


@given(
    st.integers(1, 5),
    st.lists(st.floats(0, 40, allow_nan=False), max_size=40),
    st.floats(0.5, 1e6),
)
def test_no_window_holds_more_than_the_pace(
    requests: int, gaps: list[float], uptime: float
) -> None:
    """Whenever requests are asked for, any window of a minute sees no more than so many."""
    clock = Clock()
    clock.advance(uptime)
    starts: list[float] = []

    async def run() -> None:
        pace = Pace(timing=clock.timing, requests=requests)
        for gap in gaps:
            clock.advance(gap)
            await pace.turn()
            starts.append(clock.seconds())

    asyncio.run(run())

    pairs = zip(starts, starts[requests:], strict=False)
    assert all(later - earlier >= 60 for earlier, later in pairs)


def test_those_in_line_wait_together() -> None:
    """Many at once go in the order they came and stay within the pace."""
    clock = Clock()
    order: list[int] = []

    async def one(pace: Pace, number: int) -> None:
        await pace.turn()
        order.append(number)

    async def run() -> None:
        pace = Pace(timing=clock.timing, requests=2)
        await asyncio.gather(*(one(pace, number) for number in range(5)))

    asyncio.run(run())

    assert order == [0, 1, 2, 3, 4]
    assert clock.seconds() > 120


def test_a_hold_stops_everybody() -> None:
    """After the API asked for a wait nothing starts before its end; a shorter one adds nothing."""
    clock = Clock()

    async def run() -> None:
        pace = Pace(timing=clock.timing)
        pace.hold(timedelta(seconds=20))
        pace.hold(timedelta(seconds=5))
        await pace.turn()

    asyncio.run(run())

    assert clock.slept == [20.0]


def test_a_pace_of_nothing_is_refused() -> None:
    """It could never let anything start."""
    with pytest.raises(ValueError, match="at least one"):
        Pace(timing=Clock().timing, requests=0)
