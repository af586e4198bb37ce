"""What the checks look at: settings, services, this machine; each thing is asked once for all."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Hashable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar

from bot.clouds.crusoe.account import KeyCheck
from bot.clouds.model import Vm
from bot.doctor.here import Here
from bot.fleet.placement import is_address
from bot.fleet.vms import Host, Matches, match_all
from bot.hosts.port import Hosts
from bot.network.way import Network
from bot.schedulers.about import About
from bot.schedulers.model import Node
from bot.schedulers.port import Scheduler
from bot.settings import Settings
from bot.triage.services import Services, Watched

T = TypeVar("T")


def _now() -> datetime:
    return datetime.now(UTC)


@dataclass(kw_only=True)
class Look:
    """One round of checks."""

    settings: Settings
    #: the file that the settings were read from; None for none
    config: Path | None
    services: Services
    #: asks the cloud whose key it is; raises a CloudError
    whose_key: Callable[[], Awaitable[KeyCheck]]
    #: the machines as the repair account reaches them; None where it is not set or not open
    repairing: Hosts | None = None
    network: Network = field(default_factory=Network)
    here: Here = field(default_factory=Here)
    now: Callable[[], datetime] = _now
    _asked: dict[Hashable, asyncio.Task[Any]] = field(default_factory=dict)

    async def once(self, what: Hashable, ask: Callable[[], Awaitable[T]]) -> T:
        """Return an answer that was asked for once, however many checks want it.

        Whoever runs out of time stops waiting; the others go on. Raises what the asking raised.
        """
        if what not in self._asked:
            self._asked[what] = asyncio.ensure_future(_awaited(ask))
        answer: T = await asyncio.shield(self._asked[what])
        return answer

    async def end(self) -> None:
        """Give up what is still asked for."""
        for task in self._asked.values():
            task.cancel()
        await asyncio.gather(*self._asked.values(), return_exceptions=True)

    @property
    def clusters(self) -> tuple[Watched, ...]:
        """Return the clusters of the settings."""
        return tuple(self.services.clusters.values())

    def closed(self, beginning: str) -> str:
        """Return why something could not be opened, by how that sentence begins; or nothing."""
        return next((one for one in self.services.missing if one.startswith(beginning)), "")

    async def key(self) -> KeyCheck:
        """Return whose key it is; raises a CloudError."""
        return await self.once("key", self.whose_key)

    async def vms(self, cluster: Watched | None = None) -> tuple[Vm, ...] | None:
        """Return the VMs of a cluster's project; None without a cloud. Raises a CloudError."""
        cloud = self.services.cloud if cluster is None else cluster.cloud
        return None if cloud is None else await self.once(("vms", id(cloud)), cloud.list)

    async def every_vm(self) -> tuple[Vm, ...]:
        """Return the VMs of all watched projects, each once; raises a CloudError."""
        found: dict[str, Vm] = {}
        for cluster in (None, *self.clusters):
            found |= {vm.id: vm for vm in await self.vms(cluster) or ()}
        return tuple(found.values())

    async def nodes(self, cluster: Watched) -> tuple[Node, ...] | None:
        """Return the nodes of a cluster; None without a scheduler. Raises a SchedulerError."""
        scheduler = cluster.scheduler
        if scheduler is None:
            return None
        return await self.once(("nodes", cluster.name), scheduler.all_nodes)

    async def about(self, cluster: Watched, scheduler: Scheduler) -> tuple[About, ...]:
        """Return what a cluster's ways tell of it; raises a SchedulerError."""
        return await self.once(("about", cluster.name), scheduler.about)

    async def matches(self, cluster: Watched) -> Matches[Vm] | None:
        """Return which VM each node is; None without a cloud or a scheduler.

        Raises a CloudError or a SchedulerError.
        """
        nodes, vms = await self.nodes(cluster), await self.vms(cluster)
        if nodes is None or vms is None:
            return None
        hosts = (
            Host(name=node.name, address=node.address if is_address(node.address) else None)
            for node in nodes
        )
        return match_all(hosts, vms)


async def _awaited(ask: Callable[[], Awaitable[T]]) -> T:
    return await ask()
