"""The store: one room for each kind of row, on one database."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import datetime

from bot.incidents.approvals import Approvals
from bot.incidents.audits import Audits
from bot.incidents.database import Database, open_database
from bot.incidents.deliveries import Deliveries
from bot.incidents.incidents import Incidents
from bot.incidents.leases import Leases
from bot.incidents.messages import Messages
from bot.incidents.migrate import revisions
from bot.incidents.model import SeenJob
from bot.incidents.runs import Runs
from bot.incidents.seen_jobs import SeenJobs
from bot.incidents.statements import Statements
from bot.incidents.switches import Switches
from bot.incidents.tickets import Captures, Tickets


class Store:
    """Keeps what is seen and done; every method, of its rooms too, is one transaction or a few."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self.incidents = Incidents(database)
        self.messages = Messages(database)
        self.deliveries = Deliveries(database)
        self.approvals = Approvals(database)
        self.step_runs = Runs(database)
        self.statements = Statements(database)
        self.switches = Switches(database)
        self.audit = Audits(database)
        self.leases = Leases(database)
        self.tickets = Tickets(database)
        self.captures = Captures(database)
        self._jobs = SeenJobs(database)

    async def see(self, job: SeenJob) -> SeenJob:
        """Add one look at a job and return all that is now known of that run."""
        return await self._jobs.see(job)

    async def job(self, cluster: str, job_id: str) -> SeenJob | None:
        """Return what is known of the newest run of a job, or None where none was seen."""
        runs = await self._jobs.runs(cluster, job_id)
        return runs[0] if runs else None

    async def runs(self, cluster: str, job_id: str) -> tuple[SeenJob, ...]:
        """Return every run under a job's ID, the newest first."""
        return await self._jobs.runs(cluster, job_id)

    async def seen_since(
        self, since: datetime, *, cluster: str | None = None
    ) -> tuple[SeenJob, ...]:
        """Return the runs that were last seen at a time or later, the latest first."""
        return await self._jobs.seen_since(since, cluster=cluster)

    async def revisions(self) -> tuple[str, str]:
        """Return the revision that the database is at, and the newest that this version knows.

        Begins a writing transaction, and so shows that the database can be written to.
        """
        async with self.database.writing() as connection:
            return await connection.run_sync(revisions)

    async def forget(self, before: datetime) -> int:
        """Forget what is older than a time and return how many rows that changed.

        Jobs and deliveries go whole. Of incidents, approvals, runs, statements and tickets the
        texts go; who did what and when, IDs and digests stay.
        """
        rooms = (
            self._jobs, self.incidents, self.approvals, self.step_runs, self.statements,
            self.deliveries, self.tickets, self.captures,
        )  # fmt: skip
        return sum([await room.forget(before) for room in rooms])


@asynccontextmanager
async def open_store(url: str) -> AsyncIterator[Store]:
    """Open the store at a database URL, its schema created or migrated, and close it at the end.

    `sqlite:///path` and `postgresql://…` are understood. Raises StoreError where the URL is none,
    the database cannot be reached, or a newer version has used it.
    """
    async with open_database(url) as database:
        yield Store(database)
