"""What a scheduler tells of jobs, steps, nodes and log files: plain values."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from bot.fleet.kubernetes import Pod
from bot.fleet.torchrun import Torchrun
from bot.fleet.vms import Host


class Kind(StrEnum):
    """The kind of scheduler that an ID belongs to."""

    SLURM = "slurm"
    KUBERNETES = "k8s"


@dataclass(frozen=True, kw_only=True, slots=True)
class JobId:
    """One job, array task, het component or step, as a person names it."""

    kind: Kind
    #: name of the cluster in the settings; None where the person named none
    cluster: str | None = None
    #: Slurm: the number before `_`, `+` or `.`
    number: int | None = None
    #: Slurm: the 7 of `48213_7`
    array_task: int | None = None
    #: Slurm: the 1 of `48213+1`
    het_offset: int | None = None
    #: Slurm: the part after the dot of `48213.0` or `48213.batch`
    step: str | None = None
    #: Kubernetes: namespace, kind (singular, lower case) and name of the object
    namespace: str | None = None
    object_kind: str | None = None
    name: str | None = None

    @property
    def job(self) -> str:
        """Return the ID without cluster and step, as the scheduler's own commands take it."""
        if self.kind is Kind.KUBERNETES:
            return f"{self.namespace}/{self.object_kind}/{self.name}"
        if self.array_task is not None:
            return f"{self.number}_{self.array_task}"
        if self.het_offset is not None:
            return f"{self.number}+{self.het_offset}"
        return str(self.number)

    def __str__(self) -> str:
        step = "" if self.step is None else f".{self.step}"
        return f"{self.cluster or self.kind.value}:{self.job}{step}"


class JobState(StrEnum):
    """The states that Slurm gives a job (`squeue(1)`, JOB STATE CODES), and one for the rest."""

    PENDING = "PENDING"
    CONFIGURING = "CONFIGURING"
    RUNNING = "RUNNING"
    SUSPENDED = "SUSPENDED"
    COMPLETING = "COMPLETING"
    COMPLETED = "COMPLETED"
    CANCELLED = "CANCELLED"
    FAILED = "FAILED"
    TIMEOUT = "TIMEOUT"
    NODE_FAIL = "NODE_FAIL"
    PREEMPTED = "PREEMPTED"
    BOOT_FAIL = "BOOT_FAIL"
    DEADLINE = "DEADLINE"
    OUT_OF_MEMORY = "OUT_OF_MEMORY"
    OTHER = "OTHER"


#: States of a job that ended and did not do what it was started for.
FAILED_STATES = frozenset(
    {
        JobState.FAILED,
        JobState.TIMEOUT,
        JobState.NODE_FAIL,
        JobState.BOOT_FAIL,
        JobState.DEADLINE,
        JobState.OUT_OF_MEMORY,
    }
)
#: States of a job that is over.
ENDED_STATES = FAILED_STATES | {JobState.COMPLETED, JobState.CANCELLED, JobState.PREEMPTED}


class KnownFrom(StrEnum):
    """Who told about a job; later ones know less."""

    #: the controller's memory, or the API server
    CONTROLLER = "controller"
    #: the accounting database
    ACCOUNTING = "accounting"
    #: the file of finished jobs (`jobcomp/filetxt`): state, nodes, exit code and times
    COMPLETION_FILE = "completion file"


class DistributionFrom(StrEnum):
    """Who told how tasks are laid over nodes."""

    #: the step, while it ran or from accounting
    STEP = "step"
    #: every `srun` line of the job's script says the same
    SCRIPT = "script"


@dataclass(frozen=True, kw_only=True, slots=True)
class Step:
    """One `srun` of a job."""

    #: the part after the dot: `0`, `batch`
    id: str
    name: str = ""
    state: JobState = JobState.OTHER
    #: nodes in the scheduler's order
    nodes: tuple[str, ...] = ()
    ntasks: int | None = None
    #: as Slurm writes it: `Block`, `Cyclic`, `Plane`, `block:cyclic`
    distribution: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Job:
    """One job as its scheduler knows it now."""

    #: plain number or name, as the scheduler's commands take it
    id: str
    cluster: str
    state: JobState
    #: the scheduler's own word or words for the state
    raw_state: str
    #: why it waits or ended, in the scheduler's words
    reason: str = ""
    name: str = ""
    user: str = ""
    partition: str = ""
    #: nodes in the scheduler's order; empty before the start
    nodes: tuple[str, ...] = ()
    #: tasks that were asked for, in all and on each node; None where not told
    ntasks: int | None = None
    ntasks_per_node: int | None = None
    #: how tasks go to nodes, in srun's words, and who told; None where nobody did
    distribution: str | None = None
    distribution_from: DistributionFrom | None = None
    steps: tuple[Step, ...] = ()
    #: its script's steps take all of its nodes and tasks, for none asks for others
    steps_take_all: bool = False
    #: the torchrun command of its script; None where there is none or it is not known
    torchrun: Torchrun | None = None
    #: paths as the scheduler gives them, patterns and all; empty where it gives none
    stdout: str = ""
    stderr: str = ""
    work_dir: str = ""
    #: path of the batch script as it was submitted; empty where it is not told
    command: str = ""
    #: nodes that it must not run on
    excluded: tuple[str, ...] = ()
    #: node on which the batch script ran
    batch_host: str = ""
    #: False for salloc and a bare srun, whose output went to a terminal; None where not told
    batch: bool | None = None
    exit_code: int | None = None
    exit_signal: int | None = None
    submitted_at: datetime | None = None
    started_at: datetime | None = None
    #: for a job that runs: None, never the planned end
    ended_at: datetime | None = None
    #: how often it was requeued
    restarts: int = 0
    #: `48213` and `7` of the array task `48213_7`
    array_job: int | None = None
    array_task: int | None = None
    #: `48213` and `1` of the component `48213+1`
    het_job: int | None = None
    het_offset: int | None = None
    #: every component of a heterogeneous job in order, this one among them; else empty
    parts: tuple[Job, ...] = ()
    #: Kubernetes: the newest pod of each index that ranks run in
    pods: tuple[Pod, ...] = ()
    #: how many consecutive ranks a pod has; None where nothing tells
    ranks_per_pod: int | None = None
    #: the pods meet in a c10d or etcd rendezvous, which numbers them in an order of its own
    elastic: bool = False
    #: why the number of ranks a pod is no more than likely; empty where it is told
    ranks_doubt: str = ""
    known_from: KnownFrom = KnownFrom.CONTROLLER
    #: what a reader must know about this answer, one sentence each
    notes: tuple[str, ...] = ()

    @property
    def label(self) -> str:
        """Return the ID as people write it: `48213`, `48213_7`, `48213+1`."""
        if self.array_job is not None and self.array_task is not None:
            return f"{self.array_job}_{self.array_task}"
        if self.het_job is not None and self.het_offset is not None:
            return f"{self.het_job}+{self.het_offset}"
        return self.id

    @property
    def has_started(self) -> bool:
        """Tell whether the job has nodes, now or once."""
        return bool(self.nodes) and self.state is not JobState.PENDING

    @property
    def has_ended(self) -> bool:
        """Tell whether the job is over."""
        return self.state in ENDED_STATES

    @property
    def held(self) -> bool:
        """Tell whether it waits until somebody releases it (`JobHeldUser`, `…_held_state`)."""
        return self.state is JobState.PENDING and "held" in self.reason.lower()

    @property
    def waits_because(self) -> str:
        """Say why there is nothing to look at yet; empty for a job that has started."""
        if self.has_started or self.has_ended:
            return ""
        why = f" ({self.reason})" if self.reason else ""
        return f"Job {self.label} has not started{why}: it has no nodes and no log yet."


class NodeFlag(StrEnum):
    """What is true of a node beside its base state, whoever put it there."""

    DRAIN = "drain"
    RESERVED = "reserved"
    MAINTENANCE = "maintenance"
    REBOOT = "reboot"
    NOT_RESPONDING = "not responding"
    POWERED_DOWN = "powered down"
    COMPLETING = "completing"
    FAIL = "fail"


@dataclass(frozen=True, kw_only=True, slots=True)
class Node:
    """One node as its scheduler knows it now."""

    name: str
    cluster: str
    #: base state in the scheduler's word, upper case: IDLE, ALLOCATED, MIXED, DOWN, …
    state: str
    flags: frozenset[NodeFlag] = frozenset()
    #: everything the scheduler says of the state, joined by `+`
    raw_state: str = ""
    #: why it is drained or down, who said so and when
    reason: str = ""
    reason_by: str = ""
    reason_at: datetime | None = None
    #: reservation that the node is in
    reservation: str = ""
    #: address and host name by which the scheduler reaches it
    address: str = ""
    hostname: str = ""
    partitions: tuple[str, ...] = ()
    booted_at: datetime | None = None
    #: Kubernetes: `.spec.providerID`, and `.status.nodeInfo.systemUUID` and `.bootID`
    provider_id: str = ""
    system_uuid: str = ""
    boot_id: str = ""

    @property
    def host(self) -> Host:
        """Return what this tells about the VM it is, as matching with a cloud's VMs takes it."""
        return Host(
            name=self.name,
            provider_id=self.provider_id or None,
            uuid=self.system_uuid or None,
            address=self.address or None,
        )

    @property
    def drained(self) -> bool:
        """Tell whether no new job starts on it because somebody said so."""
        return NodeFlag.DRAIN in self.flags

    @property
    def idle(self) -> bool:
        """Tell whether a job could start on it now."""
        return self.state == "IDLE" and not self.flags

    @property
    def claim(self) -> str:
        """Quote the reason on the node, with who set it and when."""
        who = f" by {self.reason_by}" if self.reason_by else ""
        when = f" at {self.reason_at:%Y-%m-%d %H:%M} UTC" if self.reason_at else ""
        return f'"{self.reason}"{who}{when}' if self.reason else f"no reason given{who}{when}"


class Stream(StrEnum):
    """Which output a log file holds."""

    STDOUT = "stdout"
    STDERR = "stderr"
    #: both in one file
    BOTH = "stdout and stderr"
    #: output of one step or of one task of it
    STEP = "step"
    #: a worker's file below torchrun's `--log-dir`
    TORCHRUN = "torchrun"
    #: a path that the settings name for the cluster
    SETTINGS = "settings"
    #: what a pod's container wrote to stdout and stderr
    POD = "pod"


class Reading(StrEnum):
    """What became of a log file."""

    READ = "read"
    MISSING = "missing"
    UNREADABLE = "unreadable"


@dataclass(frozen=True, kw_only=True, slots=True)
class LogFile:
    """One file of a job's output, and the lines of it that were worth carrying over."""

    path: str
    stream: Stream
    reading: Reading
    #: why it could not be read, in the far side's words
    because: str = ""
    #: machine on which it was looked at; empty for the login node
    host: str = ""
    #: size of the whole file and how many lines it has
    size_bytes: int = 0
    line_count: int = 0
    #: the selected lines, their ends included, in file order
    text: bytes = b""
    #: number in the file (from 1) of each line of `text`
    numbers: tuple[int, ...] = ()
    #: more lines were selected than were carried over
    cut: bool = False
    modified_at: datetime | None = None
    #: Kubernetes: the pod and the container that wrote it, and the ranks that ran there
    pod: str = ""
    container: str = ""
    ranks: tuple[int, ...] = ()

    def line_in_file(self, line: int) -> int:
        """Return the number in the file of a line (from 1) of `text`."""
        return self.numbers[line - 1]


@dataclass(frozen=True, kw_only=True, slots=True)
class JobLogs:
    """The log files of a job: which were looked for and what they hold."""

    files: tuple[LogFile, ...] = ()
    #: what a reader must know or do: `paste it`, files that cannot be named from here, …
    notes: tuple[str, ...] = ()

    @property
    def read(self) -> tuple[LogFile, ...]:
        """Return the files that were read."""
        return tuple(file for file in self.files if file.reading is Reading.READ)


@dataclass(frozen=True, kw_only=True, slots=True)
class Drained:
    """A drain of ours: the node as it was and as it is now."""

    before: Node
    after: Node
    #: the reason that is on the node, by which the drain is known to be ours
    reason: str
    #: it was drained by us already, and nothing was sent
    already: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class Limits:
    """How much of a log is carried over."""

    #: lines of context before and after each selected line
    before: int = 2
    after: int = 3
    #: first and last bytes of every file, whatever they hold
    head_bytes: int = 8 << 10
    tail_bytes: int = 64 << 10
    #: bytes carried over of one file, and files looked at
    file_bytes: int = 4 << 20
    files: int = 256
    timeout: timedelta = timedelta(minutes=5)
    #: bytes of one pod's log that are looked through; of a longer one the last lines are, too
    stream_bytes: int = 64 << 20
    tail_lines: int = 500
