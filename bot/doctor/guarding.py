"""Checks of what must never be touched, what may be, and how far the settings go."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from urllib.parse import urlsplit

from bot.clouds.errors import CloudError
from bot.clouds.model import Vm
from bot.doctor.look import Look
from bot.doctor.model import Answer, fail, ok, warn
from bot.doctor.naming import own_vm
from bot.errors import BotError
from bot.fleet.folding import folded
from bot.fleet.placement import short_name
from bot.settings import Level
from bot.triage.services import Watched

_WITHIN_SECONDS = 5
#: Level → what the next one needs.
_NEXT = {
    Level.PASTE: "Level 1 (look) needs [cloud] and [clusters.NAME]: `nccl-dns init --level look`.",
    Level.LOOK: "Level 2 (probe) needs [ssh]: `nccl-dns init --level probe`.",
    Level.PROBE: (
        "Level 3 (act) needs [ssh.repair] and [actions] enabled: `nccl-dns init --level act`."
    ),
    Level.ACT: "",
}


async def protected(look: Look) -> Sequence[Answer]:
    """Say whether a machine that the rest hangs on is among those that may be touched."""
    roles = await _roles(look)
    found = []
    for cluster in look.clusters:
        open_to_touch = cluster.nodes - look.services.protected
        names = {short_name(name): name for name in open_to_touch}
        for name, role in roles.items():
            if name in names:
                said = f"{names[name]} is {role}, and `nodes` lets it be touched."
                mend = f'Add "{names[name]}" to [actions] protected.'
                found.append(fail(said, mend, cluster.name))
    if found:
        return found
    if not any(cluster.nodes for cluster in look.clusters):
        return (ok("No `nodes` are named, so nothing is ever touched."),)
    return (ok(f"Not among `nodes`, or protected: {', '.join(sorted(roles)) or 'none known'}."),)


async def _roles(look: Look) -> dict[str, str]:
    """Return the machines that must not be touched, by short name, and what each is."""
    try:
        vms = await look.every_vm()
    except CloudError:
        vms = ()
    roles = {short_name(look.here.name()): "this machine"}
    if vm := own_vm(look, vms):
        roles.setdefault(short_name(vm.name), "this machine")
    for host, role in [*_of_settings(look), *await _controllers(look)]:
        for name in await _machine(look, host, vms):
            roles.setdefault(name, role)
    return roles


def _of_settings(look: Look) -> Iterator[tuple[str, str]]:
    for name, cluster in look.settings.clusters.items():
        if cluster.login and cluster.login.host:
            yield cluster.login.host, f"the login node of {name}"
        if cluster.rest and (host := urlsplit(cluster.rest.url).hostname):
            yield host, f"the machine of slurmrestd of {name}"
    for jump in look.settings.ssh.jumps if look.settings.ssh else ():
        yield jump.host, "a jump host"


async def _controllers(look: Look) -> list[tuple[str, str]]:
    found = []
    for cluster in look.clusters:
        try:
            told = await look.about(cluster, cluster.scheduler) if cluster.scheduler else ()
        except BotError:
            # the check of the scheduler says so
            continue
        found += [(host, f"a controller of {cluster.name}") for a in told for host in a.controllers]
    return found


async def _machine(look: Look, host: str, vms: Sequence[Vm]) -> tuple[str, ...]:
    """Return by which names nodes may go that are this host: its own, and that of its VM."""
    try:
        async with asyncio.timeout(_WITHIN_SECONDS):
            addresses = set(await look.here.addresses(host))
    except (OSError, TimeoutError):
        addresses = {host}
    same = [
        short_name(vm.name)
        for vm in vms
        if addresses & {*vm.private_ips, *(ip.address for ip in vm.public_ips)}
    ]
    return (short_name(host), *same)


async def touchable(look: Look) -> Sequence[Answer]:
    """Say of each cluster how many nodes may be touched."""
    return [_touchable(look, cluster) for cluster in look.clusters]


def _touchable(look: Look, cluster: Watched) -> Answer:
    names = sorted(cluster.nodes - look.services.protected)
    if not names:
        mend = f"Name the nodes in [clusters.{cluster.name}] nodes."
        return warn("No node may be touched, so every repair is refused.", mend, cluster.name)
    return ok(f"{len(names)} nodes may be touched: {folded(names)}.", cluster.name)


async def level(look: Look) -> Sequence[Answer]:
    """Say at which level this runs, and what the next one needs."""
    at = look.settings.level
    said = f"Level {int(at)} ({at.name.lower()})."
    return (ok(f"{said} {_NEXT[at]}".strip()),)
