"""Approvals, in SQL: the compare-and-set under which a click counts once."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any

from sqlalchemy import RowMapping, Select, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from bot.errors import StoreError
from bot.incidents.approval import (
    Approval,
    ApprovalState,
    Decision,
    Proposal,
    Verdict,
    entry_of,
)
from bot.incidents.audit import Deed
from bot.incidents.audits import append
from bot.incidents.changes import changed, locked
from bot.incidents.database import Database, add_new
from bot.incidents.errors import ClosedIncidentError, UnknownApprovalError
from bot.incidents.fields import as_row
from bot.incidents.incident import Entry, Incident, IncidentState
from bot.incidents.message import card
from bot.incidents.tables import APPROVALS, MESSAGES

_OPEN = APPROVALS.c.state == ApprovalState.OPEN


class Approvals:
    """Keeps every question put to people, and decides each once."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def propose(self, approval: Approval) -> Proposal:
        """Ask for a step, or return the question about it that is open already.

        One question at a time is open about a step on a VM in an incident. Raises
        UnknownIncidentError, or ClosedIncidentError where the incident is over.
        """
        async with self._database.writing() as connection:
            incident = await locked(connection, approval.incident_id)
            _refuse_closed(incident)
            before, incident = await _open_question(connection, incident, approval)
            if before is not None:
                return Proposal(approval=before, made=False)
            if not await add_new(connection, APPROVALS, as_row(approval)):
                raise StoreError(f"The ID {approval.id} is another approval's: propose it anew.")
            entry = Entry(
                at=approval.proposed_at, kind="proposed", who=approval.proposed_by,
                about=approval.id,
            )  # fmt: skip
            await changed(connection, incident, entry)
            await append(connection, _deed(approval, entry))
            return Proposal(approval=approval, made=True)

    async def ready(
        self, approval_id: str, *, at: datetime, expires_at: datetime, digest: str
    ) -> Approval:
        """Let an approval be decided from now on, bound to what is seen now; once."""
        return await self._change(
            approval_id,
            lambda old: old.readied(at=at, expires_at=expires_at, digest=digest),
            at=at,
        )

    async def decide(
        self,
        approval_id: str,
        verdict: Verdict,
        *,
        by: str,
        at: datetime,
        reason: str | None = None,
        alone: bool = False,
    ) -> Decision:
        """Count a person's click and say what it came to; of all that race, one decides.

        `alone`: one person is enough where two are asked for, since the glass is broken.

        Whether that person may decide is asked before. Raises UnknownApprovalError.
        """
        async with self._database.writing() as connection:
            incident, old = await _locked(connection, approval_id)
            decision = old.decided(verdict, by=by, at=at, reason=reason, alone=alone)
            who = by if decision.approval.state is not ApprovalState.EXPIRED else None
            await _put(connection, incident, old, decision.approval, at=at, by=who)
            return decision

    async def void(
        self, approval_id: str, *, at: datetime, why: str, by: str | None = None
    ) -> Approval:
        """Take back a question, or an approval whose ground has changed; raises as `decide`."""
        return await self._change(
            approval_id, lambda old: old.voided(at=at, why=why, by=by), at=at, by=by
        )

    async def expire(self, at: datetime) -> tuple[Approval, ...]:
        """Expire what nobody decided in time; return what this call has expired."""
        overdue = select(APPROVALS.c.id).where(_OPEN, APPROVALS.c.expires_at <= at)
        async with self._database.reading() as connection:
            found = (await connection.execute(overdue.order_by(APPROVALS.c.expires_at))).scalars()
        mine = []
        for approval_id in found.all():
            async with self._database.writing() as connection:
                incident, old = await _locked(connection, approval_id)
                new = old.expired(at=at)
                if new is not old:
                    await _put(connection, incident, old, new, at=at)
                    mine.append(new)
        return tuple(mine)

    async def get(self, approval_id: str) -> Approval | None:
        """Return an approval, or None where there is none of this ID."""
        found = await self._all(select(APPROVALS).where(APPROVALS.c.id == approval_id))
        return found[0] if found else None

    async def of(self, incident_id: str) -> tuple[Approval, ...]:
        """Return the approvals of an incident, the oldest first."""
        return await self._all(_oldest().where(APPROVALS.c.incident_id == incident_id))

    async def waiting(self, *, limit: int = 100) -> tuple[Approval, ...]:
        """Return the approvals that somebody has to decide, the oldest first."""
        return await self._all(_oldest().where(_OPEN).limit(limit))

    async def ready_between(self, after: datetime, until: datetime) -> tuple[Approval, ...]:
        """Return what still waits of that which could be decided from after one time, by another.

        A few microseconds where there is none, however many wait.
        """
        these = (APPROVALS.c.ready_at > after) & (APPROVALS.c.ready_at <= until)
        return await self._all(_oldest().where(_OPEN, these))

    async def approved_since(self, since: datetime) -> tuple[Approval, ...]:
        """Return what was approved at a time or later: each must have its workflow."""
        approved = APPROVALS.c.state == ApprovalState.APPROVED
        return await self._all(_oldest().where(approved, APPROVALS.c.decided_at >= since))

    async def forget(self, before: datetime) -> int:
        """Clear reasons that are older than a time; return how many those were."""
        old = (APPROVALS.c.decided_at < before) & APPROVALS.c.reason.is_not(None)
        async with self._database.writing() as connection:
            return (
                await connection.execute(update(APPROVALS).where(old).values(reason=None))
            ).rowcount

    async def _change(
        self,
        approval_id: str,
        change: Callable[[Approval], Approval],
        *,
        at: datetime,
        by: str | None = None,
    ) -> Approval:
        async with self._database.writing() as connection:
            incident, old = await _locked(connection, approval_id)
            new = change(old)
            await _put(connection, incident, old, new, at=at, by=by)
            return new

    async def _all(self, query: Select[Any]) -> tuple[Approval, ...]:
        async with self._database.reading() as connection:
            return tuple(_approval(row) for row in (await connection.execute(query)).mappings())


async def void_open(
    connection: AsyncConnection, incident: Incident, *, at: datetime, why: str
) -> Incident:
    """Void every open approval of a locked incident and return the incident."""
    query = _oldest().where(APPROVALS.c.incident_id == incident.id, _OPEN)
    for row in (await connection.execute(query)).mappings().all():
        old = _approval(row)
        new = old.voided(at=at, why=why)
        incident = await _put(connection, incident, old, new, at=at)
    return incident


async def _locked(connection: AsyncConnection, approval_id: str) -> tuple[Incident, Approval]:
    """Lock an approval's incident and read the approval after that."""
    this = APPROVALS.c.id == approval_id
    whose = await connection.scalar(select(APPROVALS.c.incident_id).where(this))
    if whose is None:
        message = f"There is no approval {approval_id}, so nothing was decided."
        raise UnknownApprovalError(message)
    incident = await locked(connection, whose)
    row = (await connection.execute(select(APPROVALS).where(this))).mappings().one()
    return incident, _approval(row)


async def _put(
    connection: AsyncConnection,
    incident: Incident,
    old: Approval,
    new: Approval,
    *,
    at: datetime,
    by: str | None = None,
) -> Incident:
    """Write what has changed of an approval: its card and the rest of the thread are behind."""
    if new == old:
        return incident
    await connection.execute(
        update(APPROVALS).where(APPROVALS.c.id == new.id).values(**as_row(new))
    )
    mine = (MESSAGES.c.incident_id == incident.id) & (MESSAGES.c.purpose == card(new.id))
    await connection.execute(update(MESSAGES).where(mine).values(due=new.revision))
    entry = entry_of(old, new, at=at, by=by)
    incident = await changed(connection, incident, entry)
    await append(connection, _deed(new, entry))
    return incident


def _deed(approval: Approval, entry: Entry) -> Deed:
    return Deed(
        at=entry.at, what=entry.kind, who=entry.who, incident_id=approval.incident_id,
        about=approval.id, vm_id=approval.vm_id, digest=approval.digest,
    )  # fmt: skip


async def _open_question(
    connection: AsyncConnection, incident: Incident, asked: Approval
) -> tuple[Approval | None, Incident]:
    """Find the open approval of the same step; one whose time is over is expired on the way."""
    query = select(APPROVALS).where(
        _OPEN,
        APPROVALS.c.incident_id == incident.id,
        APPROVALS.c.vm_id == asked.vm_id,
        APPROVALS.c.step == asked.step,
    )
    row = (await connection.execute(query)).mappings().first()
    if row is None:
        return None, incident
    old = _approval(row)
    new = old.expired(at=asked.proposed_at)
    if new is old:
        return old, incident
    return None, await _put(connection, incident, old, new, at=asked.proposed_at)


def _refuse_closed(incident: Incident) -> None:
    if incident.state is not IncidentState.OPEN:
        when = f"{incident.closed_at:%Y-%m-%d %H:%M} UTC"
        message = f"Incident {incident.id} was {incident.state} at {when}: open it again first."
        raise ClosedIncidentError(message)


def _oldest() -> Select[Any]:
    return select(APPROVALS).order_by(APPROVALS.c.proposed_at, APPROVALS.c.id)


def _approval(row: RowMapping) -> Approval:
    told = {**row, "state": ApprovalState(row["state"]), "chain": tuple(row["chain"])}
    return Approval(**told)
