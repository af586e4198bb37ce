"""The machines of a job as scheduler and cloud know them, each asked in one call."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from bot.clouds.errors import CloudError
from bot.clouds.model import Vm
from bot.clouds.port import Cloud
from bot.errors import MatchError
from bot.fleet.placement import is_address, short_name
from bot.fleet.vms import Host, Match, match_all
from bot.hosts.errors import UnsafeWordError
from bot.hosts.port import Target
from bot.hosts.probes import ProofKind
from bot.hosts.words import Address, Proof
from bot.schedulers.errors import SchedulerError
from bot.schedulers.model import Job, Node
from bot.triage.services import Watched


@dataclass(frozen=True, kw_only=True)
class Fleet:
    """The machines of a job as scheduler and cloud know them."""

    nodes: Mapping[str, Node] = field(default_factory=dict)
    vms: Mapping[str, Match[Vm]] = field(default_factory=dict)
    #: host → why it is no one VM
    problems: Mapping[str, str] = field(default_factory=dict)
    #: what could not be asked, one sentence each
    notes: tuple[str, ...] = ()

    def vm(self, host: str) -> Vm | None:
        """Return the VM of a host, where there is exactly one."""
        found = self.vms.get(host)
        return found.vm if found else None

    def address(self, host: str) -> str:
        """Return where a host is reached: by the cloud, or else by the scheduler; or nothing."""
        vm = self.vm(host)
        if vm is not None:
            return vm.private_ips[0] if vm.private_ips else ""
        node = self.nodes.get(host)
        return node.address if node and is_address(node.address) else ""


async def gather(
    cluster: Watched | None, cloud: Cloud | None, job: Job | None, hosts: Sequence[str]
) -> Fleet:
    """Ask scheduler and cloud about the hosts, both at once, each in one call."""
    (nodes, node_notes), (vms, vm_notes) = await asyncio.gather(
        _nodes(cluster, job, hosts), _vms(cloud)
    )
    if vms is None:
        return Fleet(nodes=nodes, notes=(*node_notes, *vm_notes))
    matches = match_all((_host(name, nodes.get(name)) for name in hosts), vms)
    return Fleet(
        nodes=nodes,
        vms=matches.found,
        problems=matches.errors,
        notes=(*node_notes, *vm_notes),
    )


def _host(name: str, node: Node | None) -> Host:
    """Return what the scheduler tells of a machine; an address that is a name says nothing."""
    told = node.host if node else Host(name=name)
    return replace(told, address=told.address if is_address(told.address or "") else None)


async def _nodes(
    cluster: Watched | None, job: Job | None, hosts: Sequence[str]
) -> tuple[dict[str, Node], tuple[str, ...]]:
    if cluster is None or cluster.scheduler is None or not hosts:
        return {}, ()
    listed = [host for host in hosts if job is None or host in job.nodes]
    if not listed:
        return {}, ()
    try:
        found = await cluster.scheduler.named_nodes(tuple(listed))
    except SchedulerError as error:
        return {}, (f"The scheduler told nothing of the nodes: {error}",)
    return {node.name: node for node in found}, ()


async def _vms(cloud: Cloud | None) -> tuple[tuple[Vm, ...] | None, tuple[str, ...]]:
    if cloud is None:
        return None, ()
    try:
        # all of the project: a filter by name would hide a second VM of the same name
        return await cloud.list(), ()
    except CloudError as error:
        return None, (f"The state of the VMs is not known: {error}",)


def target(host: str, fleet: Fleet, proof: ProofKind) -> Target:
    """Return how a host is reached and proves itself.

    Without a cloud its node's address and name stand in. Raises MatchError where it is no one VM,
    or nobody tells its address.
    """
    if problem := fleet.problems.get(host):
        raise MatchError(problem)
    vm, where = fleet.vm(host), fleet.address(host)
    if not where:
        who = "the cloud lists no private address" if vm else "the scheduler gives no IP address"
        raise MatchError(f"{host} cannot be reached: {who} for it.")
    kind: ProofKind = proof if vm is not None else "host_name"
    try:
        return Target(
            vm_id=vm.id if vm else host,
            name=host,
            address=Address(where),
            proof_kind=kind,
            proof=Proof(vm.id if vm and kind == "product_uuid" else short_name(host)),
        )
    except UnsafeWordError as error:
        raise MatchError(f"{host} was not asked: {error}") from None
