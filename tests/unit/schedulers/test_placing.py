"""Prove how ranks are placed by what a scheduler told, and how surely."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bot.errors import PlacementError
from bot.fleet.placement import Known
from bot.fleet.torchrun import read_command
from bot.schedulers.model import Job, JobState, Step
from bot.schedulers.placing import placement, ranks_together

JOB = Job(
    id="48213",
    cluster="hall",
    state=JobState.RUNNING,
    raw_state="RUNNING",
    nodes=("n0", "n1", "n2"),
    ntasks=6,
    ntasks_per_node=2,
    distribution="cyclic",
)
STEP = Step(id="0", nodes=("n0", "n2"), ntasks=4, distribution="Cyclic")


def hosts(job: Job) -> list[str]:
    """Return the host of each rank, in rank order."""
    return [placed.host for placed in placement(job).ranks]


def test_a_step_inside_a_larger_job_is_placed_on_its_own_nodes() -> None:
    """What the step tells is how it was launched."""
    job = replace(JOB, steps=(Step(id="batch", nodes=("n0",)), STEP), distribution="Cyclic")

    assert hosts(job) == ["n0", "n2", "n0", "n2"]
    assert placement(job).weakest is Known.LAUNCH


def test_without_a_step_the_jobs_nodes_are_a_guess() -> None:
    """The script's distribution is used, but the step may have run on fewer nodes."""
    assert hosts(JOB) == ["n0", "n1", "n2", "n0", "n1", "n2"]
    assert placement(JOB).weakest is Known.GUESS


def test_a_script_whose_steps_take_all_is_no_guess() -> None:
    """The nodes and tasks of the job are then the step's."""
    job = replace(JOB, steps_take_all=True)

    assert hosts(job) == ["n0", "n1", "n2", "n0", "n1", "n2"]
    assert placement(job).weakest is Known.LAUNCH


def test_two_steps_are_not_mixed() -> None:
    """Which of them the ranks are of is not known: the job's nodes are taken, as a guess."""
    both = replace(JOB, steps=(STEP, replace(STEP, id="1")))

    assert placement(both).weakest is Known.GUESS
    assert len(placement(both).ranks) == 6


def test_components_are_counted_on() -> None:
    """Ranks of the second component follow those of the first."""
    first = replace(JOB, nodes=("a",), ntasks=2, het_job=1, het_offset=0)
    second = replace(JOB, nodes=("b",), ntasks=2, het_job=1, het_offset=1)

    assert hosts(replace(first, parts=(first, second))) == ["a", "a", "b", "b"]


def test_a_job_that_waits_cannot_be_placed() -> None:
    """It has no nodes."""
    with pytest.raises(PlacementError, match="has not started"):
        placement(replace(JOB, nodes=()))


def test_torchrun_multiplies_the_tasks() -> None:
    """One task a node is an agent that starts eight ranks; the rendezvous says how surely."""
    command = "srun torchrun --nnodes 3 --nproc-per-node 8 --node-rank $SLURM_NODEID train.py"
    job = replace(JOB, ntasks=3, ntasks_per_node=1, torchrun=read_command(command))

    assert hosts(job)[7:9] == ["n0", "n1"]
    assert len(hosts(job)) == 24
    assert placement(job).weakest is Known.LAUNCH
    assert ranks_together(job) == 8

    elastic = command.replace("--node-rank $SLURM_NODEID", "--rdzv-backend c10d")
    assert placement(replace(job, torchrun=read_command(elastic))).weakest is Known.GUESS
