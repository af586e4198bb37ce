"""Time the store when it holds 1,000 incidents and 10,000 deliveries against when it is empty.

SQLite in a file; both stores do one thing in turn, so that what else the machine does hits both.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import timedelta
from statistics import median
from typing import Any

from sqlalchemy import Table, insert

from bot.incidents.approval import Verdict
from bot.incidents.fields import as_row
from bot.incidents.incident import Entry
from bot.incidents.message import card
from bot.incidents.store import Store, open_store
from bot.incidents.tables import APPROVALS, DELIVERIES, INCIDENTS, MESSAGES, TIMELINE
from tests.behaviour.store.rows import AT, MINUTE, approval, delivery, incident, message
from tests.benchmarks.rows import Bench
from tests.benchmarks.table import Row, ratio_row

INCIDENTS_HELD = 1_000
DELIVERIES_HELD = 10_000
OPEN_APPROVALS = 200
_MESSAGES_EACH = 6
_UNDONE = 100
_ENTRIES_EACH = 20
_ROUNDS = 40
_LEASE = timedelta(minutes=1)

#: One thing that a store does; the number makes what it is done to unlike any other.
Deed = Callable[[Store, str], Awaitable[None]]


@dataclass(frozen=True, kw_only=True)
class Times:
    """Seconds of one deed, round by round."""

    name: str
    empty: list[float]
    full: list[float]


def keeping(bench: Bench) -> Iterator[Row]:
    """Compare the full store with the empty one, deed by deed."""
    bench.say("filling a store")
    urls = [f"sqlite:///{bench.folder}/{name}.db" for name in ("empty", "full")]
    held = f"{INCIDENTS_HELD} incidents, {DELIVERIES_HELD} deliveries"
    yield Row(name="the store, SQLite", result=f"{held}, {OPEN_APPROVALS} open approvals")
    for times in asyncio.run(compared(*urls)):
        best = min(times.full)
        yield Row(name=f"  {times.name}", best=best, median=median(times.full))
        yield ratio_row("    to an empty store", best / min(times.empty))


async def compared(empty_url: str, full_url: str) -> list[Times]:
    """Do every deed on both stores in turn, the second of which is filled first."""
    async with open_store(empty_url) as empty, open_store(full_url) as full:
        await fill(full)
        return [await _timed(name, deed, empty, full) for name, deed in DEEDS.items()]


async def _timed(name: str, deed: Deed, empty: Store, full: Store) -> Times:
    times = Times(name=name, empty=[], full=[])
    for number in range(-1, _ROUNDS):
        for store, seconds in ((empty, times.empty), (full, times.full)):
            began = time.perf_counter()
            await deed(store, f"{name} {number}")
            # the first round opens connections and compiles statements
            if number >= 0:
                seconds.append(time.perf_counter() - began)
    return times


async def _deliver(store: Store, name: str) -> None:
    await store.deliveries.receive(delivery(name))


async def _work(store: Store, name: str) -> None:
    late = AT + 60 * MINUTE
    new = delivery(name, received_at=AT - MINUTE)
    await store.deliveries.receive(new)
    (taken,) = await store.deliveries.take(by="me", at=late, lease=_LEASE, limit=1)
    await store.deliveries.done(taken.id, at=late)


async def _report(store: Store, name: str) -> None:
    change = await store.incidents.open(incident(key=name))
    kept = await store.messages.own(message(change.incident.id))
    await store.messages.claim(kept.id, by="me", at=AT, lease=_LEASE)
    await store.messages.sent(kept.id, ts=name, at=AT, shown=1)
    await store.incidents.record(change.incident.id, Entry(at=AT, kind="probed"))
    await store.messages.claim(kept.id, by="me", at=AT, lease=_LEASE)
    await store.messages.rendered(kept.id, by="me", shown=2)


async def _decide(store: Store, name: str) -> None:
    change = await store.incidents.open(incident(key=name))
    asked = await store.approvals.propose(approval(change.incident.id))
    await store.approvals.decide(asked.approval.id, Verdict.APPROVE, by="U0LEE", at=AT)


async def _reconcile(store: Store, _name: str) -> None:
    """Look for what is to be done, as the timer does every few seconds."""
    late = AT + 60 * MINUTE
    await store.approvals.expire(AT)
    await store.approvals.approved_since(late)
    await store.messages.behind(at=late)
    await store.messages.unsent(since=AT, at=late)
    await store.deliveries.undone()


DEEDS: Mapping[str, Deed] = {
    "insert before the ack": _deliver,
    "insert, take, done": _work,
    "open, own, send, change, edit": _report,
    "open, propose, decide": _decide,
    "the timer's round": _reconcile,
}


async def fill(store: Store) -> None:
    """Put in what a busy year leaves behind, most of it over."""
    incidents = [
        incident(key=f"old {number}", id=f"incident-{number}", opened_at=AT - number * MINUTE)
        for number in range(INCIDENTS_HELD)
    ]
    asked = [approval(one.id, id=f"approval-{one.id}") for one in incidents]
    rows: dict[Table, list[dict[str, Any]]] = {table: [] for table in _FILLED}
    for one, question in zip(incidents, asked, strict=True):
        rows[INCIDENTS].append(as_row(one) | {"revision": _ENTRIES_EACH})
        state = "open" if len(rows[APPROVALS]) < OPEN_APPROVALS else "approved"
        decided = None if state == "open" else AT
        rows[APPROVALS].append(as_row(question) | {"state": state, "decided_at": decided})
        for number in range(_ENTRIES_EACH):
            entry = as_row(Entry(at=AT, kind="probed", revision=number))
            rows[TIMELINE].append(entry | {"incident_id": one.id})
        purposes = ["parent", card(question.id), *map(str, range(_MESSAGES_EACH - 2))]
        for purpose in purposes:
            said = message(one.id, purpose, ts=f"{one.id} {purpose}", shown=1, due=1)
            rows[MESSAGES].append(as_row(said))
    for number in range(DELIVERIES_HELD):
        came = as_row(delivery(f"old {number}"))
        over = {} if number < _UNDONE else {"done_at": AT, "payload": None}
        rows[DELIVERIES].append({"done_at": None, **came, **over})
    async with store.database.writing() as connection:
        for table, told in rows.items():
            await connection.execute(insert(table), told)


#: In the order in which they refer to each other.
_FILLED = (INCIDENTS, TIMELINE, MESSAGES, APPROVALS, DELIVERIES)
