"""What triage asks: ports that somebody else has opened."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime

from bot.clouds.port import Cloud
from bot.clouds.shared import SharedReads
from bot.clouds.timing import utc_now
from bot.hosts.port import Hosts
from bot.hosts.probes import ProofKind
from bot.incidents.store import Store
from bot.recovery.facts import Limits
from bot.schedulers.ids import Cluster
from bot.schedulers.port import Scheduler
from bot.triage.aside import Threads

#: Stands in `missing` where nothing else lacks to act; what says the level says so already.
ACTIONS_OFF = "Actions are off ([actions] enabled, [ssh.repair]): steps are shown, not done."


@dataclass(frozen=True, kw_only=True, slots=True)
class Watched:
    """One cluster of the settings and what can be asked about it."""

    name: str
    #: how IDs and links name it
    known_as: Cluster
    scheduler: Scheduler | None
    #: None without a cloud
    cloud: Cloud | None
    #: nodes that may be touched; empty for none
    nodes: frozenset[str] = frozenset()
    #: domain of full names; empty where it has to be found out
    domain: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Services:
    """Everything that is open. What could not be opened stands in `missing`."""

    clusters: Mapping[str, Watched] = field(default_factory=dict)
    #: the cloud where no cluster is named
    cloud: Cloud | None = None
    hosts: Hosts | None = None
    store: Store | None = None
    proof: ProofKind = "product_uuid"
    #: nodes that are never touched
    protected: frozenset[str] = frozenset()
    limits: Limits = field(default_factory=Limits)
    #: our own accounts on the machines, whose processes are nobody's work
    accounts: frozenset[str] = frozenset()
    #: 0 paste, 1 look, 2 probe, 3 act
    level: int = 0
    #: one sentence for each thing that the level lacks or that could not be opened
    missing: tuple[str, ...] = ()
    #: one sentence for each endpoint that is reached at its last known address now
    reached: Callable[[], tuple[str, ...]] = tuple
    #: where logs are read
    aside: Threads = field(default_factory=Threads)

    @property
    def notes(self) -> tuple[str, ...]:
        """Return everything that whoever reads a report should know of us now."""
        return (*self.reached(), *self.missing)

    @staticmethod
    def now() -> datetime:
        """Return the time, aware and in UTC."""
        return utc_now()

    @property
    def known_clusters(self) -> tuple[Cluster, ...]:
        """Return the clusters as the grammar of job IDs takes them."""
        return tuple(one.known_as for one in self.clusters.values())


@asynccontextmanager
async def sharing(services: Services) -> AsyncIterator[Services]:
    """Yield the services for many who ask at once: they share each cloud's listing of its VMs.

    Whoever acts on a VM takes the services themselves, which read anew.
    """
    async with AsyncExitStack() as stack:
        shared: dict[int, SharedReads] = {}

        def share(cloud: Cloud | None) -> Cloud | None:
            if cloud is None:
                return None
            if id(cloud) not in shared:
                shared[id(cloud)] = SharedReads(cloud)
                stack.push_async_callback(shared[id(cloud)].close)
            return shared[id(cloud)]

        clusters = {
            name: replace(one, cloud=share(one.cloud)) for name, one in services.clusters.items()
        }
        yield replace(services, clusters=clusters, cloud=share(services.cloud))
