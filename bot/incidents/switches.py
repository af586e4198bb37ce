"""Switches that hold for all steps: a person's `pause`, and the breaker; in SQL."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from sqlalchemy import RowMapping, or_, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.incidents.approval import ApprovalState
from bot.incidents.audit import Deed, digest_of
from bot.incidents.audits import append
from bot.incidents.changes import changed, locked
from bot.incidents.database import Database, add_new
from bot.incidents.fields import as_row, look_over
from bot.incidents.incident import Entry, IncidentState
from bot.incidents.message import card
from bot.incidents.run import UNDER_WAY, RunState
from bot.incidents.tables import APPROVALS, MESSAGES, RUNS, SWITCHES


class Name(StrEnum):
    """What is switched."""

    #: a person stopped what changes anything
    PAUSE = "pause"
    #: something went wrong in a way that asks for a person
    BREAKER = "breaker"


@dataclass(frozen=True, kw_only=True, slots=True)
class Switch:
    """One switch: on stops every step that changes something, at its next boundary."""

    name: Name
    on: bool
    #: redacted
    reason: str = ""
    #: None for the bot
    who: str | None = None
    at: datetime

    def __post_init__(self) -> None:
        """Refuse what the store cannot keep; raises InputError or ValueError."""
        look_over(self, "who")


class Switches:
    """Keeps what is switched on."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def put(self, switch: Switch) -> bool:
        """Switch on or off and tell whether this call has changed anything."""
        async with self._database.writing() as connection:
            made = switch.on and await add_new(connection, SWITCHES, as_row(switch))
            if not made:
                other = (SWITCHES.c.name == switch.name) & (SWITCHES.c.on != switch.on)
                done = await connection.execute(
                    update(SWITCHES).where(other).values(**as_row(switch))
                )
                made = bool(done.rowcount)
            if made:
                what = f"{switch.name}_{'on' if switch.on else 'off'}"
                await _tell(connection, switch, what)
                deed = Deed(
                    at=switch.at, what=what, who=switch.who, digest=digest_of(switch.reason)
                )
                await append(connection, deed)
            return made

    async def all(self) -> tuple[Switch, ...]:
        """Return every switch that was ever put, on or off."""
        async with self._database.reading() as connection:
            found = await connection.execute(select(SWITCHES).order_by(SWITCHES.c.name))
            return tuple(map(_switch, found.mappings()))

    async def on(self) -> tuple[Switch, ...]:
        """Return the switches that are on, the oldest first."""
        query = select(SWITCHES).where(SWITCHES.c.on).order_by(SWITCHES.c.at)
        async with self._database.reading() as connection:
            return tuple(map(_switch, (await connection.execute(query)).mappings()))


async def _tell(connection: AsyncConnection, switch: Switch, what: str) -> None:
    """Have everything that it holds up show it: cards that wait or go on, and their incidents."""
    moving = select(RUNS.c.approval_id).where(RUNS.c.state.in_((RunState.WAITING, *UNDER_WAY)))
    held = or_(APPROVALS.c.state == ApprovalState.OPEN, APPROVALS.c.id.in_(moving))
    query = select(APPROVALS.c.id, APPROVALS.c.incident_id, APPROVALS.c.revision).where(held)
    cards = (await connection.execute(query.order_by(APPROVALS.c.incident_id))).all()
    entry = Entry(at=switch.at, kind=what, who=switch.who, text=switch.reason)
    for incident_id in dict.fromkeys(one.incident_id for one in cards):
        incident = await locked(connection, incident_id)
        if incident.state is IncidentState.OPEN:
            await changed(connection, incident, entry)
    for one in cards:
        due = one.revision + 1
        await connection.execute(
            update(APPROVALS).where(APPROVALS.c.id == one.id).values(revision=due)
        )
        mine = (MESSAGES.c.incident_id == one.incident_id) & (MESSAGES.c.purpose == card(one.id))
        await connection.execute(update(MESSAGES).where(mine).values(due=due))


def _switch(row: RowMapping) -> Switch:
    return Switch(**{**row, "name": Name(row["name"])})
