"""Prove the rules of the port on every adapter."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from bot.diagnosis import diagnose
from bot.diagnosis.kinds import Cause
from bot.fleet.placement import Known
from bot.schedulers.errors import (
    NodeHeldError,
    NotOursError,
    UnknownJobError,
    UnknownNodeError,
)
from bot.schedulers.excerpts import sources
from bot.schedulers.model import JobState
from bot.schedulers.placing import placement
from tests.behaviour.schedulers.world import LOOKUP_FAILED, World

pytestmark = pytest.mark.anyio


async def test_a_failed_job_is_found_with_what_a_report_needs(world: World) -> None:
    """An ended job tells state, exit code, nodes in order, tasks and times."""
    number = world.failed()

    job = await world.scheduler.job(world.id(number))

    assert (job.label, job.state, job.exit_code) == (world.label(number), JobState.FAILED, 1)
    assert (job.nodes, job.ntasks, job.ntasks_per_node) == (("n0", "n1"), 4, 2)
    assert (job.batch, job.name) == (True, world.name(number))
    assert job.submitted_at is not None
    assert job.started_at is not None
    assert job.ended_at is not None
    assert abs(datetime.now(UTC) - job.ended_at) < timedelta(minutes=2)


async def test_a_job_that_waits_is_an_answer(world: World) -> None:
    """Before its start a job has no nodes and no log, and says so."""
    job = await world.scheduler.job(world.id(world.waiting()))
    logs = await world.scheduler.logs(job)

    assert (job.state, job.nodes, job.started_at) == (JobState.PENDING, (), None)
    assert f"has not started ({world.waits_for}" in job.waits_because
    assert logs.files == ()
    assert logs.notes == (job.waits_because,)
    assert await world.scheduler.nodes(job) == ()


async def test_the_ranks_of_a_running_job_are_placed(world: World) -> None:
    """A job that runs has no end, not even one that is planned, and each rank has its node."""
    job = await world.scheduler.job(world.id(world.running()))
    placed = placement(job)

    assert (job.state, job.ended_at) == (JobState.RUNNING, None)
    assert sorted(rank.host for rank in placed.ranks) == ["n0", "n0", "n1", "n1"]
    assert placed.weakest is Known.LAUNCH


async def test_what_ranks_logged_is_read_and_can_be_diagnosed(world: World) -> None:
    """The lines are carried over with their numbers, and a diagnosis can use them."""
    job = await world.scheduler.job(world.id(world.failed()))

    logs = await world.scheduler.logs(job)

    found = [file for file in logs.read if LOOKUP_FAILED.encode() in file.text]
    assert found
    assert found[0].line_in_file(1) == 1
    assert diagnose(sources(logs)).cause is Cause.RESOLVER_FAILED


async def test_an_unknown_job_is_said_to_be_unknown(world: World) -> None:
    """A number that was never given out is no purged job."""
    with pytest.raises(UnknownJobError, match="999999"):
        await world.scheduler.job(world.id(999999))


async def test_failures_since_a_time(world: World) -> None:
    """Jobs that ended badly since then are listed, and none from before."""
    number = world.failed()
    world.running()

    recent = await world.scheduler.failures(datetime.now(UTC) - timedelta(minutes=2))
    later = await world.scheduler.failures(datetime.now(UTC) + timedelta(minutes=1))

    assert world.label(number) in [job.id for job in recent]
    assert {job.state for job in recent} == {JobState.FAILED}
    assert later == ()


async def test_nodes_that_are_free(world: World) -> None:
    """A node with a job or a drain on it is not idle; one partition can be asked for."""
    assert [node.name for node in await world.scheduler.idle_nodes("gpu")] == ["n0", "n1"]
    assert await world.scheduler.idle_nodes("no-such-partition") == ()

    world.somebody_drains("n1", "bad link")

    assert [node.name for node in await world.scheduler.idle_nodes()] == ["n0"]


async def test_an_unknown_node_is_an_error(world: World) -> None:
    """A name that the cluster does not have is never left out silently."""
    with pytest.raises(UnknownNodeError, match="n7"):
        await world.scheduler.named_nodes(("n0", "n7"))
    with pytest.raises(UnknownNodeError, match="n7"):
        await world.scheduler.node("n7")


@pytest.mark.parametrize("name", ["n[0-1]", "n0,n1", "ALL", "n0 state=down", "", "-n0"])
async def test_only_one_node_can_be_named(world: World, name: str) -> None:
    """A list, a pattern or an option in place of a name drains nothing."""
    with pytest.raises(UnknownNodeError):
        await world.scheduler.drain(name, "test")

    assert len(await world.scheduler.idle_nodes()) == 2


async def test_a_drain_carries_our_reason_and_the_prior_state(world: World) -> None:
    """The reason says who, why and what was before; draining again changes nothing."""
    drained = await world.scheduler.drain("n1", "resolver failed;\nincident 7")
    again = await world.scheduler.drain("n1", "something else")
    node = await world.scheduler.node("n1")

    assert drained.reason == "nccl-dns: resolver failed; incident 7 (was IDLE)"
    assert (drained.before.state, drained.before.drained) == ("IDLE", False)
    assert node.drained
    assert node.reason == drained.reason
    assert (again.already, again.reason) == (True, drained.reason)
    assert [idle.name for idle in await world.scheduler.idle_nodes()] == ["n0"]


async def test_our_own_drain_can_be_undone(world: World) -> None:
    """Resume takes our drain away and leaves the node without a reason."""
    drained = await world.scheduler.drain("n1", "resolver failed")

    node = await world.scheduler.resume("n1", drained.reason)

    assert not node.drained
    assert node.reason == ""


async def test_a_busy_node_can_be_drained(world: World) -> None:
    """A job on the node goes on, and the state it had is kept."""
    number = world.running(node="n1")

    drained = await world.scheduler.drain("n1", "resolver failed")

    assert drained.before.state in {"ALLOCATED", "MIXED"}
    assert drained.after.drained
    assert f"(was {drained.before.raw_state})" in drained.reason
    assert (await world.scheduler.job(world.id(number))).state is JobState.RUNNING


async def test_somebody_elses_drain_is_left_alone(world: World) -> None:
    """It is quoted, neither overwritten nor undone."""
    world.somebody_drains("n1", "RMA 4711, do not touch")

    with pytest.raises(NodeHeldError, match='drained already: "RMA 4711, do not touch" by'):
        await world.scheduler.drain("n1", "resolver failed")
    with pytest.raises(NotOursError, match="RMA 4711"):
        await world.scheduler.resume("n1")

    node = await world.scheduler.node("n1")
    assert (node.drained, node.reason) == (True, "RMA 4711, do not touch")
    assert node.reason_by
    assert node.reason_at is not None


async def test_a_drain_that_somebody_took_over_is_not_ours_any_more(world: World) -> None:
    """Where the reason was changed after our drain, resume leaves the node drained."""
    drained = await world.scheduler.drain("n1", "resolver failed")
    world.somebody_drains("n1", "keep it, I am looking")

    with pytest.raises(NotOursError, match="keep it, I am looking"):
        await world.scheduler.resume("n1", drained.reason)

    assert (await world.scheduler.node("n1")).drained


async def test_a_drain_of_another_incident_is_not_undone(world: World) -> None:
    """Our own drain with another reason belongs to another incident."""
    await world.scheduler.drain("n1", "incident 8")

    with pytest.raises(NotOursError, match="incident 8"):
        await world.scheduler.resume("n1", "nccl-dns: incident 7 (was IDLE)")


async def test_a_node_that_is_in_service_is_not_resumed(world: World) -> None:
    """There is nothing of ours to undo on it."""
    with pytest.raises(NotOursError, match="not drained"):
        await world.scheduler.resume("n0")


async def test_a_reserved_node_is_left_alone(world: World) -> None:
    """Who reserved it has plans for it."""
    world.somebody_reserves("n1")

    with pytest.raises(NodeHeldError, match="reservation"):
        await world.scheduler.drain("n1", "resolver failed")

    assert not (await world.scheduler.node("n1")).drained


async def test_a_node_that_somebody_wants_rebooted_is_left_alone(world: World) -> None:
    """A reboot that is asked for comes by itself."""
    world.somebody_wants_reboot("n1")

    with pytest.raises(NodeHeldError, match="rebooted"):
        await world.scheduler.drain("n1", "resolver failed")


async def test_a_waiting_job_can_be_held(world: World) -> None:
    """A held job says who holds it and goes on waiting."""
    number = world.waiting()

    await world.scheduler.hold(world.id(number))

    job = await world.scheduler.job(world.id(number))
    assert (job.state, job.reason) == (JobState.PENDING, world.held_by)


async def test_a_job_can_be_cancelled(world: World) -> None:
    """A cancelled job is over, and did not fail."""
    number = world.running()

    await world.scheduler.cancel(world.id(number))

    world.settle(number, JobState.CANCELLED)
    job = await world.scheduler.job(world.id(number))
    assert job.state is JobState.CANCELLED
    assert job.has_ended


async def test_a_running_job_can_be_requeued(world: World) -> None:
    """It keeps its ID and counts the restart."""
    number = world.running()

    await world.scheduler.requeue(world.id(number))

    assert (await world.scheduler.job(world.id(number))).restarts == 1


@pytest.mark.parametrize("change", ["hold", "cancel", "requeue"])
async def test_an_unknown_job_cannot_be_changed(world: World, change: str) -> None:
    """What changed nothing must not look as if it had."""
    from bot.schedulers.errors import SchedulerError

    with pytest.raises(SchedulerError, match="999999"):
        await getattr(world.scheduler, change)(world.id(999999))


async def test_jobs_and_nodes_are_listed(world: World) -> None:
    """The jobs that have started, and every node."""
    number = world.failed()

    jobs = await world.scheduler.recent_jobs()
    nodes = await world.scheduler.all_nodes()

    assert world.label(number) in {job.label for job in jobs}
    assert all(job.started_at is not None for job in jobs)
    assert {"n0", "n1"} <= {node.name for node in nodes}


async def test_each_way_tells_of_the_scheduler(world: World) -> None:
    """In the order of the ways, each by its name, and none with a problem."""
    told = await world.scheduler.about()

    assert told
    assert [one.problem for one in told] == [""] * len(told)
    assert all(one.rights for one in told)
