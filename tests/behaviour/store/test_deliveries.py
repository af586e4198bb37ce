"""What Slack delivered is done, once, whatever dies in between."""

from __future__ import annotations

import anyio
import pytest

from bot.errors import InputError, StoreError
from bot.incidents.database import add_new
from bot.incidents.delivery import Delivery
from bot.incidents.fields import as_row
from bot.incidents.store import Store, open_store
from bot.incidents.tables import DELIVERIES
from tests.behaviour.store.rows import AT, DAY, MINUTE, SECOND, delivery, opened

pytestmark = pytest.mark.anyio


async def take(store: Store, by: str = "replica-1", *, minutes: int = 0) -> list[str]:
    """Take all there is, for a minute, and return the IDs."""
    taken = await store.deliveries.take(by=by, at=AT + minutes * MINUTE, lease=MINUTE, limit=100)
    return [one.id for one in taken]


async def test_a_delivery_is_kept_once(store: Store) -> None:
    """The second of two with one ID is a repetition, whatever it holds."""
    assert await store.deliveries.receive(delivery("E1"))
    assert not await store.deliveries.receive(delivery("E1", payload={"value": "other"}))

    (kept,) = await store.deliveries.take(by="replica-1", at=AT, lease=MINUTE)
    assert kept == delivery("E1", taken_by="replica-1", taken_until=AT + MINUTE, tries=1)


async def test_a_repetition_that_reaches_both_replicas_is_kept_once(url: str) -> None:
    """Slack delivers again to whichever connection it likes."""
    new: list[bool] = []

    async def receive(store: Store) -> None:
        new.append(await store.deliveries.receive(delivery("E1")))

    async with open_store(url) as one, open_store(url) as other, anyio.create_task_group() as tasks:
        for store in (one, other) * 4:
            tasks.start_soon(receive, store)

    assert sorted(new) == [False] * 7 + [True]


async def test_who_receives_may_take_at_once(store: Store) -> None:
    """One insert does both; others get it when the lease is over."""
    mine = delivery("E1", taken_by="replica-1", taken_until=AT + MINUTE, tries=1)

    assert await store.deliveries.receive(mine)

    assert await take(store, "replica-2") == []
    assert await take(store, "replica-2", minutes=1) == ["E1"]


async def test_the_oldest_are_taken_first_and_once(store: Store) -> None:
    """In the order in which they came, as many as asked for."""
    for number in (3, 1, 2):
        await store.deliveries.receive(delivery(f"E{number}", received_at=AT + number * SECOND))

    first = await store.deliveries.take(by="replica-1", at=AT, lease=MINUTE, limit=2)

    assert [one.id for one in first] == ["E1", "E2"]
    assert await take(store) == ["E3"]
    assert await take(store) == []


async def test_replicas_share_what_is_undone(url: str) -> None:
    """No two take one delivery, and none is left."""
    taken: list[str] = []

    async def work(store: Store, by: str) -> None:
        while batch := await store.deliveries.take(by=by, at=AT, lease=MINUTE, limit=3):
            taken.extend(one.id for one in batch)

    async with open_store(url) as one, open_store(url) as other:
        for number in range(40):
            await one.deliveries.receive(delivery(f"E{number}"))
        async with anyio.create_task_group() as tasks:
            for number, store in enumerate((one, other, one, other)):
                tasks.start_soon(work, store, f"replica-{number}")
        left = await one.deliveries.take(by="last", at=AT, lease=MINUTE, limit=40)

    # a replica that meets only rows that others are just taking goes home early
    assert sorted(taken + [one.id for one in left]) == sorted(f"E{number}" for number in range(40))


async def test_a_dead_replicas_deliveries_are_taken_over(store: Store) -> None:
    """When its lease is over, and not while it is extended."""
    await store.deliveries.receive(delivery("E1"))
    await take(store, "replica-1")

    assert await store.deliveries.extend("E1", by="replica-1", until=AT + 3 * MINUTE)
    assert await take(store, "replica-2", minutes=2) == []
    assert await take(store, "replica-2", minutes=3) == ["E1"]
    # the first one was only slow, and learns that it is no longer its own
    assert not await store.deliveries.extend("E1", by="replica-1", until=AT + 9 * MINUTE)


async def test_what_is_done_is_not_taken_again(store: Store) -> None:
    """Nor is its text kept, which nobody has redacted."""
    await store.deliveries.receive(delivery("E1", payload={"text": "hf_s3cret"}))
    await take(store)

    assert await store.deliveries.done("E1", at=AT)
    assert not await store.deliveries.done("E1", at=AT + SECOND)

    assert await take(store, minutes=9) == []
    assert await store.deliveries.undone() == 0
    assert not await store.deliveries.receive(delivery("E1"))
    async with store.database.reading() as connection:
        rows = await connection.exec_driver_sql("SELECT * FROM deliveries")
        assert "s3cret" not in str(rows.all())


async def test_what_kills_whoever_takes_it_is_given_up(store: Store) -> None:
    """After five tries it is left to a person, who finds it in a list."""
    await store.deliveries.receive(delivery("E1"))
    for minute in range(5):
        assert await take(store, minutes=minute) == ["E1"]

    assert await take(store, minutes=5) == []
    (left,) = await store.deliveries.given_up()
    assert (left.id, left.tries, left.payload) == ("E1", 5, {"value": "E1"})
    assert await store.deliveries.undone() == 1


async def test_an_insert_may_be_given_up(url: str) -> None:
    """Who stops waiting is free while the database still hangs, and nothing is lost or doubled."""
    async with open_store(url) as busy, open_store(url) as store:
        async with busy.database.writing() as connection:
            await add_new(connection, DELIVERIES, as_row(delivery("E1")))
            with pytest.raises(TimeoutError), anyio.fail_after(0.2):
                await store.deliveries.receive(delivery("E1"))
            # nothing but this frees the other insert: it hung when its caller was free
            await connection.rollback()

        await store.deliveries.receive(delivery("E1"))
        assert await take(store) == ["E1"]


async def test_a_store_that_closes_waits_for_what_was_given_up(url: str) -> None:
    """Whether it is kept does not depend on how fast the bot stops."""
    async with open_store(url) as busy:
        async with open_store(url) as store, busy.database.writing() as connection:
            await add_new(connection, DELIVERIES, as_row(delivery("E1")))
            with pytest.raises(TimeoutError), anyio.fail_after(0.2):
                await store.deliveries.receive(delivery("E1"))
            await connection.rollback()

        assert await take(busy) == ["E1"]


async def test_old_ones_are_purged(store: Store) -> None:
    """What is done goes after a while, what is not only with everything else of its age."""
    for name in ("old", "new", "undone"):
        await store.deliveries.receive(delivery(name))
    await store.deliveries.done("old", at=AT)
    await store.deliveries.done("new", at=AT + DAY)

    assert await store.deliveries.purge(AT + MINUTE) == 1
    assert await take(store) == ["undone"]
    assert not await store.deliveries.receive(delivery("new"))
    assert await store.forget(AT + MINUTE) == 2


@pytest.mark.parametrize("foreign", ["a\0b", "lone \udcff surrogate", "\U0001f525é", "x" * 10**6])
async def test_a_payload_comes_back_as_it_came(store: Store, foreign: str) -> None:
    """Whatever somebody pasted."""
    await store.deliveries.receive(delivery("E1", payload={foreign: [foreign]}))

    (kept,) = await store.deliveries.take(by="replica-1", at=AT, lease=MINUTE)

    assert kept.payload == {foreign: [foreign]}


@pytest.mark.parametrize("name", ["a\0b", "\udcff", "x" * 10**6])
def test_an_id_that_cannot_be_kept_is_refused(name: str) -> None:
    """Altered, it could be another delivery's."""
    with pytest.raises(InputError, match="The id of the delivery has"):
        delivery(name)


async def test_a_database_that_is_gone_is_said_so(url: str) -> None:
    """Then there is no ack, and Slack delivers again."""
    async with open_store(url) as store:
        async with store.database.writing() as connection:
            await connection.exec_driver_sql("DROP TABLE deliveries")

        with pytest.raises(StoreError, match="does not answer as it should"):
            await store.deliveries.receive(delivery("E1"))


def test_a_time_without_a_zone_is_refused() -> None:
    """It would be read as another hour on another machine."""
    with pytest.raises(ValueError, match="received_at of the delivery has no time zone"):
        Delivery(id="E1", type="x", payload={}, received_at=AT.replace(tzinfo=None))


async def test_a_delivery_waits_for_no_crowd(store: Store) -> None:
    """However much else reads and waits to write, there is a connection for it."""
    inside = anyio.Semaphore(0)
    leave = anyio.Event()

    async def read() -> None:
        async with store.database.reading():
            inside.release()
            await leave.wait()

    async def write(name: str) -> None:
        await opened(store, key=name)

    async with anyio.create_task_group() as tasks:
        for number in range(30):
            tasks.start_soon(read)
            tasks.start_soon(write, str(number))
        for _ in range(10):
            await inside.acquire()
        with anyio.fail_after(30):
            assert await store.deliveries.receive(delivery("E1"))
        leave.set()
