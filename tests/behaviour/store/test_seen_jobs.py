"""What was seen of a job stays known, whatever is seen or no longer seen afterwards."""

from __future__ import annotations

from dataclasses import fields, replace
from datetime import UTC, datetime, timedelta, timezone

import anyio
import pytest
from sqlalchemy import text

from bot.incidents.model import SeenJob
from bot.incidents.store import Store, open_store

pytestmark = pytest.mark.anyio

AT = datetime(2030, 1, 2, 3, 4, 5, 678901, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
#: A look at a running job, with everything that a scheduler can tell.
RUNNING = SeenJob(
    cluster="alpha",
    job_id="48213",
    first_seen=AT,
    last_seen=AT,
    state="RUNNING",
    name="pretrain",
    user="kim",
    nodes="node-[0-31]",
    tasks_per_node="8(x31),4",
    distribution="cyclic",
    stdout_path="/scratch/kim/%j.out",
    stderr_path="/scratch/kim/%j.err",
    work_dir="/scratch/kim",
    batch_host="node-0",
    exit_code=None,
    restarts=0,
    submitted_at=AT - MINUTE,
    started_at=AT,
)


def look(minutes: int, **told: object) -> SeenJob:
    """Return a later look at the same job that tells only what is given."""
    at = AT + minutes * MINUTE
    blank = SeenJob(cluster="alpha", job_id="48213", first_seen=at, last_seen=at)
    return replace(blank, **told)  # type: ignore[arg-type]


async def test_a_job_comes_back_as_it_was_seen(store: Store) -> None:
    """Every field survives, times to the microsecond and with their zone."""
    complete = replace(RUNNING, exit_code=1, exit_signal=9, ended_at=AT + MINUTE)
    assert all(getattr(complete, field.name) is not None for field in fields(complete))

    await store.see(complete)

    assert await store.job("alpha", "48213") == complete


async def test_an_unseen_job_is_none(store: Store) -> None:
    """Another cluster's job of that number is another job."""
    await store.see(RUNNING)

    assert await store.job("beta", "48213") is None
    assert await store.job("alpha", "48213_1") is None
    assert await store.runs("beta", "48213") == ()


async def test_a_later_look_updates_and_loses_nothing(store: Store) -> None:
    """When the step is over, its distribution is no longer shown; it stays known."""
    await store.see(RUNNING)

    known = await store.see(look(5, state="FAILED", exit_code=1, ended_at=AT + 4 * MINUTE))

    assert known == replace(
        RUNNING,
        state="FAILED",
        exit_code=1,
        ended_at=AT + 4 * MINUTE,
        last_seen=AT + 5 * MINUTE,
    )
    assert await store.job("alpha", "48213") == known


async def test_a_look_that_tells_nothing_takes_nothing_away(store: Store) -> None:
    """Not even zeros and empty texts, which are told as well."""
    complete = replace(RUNNING, exit_code=0, exit_signal=0, batch_host="", ended_at=AT)
    await store.see(complete)
    await store.see(look(1))

    assert await store.job("alpha", "48213") == replace(complete, last_seen=AT + MINUTE)


async def test_looks_may_arrive_out_of_order(store: Store) -> None:
    """An older look fills gaps but does not overwrite what was seen after it."""
    await store.see(look(5, state="FAILED", exit_code=1))
    await store.see(RUNNING)

    known = await store.job("alpha", "48213")

    assert known is not None
    assert (known.state, known.exit_code, known.distribution) == ("FAILED", 1, "cyclic")
    assert (known.first_seen, known.last_seen) == (AT, AT + 5 * MINUTE)


async def test_a_requeued_job_is_a_run_of_its_own(store: Store) -> None:
    """The new run does not inherit the end and the exit code of the one before."""
    await store.see(replace(RUNNING, state="NODE_FAIL", exit_code=1, ended_at=AT))
    again = look(9, state="RUNNING", submitted_at=AT + MINUTE, restarts=1, nodes="node-[4-35]")
    await store.see(again)

    assert await store.job("alpha", "48213") == again
    assert [run.state for run in await store.runs("alpha", "48213")] == ["RUNNING", "NODE_FAIL"]


async def test_a_number_that_is_used_again_is_another_job(store: Store) -> None:
    """A controller that lost its state counts from 1 again."""
    await store.see(RUNNING)
    await store.see(look(9, name="eval", submitted_at=AT + 8 * MINUTE))

    newest = await store.job("alpha", "48213")

    assert newest is not None
    assert (newest.name, newest.nodes) == ("eval", None)


async def test_a_late_look_at_an_older_run_is_added_to_that_run(store: Store) -> None:
    """Accounting may tell of the first run after the second was seen."""
    await store.see(RUNNING)
    await store.see(look(9, submitted_at=AT + 8 * MINUTE))
    await store.see(look(10, exit_code=7, submitted_at=RUNNING.submitted_at))

    new, old = await store.runs("alpha", "48213")

    assert (new.exit_code, old.exit_code) == (None, 7)


async def test_many_looks_at_once_make_one_job(store: Store) -> None:
    """Concurrent writers neither fail nor lose a field nor make a second run."""
    told = {
        "state": "FAILED", "name": "pretrain", "user": "kim", "nodes": "node-[0-3]",
        "tasks_per_node": "8(x4)", "distribution": "block", "exit_code": 1, "batch_host": "node-0",
    }  # fmt: skip

    async with anyio.create_task_group() as tasks:
        for minute, (name, value) in enumerate(told.items()):
            tasks.start_soon(store.see, look(minute, **{name: value}))

    (known,) = await store.runs("alpha", "48213")
    assert {name: getattr(known, name) for name in told} == told


async def test_two_replicas_make_one_job(url: str) -> None:
    """Two stores on one database, opened and written at once, agree."""

    async def replica(minute: int) -> None:
        async with open_store(url) as mine:
            for number in range(5):
                await mine.see(replace(look(minute), job_id=str(number), restarts=0))

    async with anyio.create_task_group() as tasks:
        for minute in range(3):
            tasks.start_soon(replica, minute)

    async with open_store(url) as store:
        for number in range(5):
            (known,) = await store.runs("alpha", str(number))
            assert (known.first_seen, known.last_seen) == (AT, AT + 2 * MINUTE)


async def test_a_reader_holds_up_no_writer(store: Store) -> None:
    """A long list that somebody reads does not make the watcher miss a look."""
    await store.see(RUNNING)
    async with store.database.reading() as connection:
        await connection.execute(text("SELECT * FROM seen_jobs"))
        with anyio.fail_after(10):
            await store.see(look(1, state="FAILED"))


async def test_what_was_seen_lately_is_listed_latest_first(store: Store) -> None:
    """The list can be limited to a cluster."""
    await store.see(replace(look(0), job_id="1"))
    await store.see(replace(look(2), job_id="2"))
    await store.see(replace(look(3), job_id="3", cluster="beta"))

    lately = await store.seen_since(AT + MINUTE)
    alpha = await store.seen_since(AT, cluster="alpha")

    assert [job.job_id for job in lately] == ["3", "2"]
    assert [job.job_id for job in alpha] == ["2", "1"]


async def test_old_runs_can_be_forgotten(store: Store) -> None:
    """Only what was last seen before the time goes."""
    await store.see(replace(look(0), job_id="1"))
    await store.see(replace(look(2), job_id="2"))

    assert await store.forget(AT + MINUTE) == 1
    assert await store.job("alpha", "1") is None
    assert await store.job("alpha", "2") is not None


async def test_times_are_compared_as_times(store: Store) -> None:
    """A time of another zone is the same moment, in the store as in the question."""
    tokyo = timezone(timedelta(hours=9))
    await store.see(replace(RUNNING, last_seen=AT.astimezone(tokyo)))

    assert await store.job("alpha", "48213") == RUNNING
    assert len(await store.seen_since(AT.astimezone(tokyo))) == 1
    assert await store.seen_since((AT + MINUTE).astimezone(tokyo)) == ()


@pytest.mark.parametrize("name", ["a\0b", "lone \udcff surrogate", "'; DROP TABLE seen_jobs; --"])
async def test_foreign_text_is_taken_as_it_comes(store: Store, name: str) -> None:
    """Names are other people's: what no database holds is marked, the rest is only text."""
    await store.see(replace(RUNNING, name=name))

    known = await store.job("alpha", "48213")

    assert known is not None
    assert known.name == name.replace("\0", "\ufffd").replace("\udcff", "?")


async def test_large_values_fit(store: Store) -> None:
    """Slurm's marker for "no value" exceeds 32 bits, and long lists have no limit."""
    large = replace(RUNNING, exit_code=4294967294, nodes=",".join(f"n{i}x" for i in range(20_000)))

    await store.see(large)

    assert await store.job("alpha", "48213") == large
