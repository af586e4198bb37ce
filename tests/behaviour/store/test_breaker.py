"""What opens the breaker before a step: a common cause, and what is stale; on each database."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from bot.incidents.audit import Deed
from bot.incidents.incident import Entry
from bot.incidents.store import Store
from bot.incidents.switches import Name, Switch
from bot.recovery.breaker import common_cause, opened, stale, together
from bot.recovery.limits import Blast
from bot.recovery.world import Scene
from bot.schedulers.ids import Cluster
from bot.schedulers.memory import MemoryScheduler
from bot.schedulers.model import Kind, Node
from bot.triage.services import Services, Watched
from bot.triage.world import FleetWorld
from tests.behaviour.store.rows import AT, MINUTE
from tests.behaviour.store.rows import opened as opened_incident

pytestmark = pytest.mark.anyio
BLAST = Blast()
SCENE = Scene(incident_id="i", host="node-8", vm_name="node-8", cluster="hall")


def check(
    *names: str, finding: str = "resolver_failed", fleet_wide: bool = False
) -> dict[str, object]:
    """Return the part of a check that tells what was found on machines."""
    found = [{"finding": finding, "fleet_wide": fleet_wide}]
    return {"machines": [{"host": name, "findings": found} for name in names]}


def test_what_is_together() -> None:
    """Three VMs with one finding that is theirs; not two, not what everybody sees, not healthy."""
    said = together([check("node-1"), check("node-2", "node-3")], 3)
    assert said.startswith("3 VMs have resolver failed at the same time (node-1, node-2, node-3)")
    assert not together([check("node-1"), check("node-1", "node-2")], 3)
    assert not together([check("a", "b", "c", fleet_wide=True)], 3)
    assert not together([check("a", "b", "c", finding="healthy_now")], 3)
    assert not together([check("a", "b"), check("c", finding="resolver_hung")], 3)
    assert not together([{}, {"machines": None}], 3)


async def looked(store: Store, name: str, at: datetime) -> None:
    """Keep a check of one VM, in an incident of its own."""
    one = await opened_incident(store, key=f"job:{name}", job_id=name, check=None, checked_at=None)
    entry = Entry(at=at, kind="checked", text="looked at")
    await store.incidents.keep_check(one.id, check(name), entry)


async def test_three_within_ten_minutes(store: Store) -> None:
    """What was seen longer ago, or before a person closed the breaker, does not count."""
    await looked(store, "node-1", AT - 11 * MINUTE)
    await looked(store, "node-2", AT - 5 * MINUTE)
    await looked(store, "node-3", AT - 4 * MINUTE)
    assert not await common_cause(store, BLAST, AT)
    await looked(store, "node-4", AT - MINUTE)
    assert (await common_cause(store, BLAST, AT)).startswith("3 VMs have resolver failed")
    await opened(store, "why", AT)
    await opened(store, "another reason", AT)
    assert [one.reason for one in await store.switches.on()] == ["why"]
    await store.switches.put(Switch(name=Name.BREAKER, on=False, who="U0GRACE", at=AT))
    assert not await common_cause(store, BLAST, AT + MINUTE)


def world(store: Store, *nodes: str) -> FleetWorld:
    """Return a world whose scheduler knows these nodes."""
    told = [Node(name=name, cluster="hall", state="IDLE", raw_state="IDLE") for name in nodes]
    watched = Watched(
        name="hall", known_as=Cluster(name="hall", kind=Kind.SLURM), cloud=None,
        scheduler=MemoryScheduler("hall", nodes=told),
    )  # fmt: skip
    return FleetWorld(services=Services(clusters={"hall": watched}), store=store)


async def test_a_scheduler_that_does_not_tell(store: Store) -> None:
    """A step rests on a scheduler that answers for the machine now."""
    now = datetime.now(UTC)
    assert not await stale(store, world(store, "node-8"), SCENE, BLAST, now)
    said = await stale(store, world(store), SCENE, BLAST, now)
    assert said.startswith("The scheduler of hall does not tell of node-8 now")
    without = replace(SCENE, cluster="")
    assert not await stale(store, world(store), without, BLAST, now)


async def test_clocks_that_differ(store: Store) -> None:
    """A clock that is off makes readings look fresh that are not: nothing is done by it."""
    now = datetime.now(UTC)
    there = world(store, "node-8")
    said = await stale(store, there, SCENE, BLAST, now + timedelta(minutes=5))
    assert "clock and the database's are 300 s apart" in said
    await store.audit.note(Deed(at=now + timedelta(hours=1), what="approved"))
    said = await stale(store, there, SCENE, BLAST, now)
    assert "ahead of this machine's clock" in said
