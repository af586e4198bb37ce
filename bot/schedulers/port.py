"""What the product needs of a scheduler. One object speaks for one cluster and no other."""

from __future__ import annotations

from abc import ABC, abstractmethod
from datetime import datetime
from enum import StrEnum

from bot.hosts.view import ClusterDns
from bot.schedulers.about import About
from bot.schedulers.claims import is_ours, our_reason, refusal_to_drain, refusal_to_resume
from bot.schedulers.errors import NeedsWayError, NodeHeldError, NotOursError
from bot.schedulers.model import Drained, Job, JobId, JobLogs, Node
from bot.schedulers.reruns import Reruns


class Operation(StrEnum):
    """What can be asked of a scheduler."""

    #: a job in the controller's memory; after that, from accounting; its live steps
    JOB = "job"
    HISTORY = "history"
    STEPS = "steps"
    LOGS = "logs"
    FAILURES = "failures"
    NODES = "nodes"
    DRAIN = "drain"
    RESUME = "resume"
    HOLD = "hold"
    CANCEL = "cancel"
    REQUEUE = "requeue"


class Scheduler(ABC):
    """The jobs and nodes of one cluster. Every method may raise a SchedulerError."""

    #: name of the cluster in the settings
    cluster: str

    @abstractmethod
    def ways(self, operation: Operation) -> tuple[str, ...]:
        """Return the configured ways that can do this, the one that is taken first."""

    @abstractmethod
    async def job(self, job: JobId) -> Job:
        """Return a job; a heterogeneous one has all its components in `parts`.

        Raises UnknownJobError, PurgedJobError, or AmbiguousJobError for an array without a task. A
        job that has not started is an answer (see `Job.waits_because`), not an error.
        """

    @abstractmethod
    async def logs(self, job: Job) -> JobLogs:
        """Return the job's log files with the lines that the diagnosis can use.

        They are searched where they lie. A file that is missing or not readable is in the answer.
        """

    @abstractmethod
    async def failures(self, since: datetime) -> tuple[Job, ...]:
        """Return the jobs that ended badly at or after a time, the latest first."""

    @abstractmethod
    async def named_nodes(self, names: tuple[str, ...]) -> tuple[Node, ...]:
        """Return these nodes in the given order; raises UnknownNodeError."""

    @abstractmethod
    async def idle_nodes(self, partition: str = "") -> tuple[Node, ...]:
        """Return the nodes on which a job could start now, of one partition or of all."""

    @abstractmethod
    async def all_nodes(self) -> tuple[Node, ...]:
        """Return every node of the cluster."""

    @abstractmethod
    async def recent_jobs(self) -> tuple[Job, ...]:
        """Return the started jobs that the scheduler remembers, the last started first."""

    @abstractmethod
    async def about(self) -> tuple[About, ...]:
        """Return what each configured way tells of the scheduler, in the order of the ways.

        Changes nothing. A way that does not answer is in the answer, with the reason.
        """

    @abstractmethod
    async def hold(self, job: JobId) -> None:
        """Keep a waiting job from starting."""

    @abstractmethod
    async def cancel(self, job: JobId) -> None:
        """End a job, or take it from the queue."""

    @abstractmethod
    async def requeue(self, job: JobId) -> None:
        """Put a running or ended batch job back into the queue."""

    @abstractmethod
    async def _drain(self, node: Node, reason: str) -> None:
        """Drain a node with this reason, whatever is on it."""

    @abstractmethod
    async def _resume(self, node: Node) -> None:
        """Take the drain from a node, whatever the reason."""

    async def cluster_dns(self, job: Job) -> ClusterDns | None:
        """Return what the cluster says of the DNS of its own that the job's ranks ask.

        None where ranks run on the machines themselves and ask what those ask.
        """
        del job
        return None

    def reruns(self) -> Reruns:
        """Return what keeps a job and runs it again; raises NeedsWayError where nothing can."""
        raise NeedsWayError(
            f"Jobs of cluster {self.cluster} are not run again from here: its scheduler has no way "
            "to hold one and let it go. Submit it again by hand."
        )

    async def node(self, name: str) -> Node:
        """Return one node; raises UnknownNodeError."""
        return (await self.named_nodes((name,)))[0]

    async def nodes(self, job: Job) -> tuple[Node, ...]:
        """Return the nodes of a job, components and all, in the job's order."""
        parts = job.parts or (job,)
        names = dict.fromkeys(name for part in parts for name in part.nodes)
        return await self.named_nodes(tuple(names)) if names else ()

    async def drain(self, name: str, why: str) -> Drained:
        """Let no new job start on a node, with our reason on it; jobs that run go on.

        The state it had is part of the reason and of the answer. Raises NodeHeldError where
        somebody else drained, reserved or wants to reboot it, and changes nothing then.
        """
        before = await self.node(name)
        if refusal := refusal_to_drain(before):
            raise NodeHeldError(f"{refusal} It was left alone; ask whoever set that.")
        if is_ours(before):
            return Drained(before=before, after=before, reason=before.reason, already=True)
        reason = our_reason(why, before)
        await self._drain(before, reason)
        after = await self.node(name)
        if not after.drained or after.reason != reason:
            raise NodeHeldError(
                f"Node {name} was drained, but now says {after.claim} ({after.raw_state}): "
                "somebody else changed it at the same moment. Look at it before going on."
            )
        return Drained(before=before, after=after, reason=reason)

    async def resume(self, name: str, reason: str | None = None) -> Node:
        """Undo a drain of ours and return the node as it is then.

        `reason` is the one that `drain` returned. Raises NotOursError where another reason is on
        the node now, or none.
        """
        before = await self.node(name)
        if refusal := refusal_to_resume(before, reason):
            raise NotOursError(f"{refusal} It was left as it is.")
        await self._resume(before)
        return await self.node(name)
