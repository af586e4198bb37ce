"""A bot without Slack: engine, steps and store, carrying out chains until all are over, or killed.

`python -m tests.crash.replica ORDER`, a JSON file: see `Order`. Exit code 0: everything that the
store holds has ended. It imports only what carries steps out, so that it starts quickly.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, cast

from bot.clouds.port import Cloud
from bot.fleet.placement import Known
from bot.hosts import repairs
from bot.hosts.model import Evidence, Finding, ProbeResult, Rung
from bot.hosts.port import Repairs, Target
from bot.hosts.repairs import GuestRung
from bot.incidents.approval import Verdict as Decided
from bot.incidents.ids import new_id
from bot.incidents.incident import Incident
from bot.incidents.run import OVER
from bot.incidents.store import Store, open_store
from bot.recovery import service
from bot.recovery.carrying import Carrier
from bot.recovery.doing import Tools, Waits
from bot.recovery.engine import dbos_engine
from bot.recovery.engine.port import Durable
from bot.recovery.facts import DataStatus, Facts, Tried
from bot.recovery.limits import Blast
from bot.recovery.proposing import Proposer
from bot.recovery.service import Recovery
from bot.recovery.world import Scene, Seen, Shown, Verdict, World
from bot.schedulers.port import Scheduler
from tests.crash.boundaries import Boundaries, Watched
from tests.crash.far import Far, FarCloud

#: Whatever is tried of them, one VM's unknown outcome keeps nobody from the next.
_BLAST = Blast(at_once=1_000, an_hour=1_000_000, unknowns=1_000_000)
_WAITS = Waits(
    look=timedelta(milliseconds=30), operation=timedelta(seconds=20),
    boot=timedelta(milliseconds=600),
    settle=timedelta(milliseconds=150), again=(timedelta(milliseconds=50),),
)  # fmt: skip
_PATIENCE_S = 100.0
#: What was approved before this is over; whether it is, is judged at the end.
_LATELY = timedelta(seconds=30)


@dataclass(frozen=True, kw_only=True)
class Order:
    """What a replica is to do."""

    store: str
    engine: str
    far: str
    #: a new approval for each of these, beside whatever is unfinished: (VM, chain)
    chains: Sequence[tuple[str, Sequence[str]]] = ()
    kill_at: int = 0
    chance: float = 0.0
    seed: int = 0
    trace: str = ""
    #: seconds after which a silent replica is taken for dead
    ttl_s: float = 1.5
    #: finish what others left before anything is begun; else that is for a replica beside this one
    finishes: bool = True
    #: end when everything is over; else go on until killed
    ends: bool = True

    def written(self, path: Path) -> Path:
        """Write it to a file."""
        path.write_text(json.dumps(asdict(self)), encoding="utf-8")
        return path


@dataclass(frozen=True, kw_only=True)
class FarWorld(World):
    """Looks at the far side."""

    far: Far

    async def look(self, incident_id: str, vm_name: str) -> Seen:
        """Read a VM."""
        vm = self.far.vm(vm_name)
        failed = vm["resolver"] == "failed" and vm["state"] == "STATE_RUNNING"
        scene = Scene(
            incident_id=incident_id, host=vm_name, vm_name=vm_name, vm_id=vm_name, cluster="crash",
            job="1", address="127.0.0.1", proof="crash", boot_id=vm["boot"],
        )  # fmt: skip
        facts = Facts(
            vm=vm_name, state=vm["state"], state_age=timedelta(),
            findings=frozenset({Finding.RESOLVER_FAILED}) if failed else frozenset(),
            findings_age=timedelta(), peer_answers=True, placement=Known.LOG,
            from_paste_alone=False, data=DataStatus.NOTHING_TO_KEEP,
            tried={Rung.RESTART_RESOLVER: Tried.FAILED},
            asked_for={Rung.STOP_START: "asked for", Rung.RESTART_RESOLVER: "asked for"},
        )  # fmt: skip
        return Seen(scene=scene, facts=facts)

    async def prove(self, scene: Scene) -> Shown:
        """Look names up."""
        vm = self.far.vm(scene.vm_name)
        well = vm["resolver"] == "active" and vm["state"] == "STATE_RUNNING"
        verdict = Verdict.PASSED if well else Verdict.FAILED
        return Shown(verdict=verdict, why=vm["resolver"], outputs={"unit": "…"}, boot_id=vm["boot"])

    async def boot_id(self, scene: Scene) -> str:
        """Return the boot id."""
        vm = self.far.vm(scene.vm_name)
        return str(vm["boot"]) if vm["state"] == "STATE_RUNNING" else ""

    def cloud(self, scene: Scene) -> Cloud:
        """Return the cloud."""
        del scene
        return FarCloud(far=self.far)

    def scheduler(self, scene: Scene) -> Scheduler:
        """Return what drains and resumes."""
        del scene
        return cast("Scheduler", _Nodes(far=self.far))

    def repairs(self) -> Repairs:
        """Return what mends."""
        return _Repairs(far=self.far)


@dataclass(frozen=True, kw_only=True)
class _Nodes:
    far: Far

    async def drain(self, name: str, why: str) -> Any:  # noqa: ANN401
        already = self.far.drain(name, why)
        return _Drained(reason=why, already=already)

    async def named_nodes(self, names: tuple[str, ...]) -> tuple[str, ...]:
        return names

    async def resume(self, name: str, reason: str | None = None) -> None:
        del reason
        self.far.resume(name)


@dataclass(frozen=True, kw_only=True)
class _Drained:
    reason: str
    already: bool


@dataclass(frozen=True, kw_only=True)
class _Repairs(Repairs):
    far: Far

    async def repair(self, target: Target, rung: GuestRung) -> Evidence:
        """Do it; the answers are those of commands that went well."""
        if rung is Rung.REBOOT:
            self.far.reboot(target.name)
        else:
            self.far.restart_resolver(target.name)
        answers = {
            one.name: ProbeResult(name=one.name, rc=0, duration=timedelta())
            for one in repairs.of(rung).commands
        }
        return Evidence(vm_id=target.vm_id, name=target.name, at=_now(), results=answers)


@dataclass(kw_only=True)
class Replica:
    """One process."""

    order: Order
    boundaries: Boundaries = field(default_factory=Boundaries)
    #: do not say when it is ready
    quiet: bool = False

    async def run(self) -> None:
        """Finish what is there, begin what is ordered, and finish that."""
        order, mine = self.order, self.boundaries
        dbos_engine.TTL = timedelta(seconds=order.ttl_s)
        # a day's approvals, hundreds here, would be asked for one by one at each start
        service._LOOKED_AFTER = _LATELY
        far = Far(path=Path(order.far), me=os.getpid())
        async with open_store(order.store) as store:
            _watch(store, mine)
            world = FarWorld(far=far)
            opened: list[dbos_engine.DbosEngine] = []
            name = f"crash-{os.getpid()}-{new_id()}"
            tools = Tools(
                store=store, world=world, me=name, waits=_WAITS, shut=_nothing_shut,
                holds=lambda: bool(opened) and opened[0].holds(),
            )  # fmt: skip
            carrier = Carrier(tools=tools, blast=_BLAST)

            async def carry(durable: Durable, approval_id: str) -> None:
                await carrier.carry(Watched(durable=durable, boundaries=mine), approval_id)

            async with dbos_engine.open_engine(
                order.engine, carry, replica=name, leases=store.leases
            ) as engine:
                opened.append(engine)
                proposer = Proposer(store=store, world=world)
                recovery = Recovery(store=store, engine=engine, proposer=proposer)
                await self._work(store, recovery)

    async def _work(self, store: Store, recovery: Recovery) -> None:
        if not self.quiet:
            print("ready", flush=True)
        if not self.order.ends:
            while True:
                await recovery.reconcile()
                await asyncio.sleep(0.1)
        order, mine = self.order, self.boundaries
        if order.finishes:
            await _finished(store, recovery)
        mine.kill_at, mine.chance, mine.count = order.kill_at, order.chance, 0
        mine.rng = random.Random(order.seed)
        mine.trace = Path(order.trace) if order.trace else None
        await asyncio.gather(
            *(self._begin(store, recovery, vm, chain) for vm, chain in order.chains)
        )
        await _finished(store, recovery)

    async def _begin(self, store: Store, recovery: Recovery, vm: str, chain: Sequence[str]) -> None:
        """Propose, approve and begin a chain, as clicks do."""
        now = _now()
        incident = await store.incidents.open(Incident(id=new_id(), key=vm, opened_at=now))
        seen = await recovery.proposer.world.look(incident.incident.id, vm)
        made = await recovery.proposer.propose(seen, tuple(chain), by="U0ADA")
        self.boundaries.reach("proposed")
        decision = await store.approvals.decide(
            made.approval.id, Decided.APPROVE, by="U0GRACE", at=_now()
        )
        self.boundaries.reach("decided, not begun")
        await recovery.begin(decision.approval)
        self.boundaries.reach("begun")


async def _nothing_shut() -> str:
    """Go on whatever came of others: the breaker would refuse what is to be killed next."""
    return ""


def _watch(store: Store, boundaries: Boundaries) -> None:
    """Put a boundary behind each mark before a call that must not come twice."""
    runs: Any = store.step_runs
    object.__setattr__(runs, "mark_sending", boundaries.after("mark", runs.mark_sending))


async def _finished(store: Store, recovery: Recovery) -> None:
    """Wait until every chain is over, as the bot does: rows are made true again and again."""
    until = asyncio.get_running_loop().time() + _PATIENCE_S
    while left := await _left(store):
        if asyncio.get_running_loop().time() > until:
            raise TimeoutError(f"These never ended: {left}")
        await recovery.reconcile()
        await asyncio.sleep(0.03)


async def _left(store: Store) -> Mapping[str, str]:
    """Return approved chains of which a step has no outcome, and where it stands."""
    found = {}
    for approval in await store.approvals.approved_since(_now() - _LATELY):
        runs = await store.step_runs.of(approval.id)
        if len(runs) < len(approval.chain):
            found[approval.id] = f"{len(runs)} runs"
        for run in runs:
            if run.state not in OVER:
                found[run.id] = run.state
    return found


def _now() -> datetime:
    return datetime.now(UTC)


if __name__ == "__main__":
    asyncio.run(Replica(order=Order(**json.loads(Path(sys.argv[1]).read_text("utf-8")))).run())
