"""A scheduler with something going on: what the port's rules are tried on."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from bot.schedulers.memory import MemoryScheduler
from bot.schedulers.model import (
    DistributionFrom,
    Job,
    JobId,
    JobState,
    Kind,
    Node,
    NodeFlag,
    Step,
)
from bot.schedulers.port import Scheduler
from tests.behaviour.schedulers.slurm_cluster import SlurmCluster

#: What a rank without a resolver logs.
LOOKUP_FAILED = (
    "[W1130 17:26:18.842814600 socket.cpp:764] [c10d] The IPv6 network addresses of "
    "(node-0.lab.internal, 29500) cannot be retrieved (gai error: -3 - Temporary failure in name "
    "resolution)."
)


def job_id(number: int, *, task: int | None = None, het: int | None = None) -> JobId:
    """Return the ID of a Slurm job."""
    return JobId(kind=Kind.SLURM, number=number, array_task=task, het_offset=het)


class World(ABC):
    """A scheduler, and a hand that does what users and other operators do."""

    scheduler: Scheduler
    #: what a waiting job waits for, and why a held one is held, in the scheduler's words
    waits_for = "BeginTime"
    held_by = "JobHeldAdmin"

    def id(self, number: int) -> JobId:
        """Return the ID of a job by its number here."""
        return job_id(number)

    def label(self, number: int) -> str:
        """Return a job as people write it."""
        return str(number)

    def name(self, number: int) -> str:
        """Return the name that a failed job was given."""
        del number
        return "pretrain"

    @abstractmethod
    def failed(self) -> int:
        """Run a job on both nodes, two cyclic tasks each, that logs LOOKUP_FAILED and fails."""

    @abstractmethod
    def running(self, *, node: str = "") -> int:
        """Start a job that goes on; two cyclic tasks on both nodes, or one on the given node."""

    @abstractmethod
    def waiting(self) -> int:
        """Queue a job that does not start yet."""

    @abstractmethod
    def array(self) -> int:
        """Start an array with the tasks 3 and 5."""

    @abstractmethod
    def heterogeneous(self) -> int:
        """Start a job of two components of one node each."""

    @abstractmethod
    def somebody_drains(self, node: str, reason: str) -> None:
        """Drain a node as another operator does."""

    @abstractmethod
    def somebody_reserves(self, node: str) -> None:
        """Put a node into a reservation for maintenance."""

    @abstractmethod
    def somebody_wants_reboot(self, node: str) -> None:
        """Ask for a reboot of a busy node."""

    @abstractmethod
    def settle(self, number: int, state: JobState) -> None:
        """Wait until a job is in a state."""


_SLEEPS = "srun -N2 --ntasks-per-node=2 -m cyclic sleep 50"
_FAILS = f"""\
#SBATCH -o out-%x-%j.log -e err-%j.log
echo starting
echo '{LOOKUP_FAILED}' >&2
srun --ntasks-per-node=2 --distribution=cyclic true
exit 1"""


class SlurmWorld(World):
    """The real cluster."""

    def __init__(self, cluster: SlurmCluster, scheduler: Scheduler) -> None:
        self.cluster = cluster
        self.scheduler = scheduler

    def failed(self) -> int:
        """Run a failing job to its end."""
        number = self.cluster.submit(_FAILS, "-N2", "--ntasks-per-node=2", "-J", "pretrain")
        self.cluster.wait_for(number, "FAILED")
        return number

    def running(self, *, node: str = "") -> int:
        """Start a job and wait for its step."""
        where = ("-w", node, "-N1") if node else ("-N2", "--ntasks-per-node=2")
        number = self.cluster.submit("srun sleep 50" if node else _SLEEPS, *where)
        self.cluster.wait_for(number, "RUNNING")
        self.cluster.wait_for_step(number)
        return number

    def waiting(self) -> int:
        """Queue a job that begins later."""
        return self.cluster.submit("sleep 50", "--begin=now+3600")

    def array(self) -> int:
        """Start an array."""
        number = self.cluster.submit("sleep 50", "-N1", "-n1", "-a", "3,5")
        self.cluster.wait_for(f"{number}_5", "RUNNING")
        return number

    def heterogeneous(self) -> int:
        """Start a heterogeneous job."""
        number = self.cluster.submit("sleep 50", "-N1", "-n3", ":", "-N1", "-n3")
        self.cluster.wait_for(f"{number}+1", "RUNNING")
        return number

    def somebody_drains(self, node: str, reason: str) -> None:
        """Drain a node."""
        self.cluster.command(
            "scontrol", "update", f"nodename={node}", "state=drain", f"reason={reason}"
        )

    def somebody_reserves(self, node: str) -> None:
        """Reserve a node."""
        self.cluster.command(
            *("scontrol", "create", "reservation", "reservationname=switch-work"),
            *(f"nodes={node}", "starttime=now", "duration=10", "users=root"),
            "flags=maint,ignore_jobs",
        )
        self.cluster.wait_for_node(node, "MAINT")

    def somebody_wants_reboot(self, node: str) -> None:
        """Ask for a reboot once the job on the node has ended."""
        self.running(node=node)
        self.cluster.command("scontrol", "reboot", node)
        self.cluster.wait_for_node(node, "REBOOT")

    def settle(self, number: int, state: JobState) -> None:
        """Wait until a job is in a state."""
        self.cluster.wait_for(number, state.value)


_NOW = datetime(2026, 11, 30, 17, 30, tzinfo=UTC)


class MemoryWorld(World):
    """The scheduler in memory."""

    def __init__(self) -> None:
        nodes = [
            Node(name=name, cluster="hall", state="IDLE", raw_state="IDLE", partitions=("gpu",))
            for name in ("n0", "n1")
        ]
        self.scheduler: MemoryScheduler = MemoryScheduler("hall", nodes=nodes)
        self._next = 1

    def failed(self) -> int:
        """Add a failed job with its files."""
        job = self._job(
            JobState.FAILED,
            stdout="/home/ada/out-pretrain.log",
            stderr="/home/ada/err.log",
            exit_code=1,
            ended_at=datetime.now(UTC),
            distribution_from=DistributionFrom.SCRIPT,
        )
        self.scheduler.files[job.stdout] = b"starting\n"
        self.scheduler.files[job.stderr] = f"{LOOKUP_FAILED}\n".encode()
        return int(job.id)

    def running(self, *, node: str = "") -> int:
        """Add a running job."""
        nodes = (node,) if node else ("n0", "n1")
        for name in nodes:
            busy = replace(self.scheduler.nodes_by_name[name], state="MIXED", raw_state="MIXED")
            self.scheduler.set_node(busy)
        return int(self._job(JobState.RUNNING, nodes=nodes).id)

    def waiting(self) -> int:
        """Add a waiting job."""
        return int(self._job(JobState.PENDING, nodes=(), reason="BeginTime").id)

    def array(self) -> int:
        """Add two array tasks."""
        number = self._next
        for task in (3, 5):
            self._job(JobState.RUNNING, nodes=("n0",), array_job=number, array_task=task)
        return number

    def heterogeneous(self) -> int:
        """Add two components."""
        number = self._next
        for offset, node in enumerate(("n0", "n1")):
            self._job(JobState.RUNNING, nodes=(node,), het_job=number, het_offset=offset)
        return number

    def somebody_drains(self, node: str, reason: str) -> None:
        """Drain a node."""
        self._flag(node, NodeFlag.DRAIN, reason=reason, reason_by="bob", reason_at=_NOW)

    def somebody_reserves(self, node: str) -> None:
        """Reserve a node."""
        self._flag(node, NodeFlag.MAINTENANCE, reservation="switch-work")

    def somebody_wants_reboot(self, node: str) -> None:
        """Ask for a reboot."""
        self._flag(node, NodeFlag.REBOOT)

    def settle(self, number: int, state: JobState) -> None:
        """Check that a job is in a state."""
        assert self.scheduler.jobs[str(number)].state is state

    def _flag(self, name: str, flag: NodeFlag, **more: object) -> None:
        node = self.scheduler.nodes_by_name[name]
        flagged = replace(node, flags=node.flags | {flag}, raw_state=f"{node.state}+{flag.name}")
        self.scheduler.set_node(replace(flagged, **more))  # type: ignore[arg-type]

    def _job(self, state: JobState, **more: object) -> Job:
        step = Step(id="0", nodes=("n0", "n1"), ntasks=4, distribution="Cyclic")
        job = Job(
            id=str(self._next),
            cluster="hall",
            state=state,
            raw_state=state.value,
            name="pretrain",
            user="ada",
            nodes=("n0", "n1"),
            ntasks=4,
            ntasks_per_node=2,
            batch=True,
            batch_host="n0",
            work_dir="/home/ada",
            distribution="cyclic",
            distribution_from=DistributionFrom.STEP,
            steps=(step,) if state is JobState.RUNNING else (),
            submitted_at=_NOW,
            started_at=_NOW + timedelta(seconds=5) if state is not JobState.PENDING else None,
        )
        job = replace(job, **more)  # type: ignore[arg-type]
        self.scheduler.put(job)
        self._next += 1
        return job
