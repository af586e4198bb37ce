"""The jobs and nodes of a simulated cluster, and what its controller does with requests."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from enum import Enum

#: Releases by the newest version of the REST interface that each speaks.
RELEASES = {
    38: (22, 5, 8),
    39: (23, 2, 7),
    40: (23, 11, 10),
    41: (24, 5, 5),
    42: (24, 11, 5),
    43: (25, 5, 1),
}
#: Job states of a job that is over (`squeue(1)`).
ENDED = frozenset({"COMPLETED", "FAILED", "TIMEOUT", "NODE_FAIL", "CANCELLED"})


class Refusal(Enum):
    """What the controller refuses, with its number and words (`slurm_errno.h`, `slurm_errno.c`)."""

    ACCESS = (2002, "Access/permission denied")
    NO_JOB = (2017, "Invalid job id specified")
    NO_NODE = (2018, "Invalid node name specified")
    DONE = (2021, "Job/step already completing or completed")
    FINISHED = (2021, "Job has already finished")
    NODE_STATE = (2028, "Invalid node state specified")


class RefusedError(Exception):
    """The controller refuses."""

    def __init__(self, refusal: Refusal) -> None:
        self.number, self.words = refusal.value
        super().__init__(self.words)


def spelled(version: int) -> str:
    """Return the release that first spoke a version, such as `23.11.10`."""
    major, minor, micro = RELEASES[version]
    return f"{major}.{minor:02}.{micro}"


def folded(names: Sequence[str]) -> str:
    """Return names in Slurm's notation: `node-[0-31]`."""
    from ClusterShell.NodeSet import NodeSet

    return str(NodeSet.fromlist(list(names), resolver=None))


def utc_now() -> datetime:
    """Return the time, as whole seconds, which is all that Slurm keeps."""
    return datetime.now(UTC).replace(microsecond=0)


@dataclass(kw_only=True)
class Job:
    """One batch job whose step runs as many tasks on each of its nodes."""

    number: int
    name: str
    user: str
    uid: int
    #: in its order; empty before the start
    nodes: list[str] = field(default_factory=list)
    #: nodes that it asks for
    wanted: int
    tasks_per_node: int
    work_dir: str
    #: sbatch's patterns, absolute
    stdout: str
    stderr: str
    script: str
    state: str = "PENDING"
    reason: str = "None"
    exit_code: int = 0
    submitted: datetime
    started: datetime | None = None
    ended: datetime | None = None
    limit_minutes: int = 1440
    restarts: int = 0
    partition: str = "gpu"
    #: since when its ranks make progress; nothing that Slurm knows
    up_since: datetime | None = None

    @property
    def tasks(self) -> int:
        """Return how many tasks it has in all."""
        return self.wanted * self.tasks_per_node

    @property
    def runs(self) -> bool:
        """Tell whether it has its nodes to itself now."""
        return self.state == "RUNNING"

    @property
    def planned_end(self) -> datetime | None:
        """Return when its time limit ends it."""
        return self.started and self.started + timedelta(minutes=self.limit_minutes)

    def filled(self, pattern: str) -> str:
        """Return a path with the letters replaced that depend on the job alone."""
        return pattern.replace("%x", self.name).replace("%j", str(self.number))


@dataclass(kw_only=True)
class Node:
    """One node; what its machine does is asked of the machine."""

    name: str
    address: str
    partition: str = "gpu"
    drained: bool = False
    reason: str = ""
    reason_by: str = ""
    reason_at: datetime | None = None
    #: tells whether its slurmd answers, and since when the machine is up
    responds: Callable[[], bool] = lambda: True
    booted: Callable[[], datetime] = utc_now


@dataclass(kw_only=True)
class Cluster:
    """What the controller knows; nothing is scheduled, who makes the jobs says which one runs."""

    name: str
    #: of the REST interface that the commands' `--json` prints, too
    version: int = 40
    accounting: bool = True
    jobs: dict[int, Job] = field(default_factory=dict)
    nodes: dict[str, Node] = field(default_factory=dict)
    #: who may change nodes and other people's jobs
    operators: set[str] = field(default_factory=lambda: {"root", "slurm"})
    min_job_age: int = 300

    def job(self, text: str) -> Job:
        """Return a job by its number."""
        if not text.isdecimal() or int(text) not in self.jobs:
            raise RefusedError(Refusal.NO_JOB)
        return self.jobs[int(text)]

    def node(self, name: str) -> Node:
        """Return a node by its name."""
        if name not in self.nodes:
            raise RefusedError(Refusal.NO_NODE)
        return self.nodes[name]

    def state(self, node: Node) -> tuple[str, list[str]]:
        """Return a node's base state and its flags, in the words of Slurm's JSON."""
        flags = ["DRAIN"] if node.drained else []
        if not node.responds():
            return "DOWN", [*flags, "NOT_RESPONDING"]
        busy = any(job.runs and node.name in job.nodes for job in self.jobs.values())
        return "ALLOCATED" if busy else "IDLE", flags

    def why(self, node: Node) -> tuple[str, str, datetime | None]:
        """Return the reason on a node, who set it and when; a silent one gets the controller's."""
        if not node.reason and not node.responds():
            return "Not responding", "slurm", utc_now()
        return node.reason, node.reason_by, node.reason_at

    def drain(self, name: str, reason: str, *, by: str) -> None:
        """Let no new job start on a node."""
        node = self.node(name)
        self._operator(by)
        node.drained, node.reason = True, reason
        node.reason_by, node.reason_at = by, utc_now()

    def resume(self, name: str, *, by: str) -> None:
        """Take a drain away; a node that is in service is refused."""
        node = self.node(name)
        self._operator(by)
        if not node.drained:
            raise RefusedError(Refusal.NODE_STATE)
        node.drained, node.reason, node.reason_by, node.reason_at = False, "", "", None

    def hold(self, text: str, *, by: str) -> None:
        """Keep a waiting job from starting."""
        job = self._owned(text, by)
        if job.state in ENDED:
            raise RefusedError(Refusal.FINISHED)
        job.reason = "JobHeldAdmin" if by in self.operators else "JobHeldUser"

    def cancel(self, text: str, *, by: str) -> None:
        """End a job."""
        job = self._owned(text, by)
        if job.state in ENDED:
            raise RefusedError(Refusal.DONE)
        job.state, job.reason, job.ended = "CANCELLED", "None", utc_now()

    def requeue(self, text: str, *, by: str) -> None:
        """Put a job back into the queue."""
        job = self._owned(text, by)
        job.state, job.nodes, job.restarts = "PENDING", [], job.restarts + 1
        job.started = job.ended = job.up_since = None
        job.submitted = utc_now()

    def put(self, jobs: Iterable[Job]) -> None:
        """Know these jobs and no others."""
        self.jobs = {job.number: job for job in jobs}

    @property
    def next_number(self) -> int:
        """Return the number that the next job would get."""
        return max(self.jobs, default=0) + 1

    def _owned(self, text: str, by: str) -> Job:
        job = self.job(text)
        if by not in {job.user, *self.operators}:
            raise RefusedError(Refusal.ACCESS)
        return job

    def _operator(self, user: str) -> None:
        if user not in self.operators:
            raise RefusedError(Refusal.ACCESS)
