"""Find a job and its logs: at its scheduler, or in what was seen of it before that forgot it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime

from bot.errors import StoreError
from bot.fleet.nodes import node_list
from bot.incidents.model import SeenJob
from bot.incidents.store import Store
from bot.schedulers import ids
from bot.schedulers.errors import (
    NeedsWayError,
    PurgedJobError,
    SchedulerError,
    SchedulerUnavailableError,
    UnknownJobError,
)
from bot.schedulers.model import Job, JobId, JobLogs, JobState
from bot.schedulers.port import Scheduler
from bot.triage.services import Services, Watched

#: Where what a report says of a job comes from, beside the scheduler's own words.
FROM_STORE = "store"


@dataclass(frozen=True, kw_only=True, slots=True)
class FoundJob:
    """A job, the cluster it is of, and its logs."""

    cluster: Watched
    job: Job
    known_from: str
    logs: JobLogs
    #: what a reader must know, one sentence each
    notes: tuple[str, ...] = ()


async def find(services: Services, text: str, *, with_logs: bool = True) -> FoundJob:
    """Return the job that a text names, from its scheduler or else from the store.

    What its scheduler tells is kept in the store: a cluster without accounting forgets a job
    minutes after its end. Raises the scheduler's error where nobody knows the job.
    """
    asked = ids.parse(text, services.known_clusters)
    cluster = services.clusters[ids.resolve(asked, services.known_clusters).name]
    if cluster.scheduler is None:
        message = (
            f"Cluster {cluster.name} has no way to its scheduler in the settings: name a "
            "slurmrestd or a login node. Nobody was asked."
        )
        raise NeedsWayError(message)
    notes: list[str] = []
    try:
        job = await cluster.scheduler.job(asked)
        known_from = job.known_from.value
        notes += await _keep(services.store, job, services.now())
    except (PurgedJobError, UnknownJobError, SchedulerUnavailableError) as error:
        seen = await _seen(services.store, cluster.name, asked)
        if seen is None:
            raise
        job, known_from = _job_of(seen), FROM_STORE
        notes.append(
            f"{error} What follows was kept when it was last seen, {_time(seen.last_seen)}."
        )
    logs, problem = await _logs(cluster.scheduler, job, wanted=with_logs)
    return FoundJob(
        cluster=cluster,
        job=job,
        known_from=known_from,
        logs=logs,
        notes=(*notes, *job.notes, *problem, *logs.notes),
    )


async def _logs(scheduler: Scheduler, job: Job, *, wanted: bool) -> tuple[JobLogs, tuple[str, ...]]:
    if not wanted:
        return JobLogs(), ()
    try:
        return await scheduler.logs(job), ()
    except SchedulerError as error:
        return JobLogs(), (f"The logs were not read: {error}",)


async def _keep(store: Store | None, job: Job, now: datetime) -> list[str]:
    if store is None:
        return []
    try:
        for part in job.parts or (job,):
            await store.see(_seen_of(part, now))
    except StoreError as error:
        return [f"What was seen of the job was not kept: {error}"]
    return []


async def _seen(store: Store | None, cluster: str, asked: JobId) -> SeenJob | None:
    if store is None:
        return None
    try:
        return await store.job(cluster, asked.job)
    except StoreError:
        return None


def _seen_of(job: Job, now: datetime) -> SeenJob:
    return SeenJob(
        cluster=job.cluster,
        job_id=job.label,
        first_seen=now,
        last_seen=now,
        state=job.raw_state or None,
        name=job.name or None,
        user=job.user or None,
        nodes=",".join(job.nodes) or None,
        tasks_per_node=None if job.ntasks_per_node is None else str(job.ntasks_per_node),
        distribution=job.distribution,
        stdout_path=job.stdout or None,
        stderr_path=job.stderr or None,
        work_dir=job.work_dir or None,
        batch_host=job.batch_host or None,
        exit_code=job.exit_code,
        exit_signal=job.exit_signal,
        restarts=job.restarts,
        submitted_at=job.submitted_at,
        started_at=job.started_at,
        ended_at=job.ended_at,
    )


def _job_of(seen: SeenJob) -> Job:
    nodes = node_list(seen.nodes) if seen.nodes else ()
    told = seen.tasks_per_node or ""
    each = int(told) if told.isdigit() else None
    word = (seen.state or "").split("+")[0].upper()
    job = Job(
        id=seen.job_id,
        cluster=seen.cluster,
        state=JobState(word) if word in set(JobState) else JobState.OTHER,
        raw_state=seen.state or "",
        name=seen.name or "",
        user=seen.user or "",
        nodes=nodes,
        ntasks_per_node=each,
        ntasks=None if each is None else each * len(nodes),
        distribution=seen.distribution,
        stdout=seen.stdout_path or "",
        stderr=seen.stderr_path or "",
        work_dir=seen.work_dir or "",
        batch_host=seen.batch_host or "",
        exit_code=seen.exit_code,
        exit_signal=seen.exit_signal,
        restarts=seen.restarts or 0,
        submitted_at=seen.submitted_at,
        started_at=seen.started_at,
        ended_at=seen.ended_at,
    )
    # a stored path is final: patterns were replaced when it was seen, or are kept as given
    return replace(job, batch=True if seen.stdout_path else None)


def _time(moment: datetime) -> str:
    return f"{moment:%Y-%m-%d %H:%M} UTC"
