"""Place the ranks of a job by what its scheduler told of it. Pure."""

from __future__ import annotations

from bot.fleet.distribution import parse_distribution
from bot.fleet.kubernetes import place_pods
from bot.fleet.placement import Placement, as_guess
from bot.fleet.slurm import SlurmStep, place_het, place_step
from bot.fleet.torchrun import place
from bot.schedulers.model import Job, Step


def placement(job: Job) -> Placement:
    """Return where the ranks of a job run, components counted on, and how that is known.

    A step that was seen has nodes and tasks of its own; without one those of the job are taken,
    which is a guess where there are several nodes. Where the script starts torchrun, a task is a
    node's agent and not a rank. Pods are placed by their controller's numbers. Raises
    PlacementError as `place_step`, `place` and `place_pods` do.
    """
    if job.pods:
        placed = place_pods(job.pods, job.ranks_per_pod, elastic=job.elastic)
        return as_guess(placed, job.ranks_doubt) if job.ranks_doubt else placed
    if job.parts:
        return place_het([_step(part) for part in job.parts])
    if job.torchrun is not None:
        return place(job.torchrun, _step(job).nodes)
    return place_step(_step(job))


def ranks_together(job: Job) -> int | None:
    """Return how many consecutive ranks each host has by its launcher, in whatever order."""
    return job.torchrun.nproc_per_node if job.torchrun else None


def _step(job: Job) -> SlurmStep:
    seen = _only_step(job)
    distribution = parse_distribution(job.distribution) if job.distribution else None
    if seen is None:
        return SlurmStep(
            nodes=job.nodes,
            nodes_of_job=not job.steps_take_all,
            ntasks=job.ntasks,
            ntasks_per_node=job.ntasks_per_node,
            distribution=distribution,
        )
    return SlurmStep(
        nodes=seen.nodes,
        ntasks=seen.ntasks,
        ntasks_per_node=job.ntasks_per_node,
        distribution=distribution,
    )


def _only_step(job: Job) -> Step | None:
    """Return the step that a person started, where there is one and it tells its nodes."""
    steps = [step for step in job.steps if step.id.isdigit() and step.nodes]
    return steps[0] if len(steps) == 1 else None
