"""Pick the job that an ID means from the records a scheduler lists. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import UTC, datetime

from bot.schedulers.errors import AmbiguousJobError, UnknownJobError
from bot.schedulers.model import Job, JobId, Step

_MOST_NAMED = 5
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def one_job(jobs: Sequence[Job], wanted: JobId, cluster: str) -> Job:
    """Return the job that an ID means, a heterogeneous one with all its components.

    An array task and a component have plain numbers of their own (`48215` may be `48213_2`), and
    those mean them. Raises AmbiguousJobError for an array of several tasks, UnknownJobError.
    """
    if wanted.array_task is not None:
        return _only(
            [job for job in jobs if (job.array_job, job.array_task) == _task(wanted)],
            wanted,
            cluster,
        )
    parts = [job for job in jobs if job.het_job is not None and job.het_job == wanted.number]
    if wanted.het_offset is not None:
        return _only([job for job in parts if job.het_offset == wanted.het_offset], wanted, cluster)
    if parts:
        return _whole(parts)
    tasks = [job for job in jobs if job.array_job == wanted.number]
    if len(tasks) > 1:
        raise AmbiguousJobError(_array_sentence(tasks, wanted))
    return _only(tasks or [job for job in jobs if job.id == str(wanted.number)], wanted, cluster)


def started(jobs: Iterable[Job]) -> tuple[Job, ...]:
    """Return the jobs that have started, the last started first.

    Slurm tells whole seconds; of jobs that began in one, the higher number began later.
    """

    def begun(job: Job) -> tuple[datetime, int]:
        return job.started_at or _EPOCH, int(job.id) if job.id.isdigit() else 0

    return tuple(sorted((job for job in jobs if job.has_started), key=begun, reverse=True))


def agreed_distribution(steps: Iterable[Step]) -> str | None:
    """Return how the steps that a person started lay out their tasks; None where they differ."""
    told = {step.distribution for step in steps if step.id.isdigit() and step.distribution}
    return told.pop() if len(told) == 1 else None


def _task(wanted: JobId) -> tuple[int | None, int | None]:
    return wanted.number, wanted.array_task


def _whole(parts: list[Job]) -> Job:
    ordered = sorted(parts, key=lambda job: job.het_offset or 0)
    return replace(ordered[0], parts=tuple(ordered))


def _only(found: list[Job], wanted: JobId, cluster: str) -> Job:
    if not found:
        raise UnknownJobError(
            f"Cluster {cluster} lists no job {wanted.job}. Check the number and the cluster."
        )
    if len(found) > 1:
        # accounting lists each run of a requeued job; the latest is the one that is meant
        found = sorted(found, key=lambda job: job.submitted_at or _EPOCH)
    return found[-1]


def _array_sentence(tasks: list[Job], wanted: JobId) -> str:
    named = [f"{task.label} ({task.raw_state})" for task in tasks if task.array_task is not None]
    more = f" and {len(named) - _MOST_NAMED} more" if len(named) > _MOST_NAMED else ""
    return (
        f"{wanted.job} is an array of {len(tasks)} tasks: "
        f"{', '.join(named[:_MOST_NAMED])}{more}. Name one of them."
    )
