"""What was seen of jobs, in SQL."""

from __future__ import annotations

from dataclasses import asdict
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, RowMapping, Select, delete, insert, select, update
from sqlalchemy.exc import IntegrityError

from bot.incidents.database import Database
from bot.incidents.model import SeenJob
from bot.incidents.tables import SEEN_JOBS

#: Two replicas may meet one new job at once; the loser of the insert then finds the winner's row.
_TRIES = 5


class SeenJobs:
    """Keeps what is seen of jobs while their scheduler shows them."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def see(self, job: SeenJob) -> SeenJob:
        """Add one look at a job and return all that is now known of that run.

        A field that was once told is never lost; of two looks the later one counts, in whichever
        order they arrive. A look that cannot be at the run known last starts a new run.
        """
        for _ in range(_TRIES - 1):
            try:
                return await self._see(job)
            except IntegrityError:
                continue
        return await self._see(job)

    async def _see(self, job: SeenJob) -> SeenJob:
        async with self._database.writing() as connection:
            # locked: a second replica must add to what this one writes
            runs = await connection.execute(_runs(job.cluster, job.job_id).with_for_update())
            rows = runs.mappings().all()
            for row in rows:
                known = _job(row)
                if known.same_run(job):
                    merged = known.merged(job)
                    key = _is(job.cluster, job.job_id) & (SEEN_JOBS.c.run == row["run"])
                    await connection.execute(update(SEEN_JOBS).where(key).values(**asdict(merged)))
                    return merged
            run = max((row["run"] for row in rows), default=0) + 1
            await connection.execute(insert(SEEN_JOBS).values(run=run, **asdict(job)))
            return job

    async def runs(self, cluster: str, job_id: str) -> tuple[SeenJob, ...]:
        """Return every run under a job's ID, the newest first."""
        async with self._database.reading() as connection:
            rows = await connection.execute(_runs(cluster, job_id))
            return tuple(_job(row) for row in rows.mappings())

    async def seen_since(
        self, since: datetime, *, cluster: str | None = None
    ) -> tuple[SeenJob, ...]:
        """Return the runs that were last seen at a time or later, the latest first."""
        query = select(SEEN_JOBS).where(SEEN_JOBS.c.last_seen >= since)
        if cluster is not None:
            query = query.where(SEEN_JOBS.c.cluster == cluster)
        query = query.order_by(
            SEEN_JOBS.c.last_seen.desc(), SEEN_JOBS.c.cluster, SEEN_JOBS.c.job_id
        )
        async with self._database.reading() as connection:
            rows = await connection.execute(query)
            return tuple(_job(row) for row in rows.mappings())

    async def forget(self, before: datetime) -> int:
        """Delete the runs that were last seen before a time and return how many those were."""
        async with self._database.writing() as connection:
            gone = await connection.execute(delete(SEEN_JOBS).where(SEEN_JOBS.c.last_seen < before))
            return gone.rowcount


def _is(cluster: str, job_id: str) -> ColumnElement[bool]:
    return (SEEN_JOBS.c.cluster == cluster) & (SEEN_JOBS.c.job_id == job_id)


def _runs(cluster: str, job_id: str) -> Select[Any]:
    return select(SEEN_JOBS).where(_is(cluster, job_id)).order_by(SEEN_JOBS.c.run.desc())


def _job(row: RowMapping) -> SeenJob:
    return SeenJob(**{name: value for name, value in row.items() if name != "run"})
