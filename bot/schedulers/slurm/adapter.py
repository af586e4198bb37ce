"""The port, spoken to a Slurm cluster by the first configured way that can."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import TypeVar

from bot.schedulers.about import About
from bot.schedulers.errors import (
    JobIdError,
    NeedsWayError,
    PurgedJobError,
    SchedulerError,
    UnknownJobError,
    UnknownNodeError,
)
from bot.schedulers.model import (
    DistributionFrom,
    Job,
    JobId,
    JobLogs,
    JobState,
    Kind,
    Limits,
    Node,
)
from bot.schedulers.port import Operation, Scheduler
from bot.schedulers.reruns import Reruns
from bot.schedulers.select import agreed_distribution, one_job, started
from bot.schedulers.slurm import logs, script
from bot.schedulers.slurm.login import LoginWay
from bot.schedulers.slurm.reruns import SlurmReruns
from bot.schedulers.slurm.way import History, Way

_Answer = TypeVar("_Answer")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class SlurmScheduler(Scheduler):
    """One Slurm cluster."""

    def __init__(
        self,
        cluster: str,
        ways: Sequence[Way],
        *,
        log_patterns: Sequence[str] = (),
        limits: Limits | None = None,
    ) -> None:
        """Take the ways in the order in which they are to be tried."""
        self.cluster = cluster
        self._ways = tuple(ways)
        self._log_patterns = tuple(log_patterns)
        self._limits = limits or Limits()

    def ways(self, operation: Operation) -> tuple[str, ...]:
        """Return the configured ways that can do this, in order."""
        return tuple(way.name for way in self._ways if operation in way.can)

    async def job(self, job: JobId) -> Job:
        """Return a job from the controller, or else from whoever remembers it."""
        number = _number(job)
        if not self.ways(Operation.JOB):
            raise self._lacks(Operation.JOB, job.job)
        live = await self._read(Operation.JOB, job.job, lambda way: way.live(number))
        if live:
            try:
                return await self._with_layout(one_job(live, job, self.cluster))
            except UnknownJobError:
                # other tasks of the array are there, this one is forgotten
                pass
        return await self._remembered(job, number)

    async def logs(self, job: Job) -> JobLogs:
        """Return the job's log files, searched where they lie."""
        if job.waits_because:
            return JobLogs(notes=(job.waits_because,))
        way = next((one for one in self._ways if isinstance(one, LoginWay)), None)
        if way is None:
            raise self._lacks(Operation.LOGS, job.label)
        asked = job
        if not (job.stdout or job.stderr):
            # v0.0.38 leaves default paths out, the commands do not
            asked = _with_paths(job, await way.live(int(job.id)))
        said = script.read(await way.script(asked), asked)
        return await logs.search(
            way.runner, asked, logs.plan(asked, said, self._log_patterns), self._limits
        )

    async def failures(self, since: datetime) -> tuple[Job, ...]:
        """Return failed jobs since a time, the latest first."""
        found = await self._read(
            Operation.FAILURES,
            f"jobs since {since:%Y-%m-%d %H:%M}",
            lambda way: way.failures(since),
        )
        recent = [job for job in found if (job.ended_at or _EPOCH) >= since]
        return tuple(sorted(recent, key=lambda job: job.ended_at or _EPOCH, reverse=True))

    async def named_nodes(self, names: tuple[str, ...]) -> tuple[Node, ...]:
        """Return these nodes in the given order."""
        found = await self._read(
            Operation.NODES, ", ".join(names[:5]), lambda way: way.some_nodes(names)
        )
        by_name = {node.name: node for node in found}
        if missing := [name for name in names if name not in by_name]:
            message = f"Cluster {self.cluster} has no node {', '.join(missing[:5])}."
            raise UnknownNodeError(message)
        return tuple(by_name[name] for name in names)

    async def idle_nodes(self, partition: str = "") -> tuple[Node, ...]:
        """Return the idle nodes, of one partition or of all."""
        return tuple(
            node
            for node in await self.all_nodes()
            if node.idle and (not partition or partition in node.partitions)
        )

    async def all_nodes(self) -> tuple[Node, ...]:
        """Return every node."""
        return await self._read(Operation.NODES, "the nodes", lambda way: way.all_nodes())

    async def recent_jobs(self) -> tuple[Job, ...]:
        """Return the jobs that the controller remembers, the last started first."""
        return started(await self._read(Operation.JOB, "the jobs", lambda way: way.all_jobs()))

    async def about(self) -> tuple[About, ...]:
        """Ask every configured way what it tells of Slurm, all at once."""
        return tuple(await asyncio.gather(*(_about(way) for way in self._ways)))

    async def hold(self, job: JobId) -> None:
        """Keep a waiting job from starting."""
        _number(job)
        await self._by(Operation.HOLD, job.job).hold(job.job)

    async def cancel(self, job: JobId) -> None:
        """End a job."""
        _number(job)
        await self._by(Operation.CANCEL, job.job).cancel(job.job)

    async def requeue(self, job: JobId) -> None:
        """Put a batch job back into the queue."""
        _number(job)
        await self._by(Operation.REQUEUE, job.job).requeue(job.job)

    def reruns(self) -> Reruns:
        """Return what keeps a job and runs it again; raises NeedsWayError without a login node."""
        way = next((one for one in self._ways if isinstance(one, LoginWay)), None)
        if way is None:
            raise self._lacks(Operation.REQUEUE, "a job")
        return SlurmReruns(way=way, job=self.job, logs=self.logs, limits=self._limits)

    async def _drain(self, node: Node, reason: str) -> None:
        await self._by(Operation.DRAIN, node.name).drain(node.name, reason)

    async def _resume(self, node: Node) -> None:
        await self._by(Operation.RESUME, node.name).resume(node.name)

    def _by(self, operation: Operation, what: str) -> Way:
        for way in self._ways:
            if operation in way.can:
                return way
        raise self._lacks(operation, what)

    async def _read(
        self, operation: Operation, what: str, ask: Callable[[Way], Awaitable[_Answer]]
    ) -> _Answer:
        """Ask the ways in order; the next one only where one is out of reach."""
        last: SchedulerError | None = None
        for way in self._ways:
            if operation not in way.can:
                continue
            try:
                return await ask(way)
            except SchedulerError as error:
                if not error.transient:
                    raise
                last = error
        raise last or self._lacks(operation, what)

    def _lacks(self, operation: Operation, what: str) -> NeedsWayError:
        configured = ", ".join(way.name for way in self._ways) or "nothing"
        return NeedsWayError(
            f"{operation.value} of {what} was not done: it needs a login node of cluster "
            f"{self.cluster}, and the settings have {configured}."
        )

    async def _remembered(self, job: JobId, number: int) -> Job:
        """Ask every way that remembers forgotten jobs, and say why none does."""
        told: list[History] = []
        away: SchedulerError | None = None
        for way in self._ways:
            if Operation.HISTORY not in way.can:
                continue
            try:
                history = await way.history(number)
            except SchedulerError as error:
                if not error.transient:
                    raise
                away = error
                continue
            told.append(history)
            if not history.jobs:
                continue
            try:
                return one_job(history.jobs, job, self.cluster)
            except UnknownJobError:
                continue
        if away is not None and not told:
            raise away
        raise self._unknown(job, number, told)

    def _unknown(self, job: JobId, number: int, told: list[History]) -> SchedulerError:
        if any(history.accounting for history in told):
            return UnknownJobError(
                f"Neither the controller nor the accounting of cluster {self.cluster} knows job "
                f"{job.job}. Check the number and the cluster."
            )
        upcoming = next((one.next_number for one in told if one.next_number), None)
        if upcoming is not None and number >= upcoming:
            return UnknownJobError(
                f"Cluster {self.cluster} has not given out the number {number} yet: the next job "
                f"is {upcoming}. Check the number and the cluster."
            )
        after = next((one.forgets_after for one in told if one.forgets_after), None)
        when = f"{after} s after its end" if after else "some minutes after its end"
        sure = "was purged" if upcoming is not None else "was purged or never existed"
        return PurgedJobError(
            f"Job {job.job} {sure}, and accounting is disabled on cluster {self.cluster}: the "
            f"controller forgets a job {when}, so nobody can tell its nodes or its log files. "
            "Paste its log, or name the file."
        )

    async def _with_layout(self, job: Job) -> Job:
        """Add what the running steps and the script say of how tasks are laid over nodes."""
        if job.parts:
            parts = tuple([await self._with_layout(part) for part in job.parts])
            return replace(parts[0], parts=parts)
        way = next((one for one in self._ways if Operation.STEPS in one.can), None)
        if way is None or not job.has_started:
            return job
        said = script.read(await way.script(job), job)
        job = replace(job, torchrun=said.torchrun, steps_take_all=said.whole_job)
        if job.distribution:
            return job
        running = job.state in {JobState.RUNNING, JobState.COMPLETING, JobState.SUSPENDED}
        steps = await way.steps(job) if running else ()
        if layout := agreed_distribution(steps):
            return replace(
                job,
                steps=steps,
                distribution=layout,
                distribution_from=DistributionFrom.STEP,
            )
        return replace(
            job,
            steps=steps,
            distribution=said.distribution,
            distribution_from=None if said.distribution is None else DistributionFrom.SCRIPT,
        )


async def _about(way: Way) -> About:
    try:
        return await way.about()
    except SchedulerError as error:
        return About(way=way.name, problem=str(error))


def _number(job: JobId) -> int:
    if job.kind is not Kind.SLURM or job.number is None:
        raise JobIdError(f"{job} is no job of Slurm.")
    return job.number


def _with_paths(job: Job, live: tuple[Job, ...]) -> Job:
    """Return the job with the paths and the kind that the commands tell."""
    same = next((one for one in live if one.id == job.id), None)
    if same is None:
        return job
    return replace(
        job,
        stdout=same.stdout,
        stderr=same.stderr,
        work_dir=same.work_dir or job.work_dir,
        batch=same.batch,
    )
