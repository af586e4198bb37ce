"""Change an incident: one revision, one row of its timeline, and its messages are behind.

Whoever changes an incident, or a row that belongs to it, locks the incident first. So no two
changes have one revision, and no two transactions can wait for each other.
"""

from __future__ import annotations

from dataclasses import replace

from sqlalchemy import RowMapping, insert, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.incidents.errors import UnknownIncidentError
from bot.incidents.fields import as_row
from bot.incidents.incident import Entry, Incident, IncidentState
from bot.incidents.message import card
from bot.incidents.tables import INCIDENTS, MESSAGES, TIMELINE


def incident_of(row: RowMapping) -> Incident:
    """Return the incident of a row."""
    return Incident(**{**row, "state": IncidentState(row["state"])})


async def locked(connection: AsyncConnection, incident_id: str) -> Incident:
    """Return an incident that nobody else changes until the transaction ends.

    Raises UnknownIncidentError.
    """
    query = select(INCIDENTS).where(INCIDENTS.c.id == incident_id).with_for_update(key_share=True)
    row = (await connection.execute(query)).mappings().first()
    if row is None:
        raise UnknownIncidentError(f"There is no incident {incident_id}.")
    return incident_of(row)


async def changed(
    connection: AsyncConnection, incident: Incident, entry: Entry, **values: object
) -> Incident:
    """Change fields of a locked incident and return it, one revision on."""
    new = replace(incident, revision=incident.revision + 1, **values)  # type: ignore[arg-type]
    await connection.execute(
        update(INCIDENTS).where(INCIDENTS.c.id == new.id).values(revision=new.revision, **values)
    )
    await note(connection, new, entry)
    cards = MESSAGES.c.purpose.startswith(card(""), autoescape=True)
    await connection.execute(
        update(MESSAGES)
        .where(MESSAGES.c.incident_id == new.id, MESSAGES.c.live, ~cards)
        .values(due=new.revision)
    )
    return new


async def note(connection: AsyncConnection, incident: Incident, entry: Entry) -> None:
    """Add to the timeline what has led to the incident's revision."""
    row = {**as_row(entry), "incident_id": incident.id, "revision": incident.revision}
    await connection.execute(insert(TIMELINE).values(**row))
