"""Runs of approved steps, in SQL, and the marks that keep a call from being sent twice."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any

from sqlalchemy import RowMapping, Select, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.incidents.audit import Deed
from bot.incidents.audits import append
from bot.incidents.changes import changed, locked
from bot.incidents.database import Database, add_new
from bot.incidents.errors import UnknownRunError
from bot.incidents.fields import as_row
from bot.incidents.incident import Entry
from bot.incidents.message import card
from bot.incidents.run import UNDER_WAY, Run, RunState, cut
from bot.incidents.tables import APPROVALS, MESSAGES, RUNS, SENDINGS

#: Names of outcomes in the timeline and the audit, so that `passed` there is a run's.
_STATES = {state: f"run_{state.value.replace(' ', '_')}" for state in RunState}


class Runs:
    """Keeps how far each step of each approved chain is."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def begin(self, run: Run) -> Run:
        """Keep a new run, or return the one of this id."""
        async with self._database.writing() as connection:
            await locked(connection, run.incident_id)
            await add_new(connection, RUNS, as_row(run))
            return await _run(connection, run.id)

    async def move(
        self, run_id: str, state: RunState, *, at: datetime, **changes: Any  # noqa: ANN401
    ) -> Run:  # fmt: skip
        """Put a run into another state, which the timeline and its card show; over stays over.

        Raises UnknownRunError.
        """
        async with self._database.writing() as connection:
            old = await _run(connection, run_id)
            incident = await locked(connection, old.incident_id)
            old = await _run(connection, run_id)
            new = old.moved(state, at=at, **changes)
            if new is old:
                return old
            await _put(connection, new)
            if state is not old.state:
                entry = Entry(at=at, kind=_STATES[state], about=new.id, text=new.sentence)
                await changed(connection, incident, entry)
                deed = Deed(
                    at=at, what=_STATES[state], incident_id=new.incident_id, about=new.id,
                    vm_id=new.vm_id,
                )  # fmt: skip
                await append(connection, deed)
            return new

    async def progress(
        self, run_id: str, sentence: str, *,
        done: int | None = None, total: int | None = None, unit: str = "",
    ) -> None:  # fmt: skip
        """Show how far a run is on its card; no row of the timeline."""
        async with self._database.writing() as connection:
            old = await _run(connection, run_id)
            new = old.moved(
                old.state, at=old.started_at, sentence=sentence, done=done, total=total, unit=unit
            ) if old.started_at else old  # fmt: skip
            if new is not old:
                await _put(connection, new)

    async def add(self, run_id: str, words: str, *, at: datetime) -> Run:
        """Add words to a run that has ended, such as that it was proven again."""
        async with self._database.writing() as connection:
            old = await _run(connection, run_id)
            incident = await locked(connection, old.incident_id)
            old = await _run(connection, run_id)
            said = cut(f"{old.sentence} {words}".strip())
            new = replace(old, sentence=said, revision=old.revision + 1)
            await _put(connection, new)
            entry = Entry(at=at, kind="run_watched", about=run_id, text=words)
            await changed(connection, incident, entry)
            return new

    async def get(self, run_id: str) -> Run | None:
        """Return a run, or None where there is none of this id."""
        found = await self._all(select(RUNS).where(RUNS.c.id == run_id))
        return found[0] if found else None

    async def of(self, approval_id: str) -> tuple[Run, ...]:
        """Return the runs of a chain, in its order."""
        query = select(RUNS).where(RUNS.c.approval_id == approval_id)
        return await self._all(query.order_by(RUNS.c.number))

    async def of_incident(self, incident_id: str) -> tuple[Run, ...]:
        """Return all runs of an incident, the oldest first."""
        query = select(RUNS).where(RUNS.c.incident_id == incident_id)
        return await self._all(query.order_by(RUNS.c.started_at, RUNS.c.id))

    async def under_way(self) -> tuple[Run, ...]:
        """Return the runs that may be changing something now."""
        return await self._all(select(RUNS).where(RUNS.c.state.in_(UNDER_WAY)))

    async def since(self, at: datetime) -> tuple[Run, ...]:
        """Return the runs that were begun at a time or later, the oldest first."""
        query = select(RUNS).where(RUNS.c.started_at >= at)
        return await self._all(query.order_by(RUNS.c.started_at, RUNS.c.id))

    async def ended_since(self, at: datetime) -> tuple[Run, ...]:
        """Return the runs that ended at a time or later, the oldest first."""
        query = select(RUNS).where(RUNS.c.ended_at >= at)
        return await self._all(query.order_by(RUNS.c.ended_at, RUNS.c.id))

    # -- calls that must not be sent twice

    async def mark_sending(
        self, run_id: str, call: str, *, at: datetime, by: str, before: Mapping[str, Any]
    ) -> Mapping[str, Any] | None:
        """Mark a call as about to be sent; None where this is the first mark, or what that kept.

        Whoever gets None may send it, once. Anybody after that looks at what became of it.
        """
        row = {"run_id": run_id, "call": call, "at": at, "by": by, "before": before}
        this = (SENDINGS.c.run_id == run_id) & (SENDINGS.c.call == call)
        async with self._database.writing() as connection:
            run = await _run(connection, run_id)
            if await add_new(connection, SENDINGS, row):
                deed = Deed(
                    at=at, what=f"send_{call}", incident_id=run.incident_id, about=run_id,
                    vm_id=run.vm_id,
                )  # fmt: skip
                await append(connection, deed)
                return None
            found = (await connection.execute(select(SENDINGS).where(this))).mappings().one()
            return dict(found)

    async def sendings(self, run_id: str) -> tuple[Mapping[str, Any], ...]:
        """Return the marks of a run."""
        query = select(SENDINGS).where(SENDINGS.c.run_id == run_id).order_by(SENDINGS.c.at)
        async with self._database.reading() as connection:
            return tuple(dict(row) for row in (await connection.execute(query)).mappings())

    async def forget(self, before: datetime) -> int:
        """Clear outputs that are older than a time; return how many runs had some."""
        old = (RUNS.c.ended_at < before) & (RUNS.c.proof != "{}")
        async with self._database.writing() as connection:
            return (await connection.execute(update(RUNS).where(old).values(proof={}))).rowcount

    async def _all(self, query: Select[Any]) -> tuple[Run, ...]:
        async with self._database.reading() as connection:
            return tuple(map(_of, (await connection.execute(query)).mappings()))


async def _run(connection: AsyncConnection, run_id: str) -> Run:
    row = (await connection.execute(select(RUNS).where(RUNS.c.id == run_id))).mappings().first()
    if row is None:
        raise UnknownRunError(f"There is no run {run_id}.")
    return _of(row)


async def _put(connection: AsyncConnection, new: Run) -> None:
    """Write a run; the card of its approval is behind then."""
    await connection.execute(update(RUNS).where(RUNS.c.id == new.id).values(**as_row(new)))
    approval = APPROVALS.c.id == new.approval_id
    await connection.execute(
        update(APPROVALS).where(approval).values(revision=APPROVALS.c.revision + 1)
    )
    revision = select(APPROVALS.c.revision).where(approval).scalar_subquery()
    mine = (MESSAGES.c.incident_id == new.incident_id) & (
        MESSAGES.c.purpose == card(new.approval_id)
    )
    await connection.execute(update(MESSAGES).where(mine).values(due=revision))


def _of(row: RowMapping) -> Run:
    return Run(**{**row, "state": RunState(row["state"])})
