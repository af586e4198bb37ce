"""A scheduler in memory: the same port without a cluster, for tests, demos and dry runs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from datetime import UTC, datetime

from bot.schedulers.about import About
from bot.schedulers.errors import (
    PurgedJobError,
    RequestRefusedError,
    UnknownNodeError,
)
from bot.schedulers.model import (
    FAILED_STATES,
    Job,
    JobId,
    JobLogs,
    JobState,
    LogFile,
    Node,
    NodeFlag,
    Reading,
    Stream,
)
from bot.schedulers.port import Operation, Scheduler
from bot.schedulers.select import one_job, started

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class MemoryScheduler(Scheduler):
    """Hold jobs, nodes and the bytes of log files."""

    def __init__(
        self,
        cluster: str = "memory",
        *,
        jobs: Iterable[Job] = (),
        nodes: Iterable[Node] = (),
        files: Mapping[str, bytes] | None = None,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self.cluster = cluster
        self.jobs = {job.id: job for job in jobs}
        self.nodes_by_name = {node.name: node for node in nodes}
        #: what lies at each path
        self.files = dict(files or {})
        self.forgotten: set[int] = set()
        #: what it tells of itself
        self.told = About(way="memory", accounting=True, may_change=True, rights="It is ours.")
        self._now = now

    def ways(self, operation: Operation) -> tuple[str, ...]:
        """Return the one way there is."""
        del operation
        return ("memory",)

    async def job(self, job: JobId) -> Job:
        """Return a job, or say why there is none."""
        if job.number in self.forgotten:
            raise PurgedJobError(
                f"Job {job.job} was purged, and accounting is disabled: "
                "nobody remembers it. Paste its log."
            )
        return one_job(tuple(self.jobs.values()), job, self.cluster)

    async def logs(self, job: Job) -> JobLogs:
        """Return the job's output files whole: nothing is far away here."""
        if job.batch is False:
            return JobLogs(notes=(f"Job {job.label} is interactive; paste it.",))
        if job.waits_because:
            return JobLogs(notes=(job.waits_because,))
        if job.stdout == job.stderr or not job.stderr:
            named = {job.stdout: Stream.BOTH}
        else:
            named = {job.stdout: Stream.STDOUT, job.stderr: Stream.STDERR}
        return JobLogs(files=tuple(self._file(path, kind) for path, kind in named.items() if path))

    async def failures(self, since: datetime) -> tuple[Job, ...]:
        """Return the failed jobs since a time, the latest first."""
        found = [
            job
            for job in self.jobs.values()
            if job.state in FAILED_STATES and (job.ended_at or _EPOCH) >= since
        ]
        return tuple(sorted(found, key=lambda job: job.ended_at or _EPOCH, reverse=True))

    async def named_nodes(self, names: tuple[str, ...]) -> tuple[Node, ...]:
        """Return these nodes in the given order."""
        if missing := [name for name in names if name not in self.nodes_by_name]:
            raise UnknownNodeError(f"Cluster {self.cluster} has no node {', '.join(missing)}.")
        return tuple(self.nodes_by_name[name] for name in names)

    async def idle_nodes(self, partition: str = "") -> tuple[Node, ...]:
        """Return the idle nodes, of one partition or of all."""
        return tuple(
            node
            for node in self.nodes_by_name.values()
            if node.idle and (not partition or partition in node.partitions)
        )

    async def all_nodes(self) -> tuple[Node, ...]:
        """Return every node."""
        return tuple(self.nodes_by_name.values())

    async def recent_jobs(self) -> tuple[Job, ...]:
        """Return the jobs, the last started first."""
        return started(self.jobs.values())

    async def about(self) -> tuple[About, ...]:
        """Return what it was made to tell."""
        return (self.told,)

    async def hold(self, job: JobId) -> None:
        """Keep a waiting job from starting."""
        held = await self._single(job)
        if held.state is not JobState.PENDING:
            raise RequestRefusedError(f"Job {held.label} is {held.raw_state}; it cannot be held.")
        self.put(replace(held, reason="JobHeldAdmin"))

    async def cancel(self, job: JobId) -> None:
        """End a job."""
        ended = await self._single(job)
        if not ended.has_ended:
            self.put(
                replace(
                    ended,
                    state=JobState.CANCELLED,
                    raw_state=JobState.CANCELLED,
                    ended_at=self._now(),
                )
            )

    async def requeue(self, job: JobId) -> None:
        """Put a batch job back into the queue."""
        again = await self._single(job)
        if again.batch is False:
            raise RequestRefusedError(f"Job {again.label} is interactive; it cannot be requeued.")
        self.put(
            replace(
                again,
                state=JobState.PENDING,
                raw_state=JobState.PENDING,
                nodes=(),
                steps=(),
                started_at=None,
                ended_at=None,
                exit_code=None,
                exit_signal=None,
                restarts=again.restarts + 1,
            )
        )

    async def _drain(self, node: Node, reason: str) -> None:
        flags = node.flags | {NodeFlag.DRAIN}
        self.set_node(
            replace(
                node,
                flags=flags,
                raw_state=f"{node.raw_state or node.state}+DRAIN",
                reason=reason,
                reason_by="nccl-dns",
                reason_at=self._now(),
            )
        )

    async def _resume(self, node: Node) -> None:
        flags = node.flags - {NodeFlag.DRAIN}
        self.set_node(
            replace(
                node, flags=flags, raw_state=node.state, reason="", reason_by="", reason_at=None
            )
        )

    def put(self, job: Job) -> None:
        """Add a job, or put another one in its place."""
        self.jobs[job.id] = job

    def set_node(self, node: Node) -> None:
        """Add a node, or put another one in its place."""
        self.nodes_by_name[node.name] = node

    def forget(self, number: int) -> None:
        """Let a job be purged, as a controller without accounting does."""
        self.forgotten.add(number)
        self.jobs.pop(str(number), None)

    async def _single(self, job: JobId) -> Job:
        found = await self.job(job)
        if found.parts and job.het_offset is None:
            return found.parts[0]
        return found

    def _file(self, path: str, stream: Stream) -> LogFile:
        data = self.files.get(path)
        if data is None:
            return LogFile(
                path=path, stream=stream, reading=Reading.MISSING, because="no such file"
            )
        lines = data.splitlines(keepends=True)
        return LogFile(
            path=path,
            stream=stream,
            reading=Reading.READ,
            size_bytes=len(data),
            line_count=len(lines),
            text=data,
            numbers=tuple(range(1, len(lines) + 1)),
        )
