"""Look at every machine of a job: who can resolve whom, before 256 GPUs wait to find out."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from bot.clouds.model import VmState
from bot.errors import UsageError
from bot.fleet.nodes import node_list
from bot.fleet.placement import Placement
from bot.hosts import probes
from bot.hosts.matrix import Matrix, Observer, observed, unreached
from bot.hosts.probes import IDENTITY, PREFLIGHT, RESOLV_CONF, Question
from bot.triage import inventory, jobs, machines
from bot.triage.asking import full_names
from bot.triage.case import Case
from bot.triage.services import Services, Watched
from bot.triage.suspects import place

#: Machines that are asked for their search domain until one tells it.
_ASKED_FOR_DOMAIN = 3


@dataclass(frozen=True, kw_only=True, slots=True)
class Preflight:
    """Who resolves whom, and what else is known of the machines."""

    matrix: Matrix
    #: domain of the full names; empty where nobody told one
    domain: str = ""
    #: machine → the cloud's word for its VM's state, where it is not running
    states: Mapping[str, str] = field(default_factory=dict)
    missing: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def wrong(self) -> bool:
        """Tell whether a name fails, a machine does not answer, or a VM does not run."""
        return self.matrix.wrong or bool(self.states)


async def preflight(
    services: Services,
    *,
    job: str | None,
    nodes: str | None = None,
    tell: Callable[[str, int, int], None] = lambda *_: None,
) -> Preflight:
    """Ask every machine of a job, or of a node list, for every machine's names.

    `tell` hears what is done and how many of how many machines have answered. Raises UsageError
    where neither is given or no machine can be asked at all.
    """
    case = await _case(services, job, nodes)
    hosts = case.placement.hosts
    if services.hosts is None:
        raise UsageError("A pre-flight asks the machines: set up [ssh], see `nccl-dns init`.")
    tell(f"asking about {len(hosts)} machines", 0, len(hosts))
    case.fleet = await inventory.gather(case.cluster, case.cloud, case.job, hosts)
    domain = await _domain(case, hosts)
    names = full_names(hosts, domain)
    answered = 0

    async def one(host: str) -> Observer:
        nonlocal answered
        looked = await machines.probe(services, case.fleet, host, Question(names=names), PREFLIGHT)
        answered += 1
        tell("looking names up", answered, len(hosts))
        # evidence is let go here: that of a thousand machines would fill the memory
        if looked.evidence is None:
            return unreached(host, looked.problem, names)
        return observed(looked.evidence, names)

    observers = await asyncio.gather(*map(one, hosts))
    return Preflight(
        matrix=Matrix(names=names, observers=tuple(observers)),
        domain=domain,
        states=_states(case, hosts),
        missing=services.notes,
        notes=(*case.notes, *case.fleet.notes),
    )


async def _case(services: Services, job: str | None, nodes: str | None) -> Case:
    if job is not None:
        found = await jobs.find(services, job, with_logs=False)
        placement, problems = place(found.job)
        if not placement.hosts:
            why = found.job.waits_because or "its scheduler names none"
            raise UsageError(f"Job {found.job.label} has no machines to look at: {why}")
        return Case(
            services=services,
            cluster=found.cluster,
            job=found.job,
            placement=placement,
            notes=[*found.notes, *problems],
        )
    if nodes is None:
        raise UsageError("A pre-flight needs a job ID, or --nodes 'node-[0-31]'.")
    hosts = node_list(nodes)
    return Case(services=services, cluster=_of(services, hosts), placement=Placement(hosts=hosts))


def _of(services: Services, hosts: Sequence[str]) -> Watched | None:
    """Return the one cluster whose nodes these are, or the only one there is."""
    fits = [one for one in services.clusters.values() if set(hosts) <= one.nodes]
    every = fits or list(services.clusters.values())
    return every[0] if len(every) == 1 else None


async def _domain(case: Case, hosts: Sequence[str]) -> str:
    """Return the domain of full names: as set, or as the first machine that answers searches."""
    if case.cluster is not None and case.cluster.domain:
        return case.cluster.domain
    for host in hosts[:_ASKED_FOR_DOMAIN]:
        looked = await machines.probe(
            case.services, case.fleet, host, Question(), (IDENTITY, RESOLV_CONF)
        )
        conf = looked.evidence.read(probes.RESOLV_CONF) if looked.evidence else None
        if conf is not None and conf.search:
            return conf.search[0].strip(".")
    case.notes.append(
        "No machine told its search domain, so short names alone were asked for; set "
        "clusters.NAME.domain."
    )
    return ""


def _states(case: Case, hosts: Sequence[str]) -> dict[str, str]:
    found = {}
    for host in hosts:
        vm = case.fleet.vm(host)
        if vm is not None and vm.state is not VmState.RUNNING:
            found[host] = vm.raw_state
    return found
