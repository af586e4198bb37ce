"""A job on four machines, at a scheduler, a cloud and hosts in memory; to be broken."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from bot.clouds.memory import MemoryCloud
from bot.clouds.model import Vm, state_of
from bot.incidents.store import Store
from bot.schedulers.ids import Cluster
from bot.schedulers.memory import MemoryScheduler
from bot.schedulers.model import DistributionFrom, Job, JobState, Kind, Node, Step
from bot.triage.services import Services, Watched
from playground.fleet.machine import Network
from tests.behaviour.hosts.fleet import in_memory, small

JOB = 48213
RANKS = 2


def lookup(rank: int, code: int, name: str) -> str:
    """Return c10d's complaint of a rank about a name, as PyTorch 2.6 prints it."""
    text = {-3: "Temporary failure in name resolution", -2: "Name or service not known"}[code]
    return (
        f"{rank}: [W1130 03:14:07.57779{rank} socket.cpp:759] [c10d] The IPv6 network addresses of "
        f"({name}, 29500) cannot be retrieved (gai error: {code} - {text}).\n"
    )


def reached(rank: int) -> str:
    """Return what a rank prints that waits at the store, which it reached."""
    return (
        f"{rank}: [W1130 03:14:20.11111{rank} socket.cpp:464] [c10d] waitForInput: poll for socket "
        f"SocketImpl(fd=4, addr=[::ffff:10.20.1.1{1 + rank // RANKS}]:4838{rank}, "
        "remote=[::ffff:10.20.1.10]:29500) returned 0, likely a timeout\n"
    )


def one_machine_fails(code: int = -3, name: str = "node-0.fleet.internal") -> str:
    """Return the log of a job in which the ranks of node-2 alone cannot look a name up."""
    return "".join(
        lookup(rank, code, name) if rank // RANKS == 2 else reached(rank) for rank in range(1, 8)
    )


def all_fail(code: int, name: str = "node-0.fleet.internal") -> str:
    """Return the log of a job in which no rank can look a name up."""
    return "".join(lookup(rank, code, name) for rank in range(2, 8))


@dataclass(kw_only=True)
class World:
    """What there is, and what a check is given to ask."""

    network: Network = field(default_factory=small)
    log: str = field(default_factory=one_machine_fails)
    state: JobState = JobState.FAILED
    stdout: str = "/shared/48213.out"
    torchrun: bool = False
    #: machine → its VM's word for the state
    states: dict[str, str] = field(default_factory=dict)
    #: machines without a VM, and with two
    without_vm: tuple[str, ...] = ()
    twice: tuple[str, ...] = ()
    touchable: tuple[str, ...] = ("node-0", "node-1", "node-2", "node-3")
    reasons: dict[str, str] = field(default_factory=dict)

    def services(
        self,
        *,
        cloud: bool = True,
        hosts: bool = True,
        store: Store | None = None,
        scheduler: MemoryScheduler | None = None,
    ) -> Services:
        """Return what a check may ask, at the level that follows."""
        where = MemoryCloud(self.vms()) if cloud else None
        cluster = Watched(
            name="hall",
            known_as=Cluster(name="hall", kind=Kind.SLURM),
            scheduler=scheduler or self.scheduler(),
            cloud=where,
            nodes=frozenset(self.touchable),
        )
        return Services(
            clusters={"hall": cluster},
            cloud=where,
            hosts=in_memory(self.network).hosts if hosts else None,
            store=store,
            level=2 if hosts else 1,
        )

    @property
    def names(self) -> tuple[str, ...]:
        """Return the machines in the order of their nodes."""
        return tuple(machine.name for machine in self.network.machines.values())

    def vms(self) -> tuple[Vm, ...]:
        """Return the VMs as the cloud lists them."""
        found = []
        for machine in self.network.machines.values():
            if machine.name not in self.without_vm:
                found.append(self._vm(machine.name, machine.product_uuid, machine.address))
            if machine.name in self.twice:
                found.append(self._vm(machine.name, f"twin-{machine.name}", "10.20.9.9"))
        return tuple(found)

    def _vm(self, name: str, identity: str, address: str) -> Vm:
        word = self.states.get(name, "STATE_RUNNING")
        return Vm(
            id=identity,
            name=name,
            type="h100-80gb-sxm-ib.8x",
            location="us-east1-a",
            project="hall",
            state=state_of(word),
            raw_state=word,
            private_ips=(address,),
            read_at=datetime.now(UTC),
        )

    def scheduler(self) -> MemoryScheduler:
        """Return the scheduler with the job and its log."""
        ended = datetime.now(UTC) - timedelta(minutes=3)
        job = Job(
            id=str(JOB),
            cluster="hall",
            state=self.state,
            raw_state=self.state.value,
            name="pretrain",
            user="alice",
            nodes=self.names,
            ntasks=RANKS * len(self.names),
            ntasks_per_node=RANKS,
            distribution="block",
            distribution_from=DistributionFrom.STEP,
            steps=(
                Step(
                    id="0",
                    nodes=self.names,
                    ntasks=RANKS * len(self.names),
                    distribution="Block",
                ),
            ),
            stdout=self.stdout,
            stderr=self.stdout,
            batch=bool(self.stdout),
            started_at=ended - timedelta(minutes=30),
            ended_at=None if self.state is JobState.RUNNING else ended,
        )
        return MemoryScheduler(
            "hall",
            jobs=[job],
            nodes=[self._node(name) for name in self.names],
            files={self.stdout: self.log.encode()} if self.stdout else {},
        )

    def _node(self, name: str) -> Node:
        address = self.network.named(name).address
        return Node(name=name, cluster="hall", state="IDLE", raw_state="IDLE", address=address)


def only(found: Sequence[str]) -> str:
    """Return the one there is."""
    assert len(found) == 1, found
    return found[0]
