"""Log in to a few machines of each partition, with either account, and say how that went."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum

from bot.clouds.model import Vm, VmState
from bot.doctor.look import Look
from bot.doctor.model import Answer, fail, ok, skip, warn
from bot.doctor.sampling import sample, spread
from bot.errors import MatchError
from bot.fleet.folding import folded
from bot.fleet.vms import Match
from bot.hosts import probes
from bot.hosts.model import Evidence, LoginFailure
from bot.hosts.port import Hosts, Target
from bot.schedulers.model import Node
from bot.triage.inventory import Fleet, target
from bot.triage.services import Watched

_MOST_SHOWN = 5
#: The longest that a login and the helper's start take where all is well.
_SLOW_SECONDS = 3.0


@dataclass(frozen=True, kw_only=True, slots=True)
class Looked:
    """A sampled machine, and what it answered."""

    name: str
    target: Target | None = None
    evidence: Evidence | None = None
    #: why it was not asked
    problem: str = ""

    @property
    def let_in(self) -> bool:
        """Say whether it let us in and proved its identity."""
        return self.evidence is not None and self.evidence.failure is None


class Account(Enum):
    """Either of our accounts, and what it asks of a sampled machine behind its identity."""

    PROBE = (probes.IDENTITY, probes.UNIT, probes.UPLINK_CONF, probes.RESOLV_CONF)
    #: its helper tells nothing else
    REPAIR = (probes.IDENTITY,)

    def hosts(self, look: Look) -> Hosts | None:
        """Return the machines as this account reaches them; None where it is not set."""
        return look.services.hosts if self is Account.PROBE else look.repairing


async def looked_at(
    look: Look, cluster: Watched | None, account: Account = Account.PROBE
) -> tuple[Looked, ...]:
    """Look at a few machines of each partition of a cluster, or of the cloud's VMs without one.

    Raises a CloudError or a SchedulerError.
    """
    hosts = account.hosts(look)
    if hosts is None:
        return ()
    what = ("looked at", cluster.name if cluster else "", account)
    return await look.once(what, lambda: _looked_at(look, cluster, hosts, account))


async def _looked_at(
    look: Look, cluster: Watched | None, hosts: Hosts, account: Account
) -> tuple[Looked, ...]:
    vms = await look.vms(cluster)
    nodes = await look.nodes(cluster) if cluster else None
    if nodes is None:
        running = [vm for vm in vms or () if vm.state is VmState.RUNNING]
        chosen = spread([vm.name for vm in running])
        found = {vm.name: Match(host=vm.name, vm=vm, by=("name",)) for vm in running}
        fleet = Fleet(vms=found)
    else:
        chosen, fleet = await _of_nodes(look, cluster, nodes)
    return tuple(await asyncio.gather(*(_one(look, hosts, one, fleet, account) for one in chosen)))


async def _of_nodes(
    look: Look, cluster: Watched | None, nodes: Sequence[Node]
) -> tuple[tuple[str, ...], Fleet]:
    matches = await look.matches(cluster) if cluster else None
    found: Mapping[str, Match[Vm]] = matches.found if matches else {}
    usable = [
        node
        for node in nodes
        if matches is None or (node.name in found and found[node.name].vm.state is VmState.RUNNING)
    ]
    return sample(usable), Fleet(nodes={node.name: node for node in nodes}, vms=found)


async def _one(look: Look, hosts: Hosts, name: str, fleet: Fleet, account: Account) -> Looked:
    try:
        there = target(name, fleet, look.services.proof)
    except MatchError as error:
        return Looked(name=name, problem=str(error))
    evidence = await hosts.probe(there, probes.Question(), account.value)
    return Looked(name=name, target=there, evidence=evidence)


async def logins(look: Look) -> Sequence[Answer]:
    """Say whether sampled machines let us in, prove who they are and run the helper."""
    if closed := look.closed("Machines are not asked:"):
        return (fail(closed, "Look at [ssh] keys and known_hosts."),)
    return await logins_of(look, Account.PROBE)


async def logins_of(look: Look, account: Account) -> list[Answer]:
    """Say of each cluster how the logins with an account went."""
    found: list[Answer] = []
    for cluster in look.clusters or (None,):
        about = cluster.name if cluster else ""
        seen = await looked_at(look, cluster, account)
        found += _logins(seen, about) if seen else [_nobody(cluster)]
    return found


def _nobody(cluster: Watched | None) -> Answer:
    if cluster is None:
        return skip("No cluster and no VM is known, so there is no machine to log in to.")
    mend = "See the checks of the scheduler and of nodes and VMs."
    return skip("No node is up and known as a running VM.", cluster.name, mend)


def _logins(seen: Sequence[Looked], about: str) -> list[Answer]:
    into = [one for one in seen if one.let_in]
    # a machine that is down is no fault of the set-up while others let us in
    severe = {None, LoginFailure.ACCESS, LoginFailure.ROUTE}
    found = []
    for one in [one for one in seen if not one.let_in][:_MOST_SHOWN]:
        failure = one.evidence.failure if one.evidence else None
        said = one.evidence.detail if one.evidence else one.problem
        say = fail if failure in severe or not into else warn
        found.append(say(said, _MENDS[failure], _named(about, one.name)))
    if into:
        names = folded([one.name for one in into])
        said = f"{names} let us in, prove who they are and run the helper{_slowest(into)}."
        found.append(ok(said, about))
    return found


_MENDS = {
    None: "See the check of nodes and VMs.",
    LoginFailure.ACCESS: "Install account, key and helper: `nccl-dns init --print install`.",
    LoginFailure.ROUTE: "Look at [[ssh.jumps]], and log in to the jump host by hand.",
    LoginFailure.SILENT: "Look at the machine, and at the firewall between here and it.",
    LoginFailure.HANGS: "Look at the machine: `nccl-dns check --vm NAME`.",
}


def _named(about: str, name: str) -> str:
    return f"{about}: {name}" if about else name


def _slowest(into: Sequence[Looked]) -> str:
    """Say how long the slowest login took, and where, if that is longer than it should be."""
    times = []
    for one in into:
        delays = one.evidence.delays if one.evidence else None
        parts = (delays.login, delays.shell, delays.helper) if delays else ()
        times.append((sum(part.total_seconds() for part in parts if part), one.name))
    slowest, name = max(times)
    return f"; {name} took {slowest:.1f} s for it" if slowest > _SLOW_SECONDS else ""
