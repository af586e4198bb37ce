"""Checks of the machines: host keys, a login to a few, and what our account may do there."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from bot.clouds.model import Vm, VmState
from bot.doctor.look import Look
from bot.doctor.model import Answer, fail, ok, skip, warn
from bot.doctor.sampling import sample, spread
from bot.errors import MatchError
from bot.fleet.folding import folded
from bot.fleet.vms import Match
from bot.hosts import probes
from bot.hosts.errors import HostSetupError
from bot.hosts.grants import PROBING
from bot.hosts.model import Evidence, LoginFailure
from bot.hosts.port import Hosts, Target
from bot.hosts.privileges import Privileges
from bot.hosts.ssh.pins import Pins
from bot.schedulers.model import Node
from bot.settings import SshSettings
from bot.triage.inventory import Fleet, target
from bot.triage.services import Watched

#: What a look at a sampled machine asks; the identity is proven first.
_TABLE: probes.Table = (probes.IDENTITY, probes.UNIT, probes.UPLINK_CONF, probes.RESOLV_CONF)
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


async def looked_at(look: Look, cluster: Watched | None) -> tuple[Looked, ...]:
    """Look at a few machines of each partition of a cluster, or of the cloud's VMs without one.

    Raises a CloudError or a SchedulerError.
    """
    hosts = look.services.hosts
    if hosts is None:
        return ()
    name = cluster.name if cluster else ""
    return await look.once(("looked at", name), lambda: _looked_at(look, cluster, hosts))


async def _looked_at(look: Look, cluster: Watched | None, hosts: Hosts) -> tuple[Looked, ...]:
    vms = await look.vms(cluster)
    nodes = await look.nodes(cluster) if cluster else None
    if nodes is None:
        running = [vm for vm in vms or () if vm.state is VmState.RUNNING]
        chosen = spread([vm.name for vm in running])
        found = {vm.name: Match(host=vm.name, vm=vm, by=("name",)) for vm in running}
        fleet = Fleet(vms=found)
    else:
        chosen, fleet = await _of_nodes(look, cluster, nodes)
    return tuple(await asyncio.gather(*(_one(look, hosts, one, fleet) for one in chosen)))


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


async def _one(look: Look, hosts: Hosts, name: str, fleet: Fleet) -> Looked:
    try:
        there = target(name, fleet, look.services.proof)
    except MatchError as error:
        return Looked(name=name, problem=str(error))
    evidence = await hosts.probe(there, probes.Question(), _TABLE)
    return Looked(name=name, target=there, evidence=evidence)


async def logins(look: Look) -> Sequence[Answer]:
    """Say whether sampled machines let us in, prove who they are and run the helper."""
    if closed := look.closed("Machines are not asked:"):
        return (fail(closed, "Look at [ssh] keys and known_hosts."),)
    found: list[Answer] = []
    for cluster in look.clusters or (None,):
        about = cluster.name if cluster else ""
        seen = await looked_at(look, cluster)
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


async def sudo(look: Look) -> Sequence[Answer]:
    """Say whether the probe account may do more as root than run its helper."""
    ssh, hosts = look.settings.ssh, look.services.hosts
    if ssh is None or hosts is None:
        return (skip("Machines are not asked."),)
    if ssh.user == "root":
        said = "The probe account is root itself: it may change everything."
        return (warn(said, "Give it an account of its own: `nccl-dns init --print install`."),)
    found: list[Answer] = []
    for cluster in look.clusters or (None,):
        seen = [one for one in await looked_at(look, cluster) if one.let_in]
        asked = [one.target for one in seen if one.target is not None]
        told = await asyncio.gather(*(hosts.privileges(there) for there in asked))
        by_name = dict(zip((there.name for there in asked), told, strict=True))
        found += _may(by_name, ssh, cluster.name if cluster else "")
    return found or (skip("No sampled machine let us in, so sudo was not asked."),)


def _may(told: Mapping[str, Privileges], ssh: SshSettings, about: str) -> list[Answer]:
    """Say what sudo allows, machines with the same answer together."""
    alike: dict[Privileges, list[str]] = {}
    for name, one in told.items():
        alike.setdefault(one, []).append(name)
    return [_allowed(one, folded(names), ssh, about) for one, names in alike.items()]


def _allowed(one: Privileges, names: str, ssh: SshSettings, about: str) -> Answer:
    if one.untold:
        return skip(f"{names}: not checked. {one.untold}", about)
    beyond = one.beyond(PROBING)
    if beyond:
        said = f"On {names} the probe account may do more than look: {'; '.join(beyond)[:200]}."
        mend = "Leave it the one line of `nccl-dns init --print sudoers`."
        return warn(said, mend, about)
    if ssh.sudo and not one.grants(PROBING):
        mend = "Install it: `nccl-dns init --print sudoers`."
        return fail(f"On {names} sudo does not let the probe account run its helper.", mend, about)
    what = "the helper alone" if one.commands else "nothing"
    return ok(f"On {names} the probe account may run {what} as root.", about)


async def host_keys(look: Look) -> Sequence[Answer]:
    """Say for how many machines a host key is pinned."""
    ssh = look.settings.ssh
    if ssh is None:
        return ()
    mend = "Collect the keys over a path that you trust: `nccl-dns init --print known-hosts`."
    try:
        pins = Pins(ssh.known_hosts, trust_on_first_use=ssh.trust_on_first_use)
    except HostSetupError as error:
        return (fail(str(error), mend),)
    if ssh.trust_on_first_use:
        said = "The first key that a machine shows is taken (trust_on_first_use), without proof."
        return (warn(said, mend),)
    found = []
    for cluster in look.clusters or (None,):
        about = cluster.name if cluster else ""
        names = await _aliases(look, cluster)
        bare = [name for alias, name in names.items() if not any(pins.trusted(alias)[:2])]
        if not names:
            found.append(skip("No machine is known yet.", about))
        elif bare:
            say = fail if len(bare) == len(names) else warn
            said = f"{len(bare)} of {len(names)} machines have no pinned key: {folded(bare)}."
            found.append(say(said, mend, about))
        else:
            found.append(ok(f"All {len(names)} machines have a pinned key or authority.", about))
    return found


async def _aliases(look: Look, cluster: Watched | None) -> dict[str, str]:
    """Return what host keys are pinned to, and the machines' names."""
    matches = await look.matches(cluster) if cluster else None
    if matches is not None:
        return {match.vm.id: name for name, match in matches.found.items()}
    vms = await look.vms(cluster)
    if vms is not None:
        return {vm.id: vm.name for vm in vms}
    nodes = await look.nodes(cluster) if cluster else None
    return {node.name: node.name for node in nodes or ()}
