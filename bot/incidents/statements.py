"""What people and readings said of VMs, in SQL."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from sqlalchemy import RowMapping, func, select, update

from bot.incidents.audit import Deed, digest_of
from bot.incidents.audits import append
from bot.incidents.changes import changed, locked
from bot.incidents.database import Database, add_new
from bot.incidents.fields import as_row
from bot.incidents.incident import Entry
from bot.incidents.statement import Kind, Statement
from bot.incidents.tables import STATEMENTS


class Statements:
    """Keeps what steps rest on beside what is measured."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def say(self, statement: Statement) -> bool:
        """Keep a statement, once by its id, and tell whether this call did.

        Raises UnknownIncidentError.
        """
        async with self._database.writing() as connection:
            incident = await locked(connection, statement.incident_id)
            if not await add_new(connection, STATEMENTS, as_row(statement)):
                return False
            entry = Entry(
                at=statement.at, kind=statement.kind, who=statement.who, about=statement.id,
                text=" ".join(filter(None, (statement.vm_name, statement.about, statement.text))),
            )  # fmt: skip
            await changed(connection, incident, entry)
            deed = Deed(
                at=statement.at, what=statement.kind, who=statement.who,
                incident_id=statement.incident_id, about=statement.id, vm_id=statement.vm_id,
                digest=digest_of(statement.vm_name, statement.about, statement.text),
            )  # fmt: skip
            await append(connection, deed)
            return True

    async def of(self, incident_id: str, vm_name: str = "") -> tuple[Statement, ...]:
        """Return what was said in an incident, of one VM or of all, the oldest first."""
        query = select(STATEMENTS).where(STATEMENTS.c.incident_id == incident_id)
        if vm_name:
            query = query.where(STATEMENTS.c.vm_name == vm_name)
        async with self._database.reading() as connection:
            rows = await connection.execute(query.order_by(STATEMENTS.c.at, STATEMENTS.c.id))
            return tuple(map(_statement, rows.mappings()))

    async def get(self, statement_id: str) -> Statement | None:
        """Return a statement; None where there is none of this id."""
        async with self._database.reading() as connection:
            query = select(STATEMENTS).where(STATEMENTS.c.id == statement_id)
            row = (await connection.execute(query)).mappings().first()
            return None if row is None else _statement(row)

    async def of_kind(
        self, kind: Kind, incident_ids: Sequence[str]
    ) -> Mapping[str, tuple[Statement, ...]]:
        """Return what was said of one kind, by incident, the oldest first."""
        found: dict[str, list[Statement]] = {}
        here = STATEMENTS.c.incident_id.in_(incident_ids) & (STATEMENTS.c.kind == kind)
        query = select(STATEMENTS).where(here).order_by(STATEMENTS.c.at, STATEMENTS.c.id)
        async with self._database.reading() as connection:
            for row in (await connection.execute(query)).mappings():
                found.setdefault(row["incident_id"], []).append(_statement(row))
        return {name: tuple(said) for name, said in found.items()}

    async def forget(self, before: datetime) -> int:
        """Clear words that are older than a time; return how many those were."""
        old = (STATEMENTS.c.at < before) & (func.length(STATEMENTS.c.text) > 0)
        async with self._database.writing() as connection:
            return (
                await connection.execute(update(STATEMENTS).where(old).values(text=""))
            ).rowcount


def latest(statements: Sequence[Statement], *kinds: Kind) -> Statement | None:
    """Return the last statement of some kinds; None where there is none."""
    return next((one for one in reversed(statements) if one.kind in kinds), None)


def _statement(row: RowMapping) -> Statement:
    return Statement(**{**row, "kind": Kind(row["kind"])})
