"""A way to a Slurm cluster: what the adapter asks, and what it hears."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from datetime import datetime

from bot.schedulers.about import About
from bot.schedulers.errors import NeedsWayError, UnknownNodeError
from bot.schedulers.model import Job, Node, Step
from bot.schedulers.port import Operation

#: One node; a list in brackets would reach more than was looked at.
_NODE_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,254}", re.ASCII)


@dataclass(frozen=True, kw_only=True, slots=True)
class History:
    """What is told of a job that the controller has forgotten."""

    jobs: tuple[Job, ...] = ()
    #: whether there is accounting; None where that was not told
    accounting: bool | None = None
    #: the number that the next job gets: higher ones were never given out
    next_number: int | None = None
    #: seconds after which the controller forgets an ended job
    forgets_after: int | None = None


@dataclass(kw_only=True)
class Way(ABC):
    """One configured way; what it cannot do raises NeedsWayError."""

    #: name of the cluster in the settings
    cluster: str
    #: as reports name it
    name: str = field(init=False)

    @property
    @abstractmethod
    def can(self) -> frozenset[Operation]:
        """Return what this way can do."""

    @abstractmethod
    async def live(self, number: int) -> tuple[Job, ...]:
        """Return what the controller remembers of a number: a job, array tasks, het components."""

    @abstractmethod
    async def history(self, number: int) -> History:
        """Return what others remember of a number."""

    @abstractmethod
    async def about(self) -> About:
        """Ask it something cheap, and return what it tells of Slurm."""

    @abstractmethod
    async def all_jobs(self) -> tuple[Job, ...]:
        """Return every job that the controller remembers, in any order."""

    async def steps(self, job: Job) -> tuple[Step, ...]:
        """Return the steps that run now."""
        raise self.lacks(Operation.STEPS, job.label)

    async def script(self, job: Job) -> str:
        """Return the batch script; empty where nobody keeps it."""
        raise self.lacks(Operation.STEPS, job.label)

    @abstractmethod
    async def failures(self, since: datetime) -> tuple[Job, ...]:
        """Return the jobs that ended badly since then, in any order."""

    @abstractmethod
    async def all_nodes(self) -> tuple[Node, ...]:
        """Return every node."""

    @abstractmethod
    async def some_nodes(self, names: tuple[str, ...]) -> tuple[Node, ...]:
        """Return these nodes, in any order; raises UnknownNodeError."""

    async def drain(self, node: str, reason: str) -> None:
        """Drain a node."""
        del reason
        raise self.lacks(Operation.DRAIN, node)

    async def resume(self, node: str) -> None:
        """Take a node's drain away."""
        raise self.lacks(Operation.RESUME, node)

    async def hold(self, job: str) -> None:
        """Keep a waiting job from starting."""
        raise self.lacks(Operation.HOLD, job)

    async def cancel(self, job: str) -> None:
        """End a job."""
        raise self.lacks(Operation.CANCEL, job)

    async def requeue(self, job: str) -> None:
        """Put a job back into the queue."""
        raise self.lacks(Operation.REQUEUE, job)

    def lacks(self, operation: Operation, what: str) -> NeedsWayError:
        """Return the error for what this way cannot do."""
        return NeedsWayError(
            f"{operation.value} of {what} was not done: {self.name} of cluster {self.cluster} "
            "cannot. It needs a login node in the settings."
        )


def checked_node(name: str) -> str:
    """Return a node's name where it is one name and no list or pattern."""
    if not _NODE_NAME.fullmatch(name):
        raise UnknownNodeError(f"{name[:80]!a} is no name of a node; nobody was asked.")
    return name
