"""Fill a store with open incidents, as after a bad week, and wait until nothing is undone in it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import cycle
from typing import Any

from sqlalchemy import Table, insert

from bot.incidents.approval import Approval
from bot.incidents.fields import as_row
from bot.incidents.ids import LONG, new_id
from bot.incidents.incident import Entry, Incident, paste_key
from bot.incidents.message import PARENT, Message, card
from bot.incidents.store import Store, open_store
from bot.incidents.tables import APPROVALS, INCIDENTS, MESSAGES, TIMELINE

Check = Mapping[str, Any]
_MOST_S = 120.0
#: Changes of each incident: opened, then checked.
_REVISIONS = 2


async def checks(url: str) -> list[Check]:
    """Return the checks of the latest reports in a store."""
    async with open_store(url) as store:
        recent = await store.incidents.recent(limit=100)
        return [one.check for one in recent if one.check is not None]


async def fill(url: str, count: int, checked: Sequence[Check], *, team: str, channel: str) -> None:
    """Put open incidents with these checks, their parents and timelines into a store."""
    now = datetime.now(UTC)
    if not count:
        return
    found = cycle(checked or [{"headline": "rank 64 cannot resolve node-0"}])
    incidents = [
        Incident(
            id=new_id(LONG), key=paste_key(f"old {number}"), asked_by="U0ENGINEER", team=team,
            opened_at=now - timedelta(minutes=number + 1), channel=channel, check=next(found),
            checked_at=now - timedelta(minutes=number + 1), revision=_REVISIONS,
        )
        for number in range(count)
    ]  # fmt: skip
    rows = {
        INCIDENTS: [as_row(one) for one in incidents],
        MESSAGES: [as_row(_parent(one, number)) for number, one in enumerate(incidents)],
        TIMELINE: [row for one in incidents for row in _timeline(one)],
    }
    async with open_store(url) as store, store.database.writing() as connection:
        for table, told in rows.items():
            await connection.execute(insert(table), told)


def ts(number: int) -> str:
    """Return the time of an incident's parent, which is its name in its channel."""
    return f"1700000000.{number:06d}"


def _parent(one: Incident, number: int) -> Message:
    return Message(
        id=new_id(LONG), incident_id=one.id, purpose=PARENT, team=one.team or "",
        channel=one.channel or "", created_at=one.opened_at, ts=ts(number),
        posted_at=one.opened_at, shown=_REVISIONS, due=_REVISIONS, tries=1,
    )  # fmt: skip


async def fill_approvals(url: str, count: int, *, team: str, channel: str) -> list[str]:
    """Put open approvals into a store, each with its incident and its card; return their ids.

    The parent of number N is `ts(2 * N)`, its card `ts(2 * N + 1)`.
    """
    now = datetime.now(UTC)
    rows: dict[Table, list[dict[str, Any]]] = {
        INCIDENTS: [], MESSAGES: [], TIMELINE: [], APPROVALS: [],
    }  # fmt: skip
    for number in range(count):
        one = Incident(
            id=new_id(LONG), key=paste_key(f"asked {number}"), asked_by="U0ENGINEER", team=team,
            opened_at=now, channel=channel, check=None, revision=_REVISIONS,
        )  # fmt: skip
        asked = Approval(
            id=new_id(), incident_id=one.id, step="restart_resolver", chain=("restart_resolver",),
            vm_id="", vm_name=f"node-{number}", proposed_by="U0ENGINEER", proposed_at=now,
            digest="0" * 64, ready_at=now, expires_at=now + timedelta(minutes=30),
        )  # fmt: skip
        parent = replace(_parent(one, 2 * number), created_at=now)
        said = replace(
            parent, id=new_id(LONG), purpose=card(asked.id), thread=parent.ts,
            ts=ts(2 * number + 1), shown=1, due=1,
        )  # fmt: skip
        rows[INCIDENTS].append(as_row(one))
        rows[MESSAGES] += [as_row(parent), as_row(said)]
        rows[TIMELINE] += _timeline(one)
        rows[APPROVALS].append(as_row(asked))
    async with open_store(url) as store, store.database.writing() as connection:
        for table, told in rows.items():
            if told:
                await connection.execute(insert(table), told)
    return [str(one["id"]) for one in rows[APPROVALS]]


def _timeline(one: Incident) -> list[dict[str, Any]]:
    kinds = ("opened", "checked")
    return [
        {**as_row(Entry(at=one.opened_at, kind=kind)), "incident_id": one.id, "revision": number}
        for number, kind in enumerate(kinds, start=1)
    ]


async def undone(url: str) -> int:
    """Wait until no delivery is undone; return how many are so in the end all the same."""
    async with open_store(url) as store:
        return await _undone(store)


async def _undone(store: Store) -> int:
    deadline = time.monotonic() + _MOST_S
    while left := await store.deliveries.undone():
        if time.monotonic() > deadline:
            break
        await asyncio.sleep(0.2)
    return int(left)
