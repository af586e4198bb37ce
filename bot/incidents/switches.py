"""Switches that hold for all steps: a person's `pause`, and the breaker; in SQL."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from sqlalchemy import RowMapping, select, update

from bot.incidents.audit import Deed, digest_of
from bot.incidents.audits import append
from bot.incidents.database import Database, add_new
from bot.incidents.fields import as_row, look_over
from bot.incidents.tables import SWITCHES


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
                deed = Deed(
                    at=switch.at, what=what, who=switch.who, digest=digest_of(switch.reason)
                )
                await append(connection, deed)
            return made

    async def on(self) -> tuple[Switch, ...]:
        """Return the switches that are on, the oldest first."""
        query = select(SWITCHES).where(SWITCHES.c.on).order_by(SWITCHES.c.at)
        async with self._database.reading() as connection:
            return tuple(map(_switch, (await connection.execute(query)).mappings()))


def _switch(row: RowMapping) -> Switch:
    return Switch(**{**row, "name": Name(row["name"])})
