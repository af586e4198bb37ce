"""Keep a job, so that it outlives its scheduler's memory, and run it again as it was submitted.

The owner stays the owner: what is run is the script that the scheduler kept, by the scheduler, as
the user who submitted it. Nobody's script is ever run by us.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from datetime import datetime

from bot.schedulers.model import ENDED_STATES, Job, JobId


@dataclass(frozen=True, kw_only=True, slots=True)
class CopiedLog:
    """A log as it was copied, since the next run of its job truncates it."""

    path: str
    copy: str
    size_bytes: int
    #: machine on which both lie; empty for the login node
    host: str = ""
    #: it had been copied before, and nothing was written
    already: bool = False


class Reruns(ABC):
    """What can be done about a job that is to run again; every method may raise SchedulerError."""

    @abstractmethod
    async def copy_logs(self, job: Job) -> tuple[CopiedLog, ...]:
        """Copy the job's output where it lies, overwriting nothing; twice is once.

        Raises RequestRefusedError where a file that the next run would truncate cannot be copied.
        """

    @abstractmethod
    async def keep(self, job: JobId) -> None:
        """Put a running or ended batch job back into the queue, held; what runs of it ends.

        A held job is not forgotten, however long people take. One that waits already is refused.
        """

    @abstractmethod
    async def go(self, job: JobId, *, without: tuple[str, ...] = ()) -> None:
        """Let a held job start at once, on none of these nodes.

        Nodes that its owner leaves out stay left out. Raises RequestRefusedError for a job that
        does not wait.
        """

    @abstractmethod
    async def resubmitted(self, job: Job) -> tuple[Job, ...]:
        """Return the jobs that look like this one submitted again by its owner, the newest first.

        The same user, name and script, submitted since this one failed, and not over.
        """


def same_again(job: Job, others: tuple[Job, ...]) -> tuple[Job, ...]:
    """Return which of some jobs look like a job that was submitted again. Pure."""
    since = job.ended_at or job.started_at or job.submitted_at
    found = [
        one
        for one in others
        if one.id != job.id
        and (one.user, one.name) == (job.user, job.name)
        and (not one.command or not job.command or one.command == job.command)
        and (job.array_job is None or one.array_job != job.array_job)
        and (job.het_job is None or one.het_job != job.het_job)
        and one.state not in ENDED_STATES
        and since is not None
        and one.submitted_at is not None
        and one.submitted_at > since
    ]
    return tuple(sorted(found, key=_submitted, reverse=True))


def _submitted(job: Job) -> datetime:
    assert job.submitted_at is not None  # noqa: S101 - those without one were left out
    return job.submitted_at
