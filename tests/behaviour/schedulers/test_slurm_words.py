"""Prove what only Slurm has: arrays, components, steps, two streams, a new start."""

from __future__ import annotations

import pytest

from bot.diagnosis import diagnose_bytes
from bot.diagnosis.kinds import Cause
from bot.fleet.placement import Known
from bot.schedulers.errors import AmbiguousJobError
from bot.schedulers.model import DistributionFrom, JobState, Reading, Stream
from bot.schedulers.placing import placement
from tests.behaviour.schedulers.world import LOOKUP_FAILED, World, job_id

pytestmark = pytest.mark.anyio


async def test_a_failed_job_tells_its_distribution_by_its_script(slurm_world: World) -> None:
    """After the end the script is asked, and the batch host is known."""
    job = await slurm_world.scheduler.job(job_id(slurm_world.failed()))

    assert (job.distribution, job.distribution_from) == ("cyclic", DistributionFrom.SCRIPT)
    assert job.batch_host == "n0"


async def test_a_running_job_tells_its_distribution_by_its_step(slurm_world: World) -> None:
    """While a step runs it is asked; an end that lies in the future is not shown as one."""
    job = await slurm_world.scheduler.job(job_id(slurm_world.running()))

    assert (job.state, job.ended_at) == (JobState.RUNNING, None)
    assert (job.distribution or "").lower() == "cyclic"
    assert job.distribution_from is DistributionFrom.STEP
    step = next(step for step in job.steps if step.id == "0")
    assert (step.nodes, step.ntasks) == (("n0", "n1"), 4)
    placed = placement(job)
    assert [rank.host for rank in placed.ranks] == ["n0", "n1", "n0", "n1"]
    assert placed.weakest is Known.LAUNCH


async def test_both_outputs_of_a_job_are_read(slurm_world: World) -> None:
    """What c10d says is in stderr, and a diagnosis can use what was carried over."""
    job = await slurm_world.scheduler.job(job_id(slurm_world.failed()))

    logs = await slurm_world.scheduler.logs(job)

    by_stream = {file.stream: file for file in logs.files if file.stream is not Stream.STEP}
    assert {file.reading for file in by_stream.values()} == {Reading.READ}
    assert by_stream[Stream.STDOUT].text == b"starting\n"
    error = by_stream[Stream.STDERR]
    assert LOOKUP_FAILED.encode() in error.text
    assert error.line_in_file(1) == 1
    assert diagnose_bytes(error.text).cause is Cause.RESOLVER_FAILED


async def test_an_array_needs_its_task(slurm_world: World) -> None:
    """An array is ambiguous, names its tasks, and each of them is a job."""
    number = slurm_world.array()

    with pytest.raises(AmbiguousJobError, match=rf"{number}_3 \(RUNNING\).*Name one"):
        await slurm_world.scheduler.job(job_id(number))
    job = await slurm_world.scheduler.job(job_id(number, task=5))

    assert (job.label, job.array_job, job.array_task) == (f"{number}_5", number, 5)


async def test_a_heterogeneous_job_has_its_components(slurm_world: World) -> None:
    """The whole job lists its components in order; one of them can be asked for alone."""
    number = slurm_world.heterogeneous()

    whole = await slurm_world.scheduler.job(job_id(number))
    second = await slurm_world.scheduler.job(job_id(number, het=1))

    assert [part.label for part in whole.parts] == [f"{number}+0", f"{number}+1"]
    assert second.label == f"{number}+1"
    assert second.nodes == whole.parts[1].nodes
    nodes = await slurm_world.scheduler.nodes(whole)
    assert [node.name for node in nodes] == [*whole.parts[0].nodes, *second.nodes]


async def test_a_failed_job_can_be_requeued(slurm_world: World) -> None:
    """It keeps its number and counts the restart."""
    number = slurm_world.failed()

    await slurm_world.scheduler.requeue(job_id(number))

    assert (await slurm_world.scheduler.job(job_id(number))).restarts == 1
