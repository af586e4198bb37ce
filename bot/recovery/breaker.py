"""What opens the breaker before anything is changed: a common cause, or something that is stale."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from bot.hosts.meanings import MEANINGS
from bot.hosts.model import Rung
from bot.incidents.store import Store
from bot.incidents.switches import Name, Switch
from bot.recovery.limits import Blast
from bot.recovery.world import Scene, World
from bot.schedulers.errors import SchedulerError

#: Findings that a step on the machine mends; several at a time have a cause that is not theirs.
_OURS = frozenset(
    str(finding)
    for finding, meaning in MEANINGS.items()
    if meaning.helps - {Rung.NOTHING, Rung.SUPPORT}
)
#: So many deeds are looked at for a time that is yet to come.
_DEEDS = 100


async def closed_at(store: Store) -> datetime | None:
    """Return when a person closed the breaker last; None where it never was open."""
    for switch in await store.switches.all():
        if switch.name is Name.BREAKER and not switch.on:
            return switch.at
    return None


async def common_cause(store: Store, blast: Blast, now: datetime) -> str:
    """Say that several VMs have one finding at a time; empty where that is not so.

    Only looks since the breaker was last closed count: a person has judged those before.
    """
    closed = await closed_at(store)
    since = max(filter(None, (now - blast.together, closed)))
    checks = await store.incidents.checks_since(since)
    return together(checks, blast.with_one_finding)


def together(checks: Iterable[Mapping[str, Any]], most: int) -> str:
    """Say which finding so many VMs have in these checks; empty where none is on as many."""
    found: dict[str, set[str]] = defaultdict(set)
    for check in checks:
        for machine in check.get("machines") or ():
            name = str((machine.get("vm") or {}).get("name") or machine.get("host") or "")
            for one in machine.get("findings") or ():
                if one.get("finding") in _OURS and not one.get("fleet_wide"):
                    found[one["finding"]].add(name)
    for finding, names in sorted(found.items()):
        if len(names) >= most:
            shown = ", ".join(sorted(names)[:5])
            return (
                f"{len(names)} VMs have {finding.replace('_', ' ')} at the same time ({shown}): "
                "that is hardly the fault of each."
            )
    return ""


async def stale(store: Store, world: World, scene: Scene, blast: Blast, now: datetime) -> str:
    """Say what is too old or too wrong to rest a step on: scheduler, store or clock.

    Raises StoreError where the store does not answer at all: then nothing can be done either.
    """
    theirs = await store.leases.clock()
    if abs(theirs - now) > blast.skew:
        seconds = abs(theirs - now).total_seconds()
        return f"This machine's clock and the database's are {seconds:.0f} s apart."
    last = await _latest(store)
    if last is not None and last - now > blast.skew:
        seconds = (last - now).total_seconds()
        return f"The store holds a deed that is {seconds:.0f} s ahead of this machine's clock."
    if scene.cluster:
        try:
            await world.scheduler(scene).named_nodes((scene.host,))
        except SchedulerError as error:
            return f"The scheduler of {scene.cluster} does not tell of {scene.host} now: {error}"
    return ""


async def _latest(store: Store) -> datetime | None:
    """Return the latest time of the last deeds, of those since the breaker was last closed.

    A clock that was set back leaves them in the future; whoever closed the breaker has judged that.
    """
    times = []
    for link in await store.audit.latest(_DEEDS):
        if link.deed.what == "breaker_off":
            break
        times.append(link.deed.at)
    return max(times, default=None)


async def opened(store: Store, why: str, now: datetime) -> None:
    """Open the breaker; where it is open already its first reason stays."""
    await store.switches.put(Switch(name=Name.BREAKER, on=True, reason=why, at=now))
