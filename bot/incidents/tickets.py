"""Tickets and captures of evidence, in SQL."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from sqlalchemy import RowMapping, delete, func, select, update

from bot.errors import StoreError
from bot.incidents.audit import Deed, digest_of
from bot.incidents.audits import append
from bot.incidents.changes import changed, locked
from bot.incidents.columns import json_text
from bot.incidents.database import Database, add_new
from bot.incidents.fields import as_row
from bot.incidents.incident import Entry, IncidentState
from bot.incidents.tables import CAPTURES, INCIDENTS, TICKETS
from bot.incidents.ticket import Capture, Mail, Ticket

#: Captures of an incident that are kept: the first, before anything was done, and the last ones.
_CAPTURES = 6


class Tickets:
    """Keeps every version of an incident's ticket, and what came of mailing it."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def add(self, ticket: Ticket, *, first: bool = False) -> Ticket | None:
        """Keep a version and return it with its number; with `first` only where there is none.

        Raises UnknownIncidentError.
        """
        async with self._database.writing() as connection:
            incident = await locked(connection, ticket.incident_id)
            query = select(func.max(TICKETS.c.number))
            of = query.where(TICKETS.c.incident_id == ticket.incident_id)
            last = (await connection.execute(of)).scalar() or 0
            if first and last:
                return None
            new = replace(ticket, number=last + 1)
            if not await add_new(connection, TICKETS, as_row(new)):
                raise StoreError(f"There is a ticket {ticket.id} already.")
            entry = Entry(
                at=new.at, kind="ticket_drafted", who=new.who, about=new.id,
                text=f"version {new.number}",
            )  # fmt: skip
            await changed(connection, incident, entry)
            deed = Deed(
                at=new.at, what="ticket_drafted", who=new.who, incident_id=new.incident_id,
                about=new.id, digest=digest_of(json_text(new.content)),
            )  # fmt: skip
            await append(connection, deed)
            return new

    async def of(self, incident_id: str) -> tuple[Ticket, ...]:
        """Return every version of an incident's ticket, the oldest first."""
        query = select(TICKETS).where(TICKETS.c.incident_id == incident_id)
        async with self._database.reading() as connection:
            rows = await connection.execute(query.order_by(TICKETS.c.number))
            return tuple(map(_ticket, rows.mappings()))

    async def get(self, ticket_id: str) -> Ticket | None:
        """Return a version; None where there is none of this id."""
        async with self._database.reading() as connection:
            query = select(TICKETS).where(TICKETS.c.id == ticket_id)
            row = (await connection.execute(query)).mappings().first()
            return None if row is None else _ticket(row)

    async def newest_of_open(self) -> tuple[Ticket, ...]:
        """Return the newest version of the ticket of each open incident that has one."""
        newest = (
            select(TICKETS.c.incident_id, func.max(TICKETS.c.number).label("number"))
            .join(INCIDENTS, INCIDENTS.c.id == TICKETS.c.incident_id)
            .where(INCIDENTS.c.state == IncidentState.OPEN)
            .group_by(TICKETS.c.incident_id)
            .subquery()
        )
        query = select(TICKETS).join(
            newest,
            (TICKETS.c.incident_id == newest.c.incident_id) & (TICKETS.c.number == newest.c.number),
        )
        async with self._database.reading() as connection:
            return tuple(map(_ticket, (await connection.execute(query)).mappings()))

    async def begin_mail(self, ticket_id: str, *, by: str, at: datetime) -> bool:
        """Take the sending of a version upon oneself; False where somebody else has, or did."""
        free = TICKETS.c.mail.in_([Mail.NONE, Mail.FAILED])
        put = {"mail": Mail.SENDING, "mail_by": by, "mail_at": at}
        query = update(TICKETS).where(TICKETS.c.id == ticket_id, free).values(**put)
        async with self._database.writing() as connection:
            return (await connection.execute(query)).rowcount == 1

    async def end_mail(self, ticket_id: str, mail: Mail, said: str, *, at: datetime) -> None:
        """Keep what came of sending a version; raises StoreError for none that is being sent."""
        known = await self.get(ticket_id)
        mine = (TICKETS.c.id == ticket_id) & (TICKETS.c.mail == Mail.SENDING)
        query = update(TICKETS).where(mine).values(mail=mail, mail_said=said, mail_at=at)
        async with self._database.writing() as connection:
            incident = await locked(connection, known.incident_id if known else "")
            row = (await connection.execute(query.returning(TICKETS))).mappings().first()
            if row is None:
                raise StoreError(f"The ticket {ticket_id} is not being sent.")
            ticket = _ticket(row)
            kind = f"mail_{mail}"
            entry = Entry(at=at, kind=kind, who=ticket.mail_by, about=ticket.id, text=said)
            await changed(connection, incident, entry)
            deed = Deed(
                at=at, what=kind, who=ticket.mail_by, incident_id=ticket.incident_id,
                about=ticket.id, digest=digest_of(said),
            )  # fmt: skip
            await append(connection, deed)

    async def forget(self, before: datetime) -> int:
        """Clear what older versions say; return how many those were."""
        old = (TICKETS.c.at < before) & TICKETS.c.content.is_not(None)
        async with self._database.writing() as connection:
            cleared = update(TICKETS).where(old).values(content=None, mail_said="")
            return (await connection.execute(cleared)).rowcount


class Captures:
    """Keeps what was answered at a look: a repair destroys it."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def keep(self, capture: Capture) -> None:
        """Keep one, and of its incident the first and the last few alone."""
        async with self._database.writing() as connection:
            await add_new(connection, CAPTURES, as_row(capture))
            of = select(CAPTURES.c.id).where(CAPTURES.c.incident_id == capture.incident_id)
            ordered = of.order_by(CAPTURES.c.at, CAPTURES.c.id)
            ids = list((await connection.execute(ordered)).scalars())
            if left := ids[1 : 1 - _CAPTURES]:
                await connection.execute(delete(CAPTURES).where(CAPTURES.c.id.in_(left)))

    async def of(self, incident_id: str) -> tuple[Capture, ...]:
        """Return what is kept of an incident, the oldest first."""
        query = select(CAPTURES).where(CAPTURES.c.incident_id == incident_id)
        async with self._database.reading() as connection:
            rows = await connection.execute(query.order_by(CAPTURES.c.at, CAPTURES.c.id))
            return tuple(Capture(**row) for row in rows.mappings())

    async def forget(self, before: datetime) -> int:
        """Clear what is older than a time; return how many those were."""
        old = (CAPTURES.c.at < before) & CAPTURES.c.outputs.is_not(None)
        async with self._database.writing() as connection:
            return (
                await connection.execute(update(CAPTURES).where(old).values(outputs=None))
            ).rowcount


def newest(tickets: Sequence[Ticket]) -> Ticket | None:
    """Return the last version; None where there is none."""
    return tickets[-1] if tickets else None


def _ticket(row: RowMapping) -> Ticket:
    return Ticket(**{**row, "mail": Mail(row["mail"])})
