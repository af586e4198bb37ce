"""Change an incident: one revision, one row of its timeline, and its messages are behind.

Whoever changes an incident, or a row that belongs to it, locks the incident first. So no two
changes have one revision, and no two transactions can wait for each other.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache

from sqlalchemy import Executable, RowMapping, bindparam, insert, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.incidents.errors import UnknownIncidentError
from bot.incidents.fields import as_row
from bot.incidents.incident import Entry, Incident, IncidentState
from bot.incidents.message import card
from bot.incidents.tables import INCIDENTS, MESSAGES, TIMELINE

# Made once: making a statement takes SQLAlchemy longer than running it.
_LOCKED = (
    select(INCIDENTS).where(INCIDENTS.c.id == bindparam("b_id")).with_for_update(key_share=True)
)
_CARDS = MESSAGES.c.purpose.startswith(card(""), autoescape=True)
_DUE = (
    update(MESSAGES)
    .where(MESSAGES.c.incident_id == bindparam("b_id"), MESSAGES.c.live, ~_CARDS)
    .values(due=bindparam("b_due"))
)
_NOTE = insert(TIMELINE)


@cache
def _change(*names: str) -> Executable:
    values = {name: bindparam(f"b_{name}", type_=INCIDENTS.c[name].type) for name in names}
    return update(INCIDENTS).where(INCIDENTS.c.id == bindparam("b_id")).values(**values)


def incident_of(row: RowMapping) -> Incident:
    """Return the incident of a row."""
    return Incident(**{**row, "state": IncidentState(row["state"])})


async def locked(connection: AsyncConnection, incident_id: str) -> Incident:
    """Return an incident that nobody else changes until the transaction ends.

    Raises UnknownIncidentError.
    """
    row = (await connection.execute(_LOCKED, {"b_id": incident_id})).mappings().first()
    if row is None:
        raise UnknownIncidentError(f"There is no incident {incident_id}.")
    return incident_of(row)


async def changed(
    connection: AsyncConnection, incident: Incident, entry: Entry, **values: object
) -> Incident:
    """Change fields of a locked incident and return it, one revision on."""
    new = replace(incident, revision=incident.revision + 1, **values)  # type: ignore[arg-type]
    put = {"revision": new.revision, **values}
    told = {f"b_{name}": value for name, value in put.items()}
    await connection.execute(_change(*put), {**told, "b_id": new.id})
    await note(connection, new, entry)
    await connection.execute(_DUE, {"b_id": new.id, "b_due": new.revision})
    return new


async def note(connection: AsyncConnection, incident: Incident, entry: Entry) -> None:
    """Add to the timeline what has led to the incident's revision."""
    row = {**as_row(entry), "incident_id": incident.id, "revision": incident.revision}
    await connection.execute(_NOTE, row)
