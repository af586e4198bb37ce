"""Incidents and their timelines, in SQL."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any

from sqlalchemy import Select, bindparam, func, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.errors import StoreError
from bot.incidents.approvals import void_open
from bot.incidents.changes import changed, incident_of, locked, note
from bot.incidents.database import Database, add_new
from bot.incidents.fields import as_row
from bot.incidents.ids import new_id
from bot.incidents.incident import Change, Entry, Incident, IncidentState
from bot.incidents.tables import INCIDENTS, TIMELINE

#: Another replica may open one of the same key in between, and may close it again.
_TRIES = 5
_OVER = "The incident is over."
_GET = select(INCIDENTS).where(INCIDENTS.c.id == bindparam("b_id"))


class Incidents:
    """Keeps one incident for each failing job or paste while it is open."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def open(self, incident: Incident) -> Change:
        """Open an incident, or return the open one of the same key, also when replicas race.

        A new one names the last one of its key, if any, in `reopened_from`; its ID is another
        than was given where that is taken.
        """
        for _ in range(_TRIES):
            async with self._database.writing() as connection:
                change = await _opened(connection, incident)
            if change is not None:
                return change
            incident = replace(incident, id=new_id())
        raise StoreError("Others open and close this very incident all the time: try again.")

    async def get(self, incident_id: str) -> Incident | None:
        """Return an incident, or None where there is none of this ID."""
        async with self._database.reading() as connection:
            row = (await connection.execute(_GET, {"b_id": incident_id})).mappings().first()
            return None if row is None else incident_of(row)

    async def open_of(self, key: str) -> Incident | None:
        """Return the open incident of a key, if any."""
        open_still = INCIDENTS.c.state == IncidentState.OPEN
        found = await self._all(select(INCIDENTS).where(INCIDENTS.c.key == key, open_still))
        return found[0] if found else None

    async def still_open(
        self, *, team: str | None = None, limit: int = 100
    ) -> tuple[Incident, ...]:
        """Return the open incidents, of one workspace or of all, the newest first."""
        query = _newest(team, limit).where(INCIDENTS.c.state == IncidentState.OPEN)
        return await self._all(query)

    async def count_open(self, *, team: str | None = None) -> int:
        """Return how many incidents are open, of one workspace or of all."""
        query = select(func.count()).select_from(INCIDENTS)
        query = query.where(INCIDENTS.c.state == IncidentState.OPEN)
        if team is not None:
            query = query.where(INCIDENTS.c.team == team)
        async with self._database.reading() as connection:
            return int((await connection.execute(query)).scalar_one())

    async def any_open_in(self, channel: str) -> bool:
        """Tell whether an open incident's report is in a channel."""
        here = (INCIDENTS.c.state == IncidentState.OPEN) & (INCIDENTS.c.channel == channel)
        async with self._database.reading() as connection:
            found = await connection.execute(select(INCIDENTS.c.id).where(here).limit(1))
            return found.first() is not None

    async def recent(self, *, team: str | None = None, limit: int = 20) -> tuple[Incident, ...]:
        """Return incidents, open or not, of one workspace or of all, the newest first."""
        return await self._all(_newest(team, limit))

    async def over(self, *, team: str | None = None, limit: int = 20) -> tuple[Incident, ...]:
        """Return the incidents that are over, of one workspace or of all, the newest first."""
        query = _newest(team, limit).where(INCIDENTS.c.state != IncidentState.OPEN)
        return await self._all(query)

    async def checks_since(self, since: datetime) -> tuple[Mapping[str, Any], ...]:
        """Return the checks that were made at a time or later."""
        newer = (INCIDENTS.c.checked_at >= since) & INCIDENTS.c.check.is_not(None)
        async with self._database.reading() as connection:
            found = await connection.execute(select(INCIDENTS.c.check).where(newer))
            return tuple(found.scalars().all())

    async def ended_since(self, since: datetime) -> tuple[Incident, ...]:
        """Return the incidents that ended at a time or later, the first to end first."""
        over = (INCIDENTS.c.state != IncidentState.OPEN) & (INCIDENTS.c.closed_at >= since)
        return await self._all(select(INCIDENTS).where(over).order_by(INCIDENTS.c.closed_at))

    async def record(self, incident_id: str, entry: Entry) -> Incident:
        """Add to the timeline and return the incident; raises UnknownIncidentError."""
        async with self._database.writing() as connection:
            return await changed(connection, await locked(connection, incident_id), entry)

    async def keep_check(
        self, incident_id: str, check: Mapping[str, Any], entry: Entry
    ) -> Incident:
        """Put a check, made at the entry's time, into the place of an older one.

        Of two the later one counts, in whichever order they arrive. Returns the incident; raises
        UnknownIncidentError.
        """
        async with self._database.writing() as connection:
            incident = await locked(connection, incident_id)
            if incident.checked_at is not None and incident.checked_at > entry.at:
                return incident
            return await changed(connection, incident, entry, check=check, checked_at=entry.at)

    async def close(
        self, incident_id: str, entry: Entry, *, state: IncidentState = IncidentState.CLOSED
    ) -> Change:
        """End an incident, and with it every question that is open in it: once, the first counts.

        Raises UnknownIncidentError.
        """
        async with self._database.writing() as connection:
            incident = await locked(connection, incident_id)
            if incident.state is not IncidentState.OPEN:
                return Change(incident=incident, made=False)
            incident = await void_open(connection, incident, at=entry.at, why=_OVER)
            over = {"state": state, "closed_at": entry.at, "closed_by": entry.who}
            return Change(incident=await changed(connection, incident, entry, **over), made=True)

    async def timeline(self, incident_id: str) -> tuple[Entry, ...]:
        """Return what happened, in order."""
        query = select(TIMELINE).where(TIMELINE.c.incident_id == incident_id)
        async with self._database.reading() as connection:
            rows = await connection.execute(query.order_by(TIMELINE.c.revision))
            return tuple(
                Entry(**{name: value for name, value in row.items() if name != "incident_id"})
                for row in rows.mappings()
            )

    async def forget(self, before: datetime) -> int:
        """Clear checks and texts that are older than a time; return how many those were."""
        checks = update(INCIDENTS).where(INCIDENTS.c.checked_at < before)
        texts = update(TIMELINE).where(TIMELINE.c.at < before)
        async with self._database.writing() as connection:
            cleared = [
                await connection.execute(
                    checks.where(INCIDENTS.c.check.is_not(None)).values(check=None)
                ),
                await connection.execute(
                    texts.where(func.length(TIMELINE.c.text) > 0).values(text="")
                ),
            ]
            return sum(result.rowcount for result in cleared)

    async def _all(self, query: Select[Any]) -> tuple[Incident, ...]:
        async with self._database.reading() as connection:
            rows = await connection.execute(query)
            return tuple(incident_of(row) for row in rows.mappings())


async def _opened(connection: AsyncConnection, incident: Incident) -> Change | None:
    """Open an incident; None where another replica, or another ID, came in between."""
    last = (
        select(INCIDENTS)
        .where(INCIDENTS.c.key == incident.key)
        .order_by(INCIDENTS.c.closed_at.is_not(None), INCIDENTS.c.opened_at.desc())
        .limit(1)
    )
    row = (await connection.execute(last)).mappings().first()
    before = None if row is None else incident_of(row)
    if before is not None and before.state is IncidentState.OPEN:
        return Change(incident=before, made=False)
    if before is not None:
        incident = replace(incident, reopened_from=before.id)
    if not await add_new(connection, INCIDENTS, as_row(incident)):
        return None
    await note(
        connection, incident, Entry(at=incident.opened_at, kind="opened", who=incident.asked_by)
    )
    return Change(incident=incident, made=True)


def _newest(team: str | None, limit: int) -> Select[Any]:
    query = select(INCIDENTS).order_by(INCIDENTS.c.opened_at.desc(), INCIDENTS.c.id).limit(limit)
    return query if team is None else query.where(INCIDENTS.c.team == team)
