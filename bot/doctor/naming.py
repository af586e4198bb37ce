"""Checks of names: those that this product needs itself, and who answers for them here."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from datetime import timedelta
from urllib.parse import urlsplit

from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError

from bot.clouds.crusoe.endpoint import endpoint
from bot.clouds.errors import CloudError
from bot.clouds.model import Vm
from bot.doctor.here import ResolverFile
from bot.doctor.look import Look
from bot.doctor.machines import looked_at
from bot.doctor.model import Answer, fail, ok, skip, warn
from bot.errors import BotError
from bot.fleet.placement import is_address, short_name
from bot.hosts import probes
from bot.settings import Settings

_WITHIN = timedelta(seconds=8)
_APART = (
    "Run nccl-dns outside the watched network, or give this machine a resolver of its own: it has "
    "to outlive the outage that it reports."
)


def needed(settings: Settings) -> Iterator[tuple[str, str]]:
    """Yield each host of the settings that is reached by name or address, and what for."""
    if settings.cloud.kind == "crusoe":
        yield endpoint(settings.cloud.base_url).host, "the cloud's API"
    for name, cluster in settings.clusters.items():
        if cluster.rest and (host := urlsplit(cluster.rest.url).hostname):
            yield host, f"slurmrestd of {name}"
        if cluster.login and cluster.login.host:
            yield cluster.login.host, f"the login node of {name}"
    for jump in settings.ssh.jumps if settings.ssh else ():
        yield jump.host, "a jump host"
    try:
        host = make_url(settings.store_url).host
    except ArgumentError:
        host = None
    if host:
        yield host, "the store"


async def own_names(look: Look) -> Sequence[Answer]:
    """Say whether every name that this product needs itself resolves on this machine."""
    wanted = {host: what for host, what in needed(look.settings) if not is_address(host)}
    if not wanted:
        return (ok("Nothing is reached by name."),)
    found = await asyncio.gather(*(_problem(look, host) for host in wanted))
    bad = [
        fail(f"{host} ({wanted[host]}) {problem}", "Repair this machine's resolver, or use an "
             "address in the settings.", host)
        for host, problem in zip(wanted, found, strict=True)
        if problem
    ]  # fmt: skip
    names = ", ".join(host for host, problem in zip(wanted, found, strict=True) if not problem)
    return [*bad, *([ok(f"Found from here: {names}.")] if names else [])]


async def _problem(look: Look, host: str) -> str:
    try:
        async with asyncio.timeout(_WITHIN.total_seconds()):
            await look.here.addresses(host)
    except TimeoutError:
        return f"was not answered within {_WITHIN.total_seconds():g} s."
    except OSError as error:
        return f"does not resolve here: {error.strerror or error}."
    return ""


async def resolver(look: Look) -> Sequence[Answer]:
    """Say whether this machine's names hang on what is watched: then it falls silent with it."""
    own = look.here.resolver()
    if not own.servers:
        return (skip("This machine's resolver cannot be read from resolv.conf."),)
    vms, untold = await _vms(look)
    found = [*_inside(look, vms), *_served_by(own, vms), *await _shared(look, own)]
    if found:
        return found
    servers = ", ".join(own.servers)
    if untold:
        return (skip(f"This machine asks {servers}; not compared: {untold}"),)
    if not vms and not look.settings.ssh:
        return (skip(f"This machine asks {servers}; nothing is known of the watched ones."),)
    return (ok(f"This machine asks {servers}, and no watched machine is seen to."),)


async def _vms(look: Look) -> tuple[tuple[Vm, ...], str]:
    try:
        return await look.every_vm(), ""
    except CloudError as error:
        return (), str(error)


def _inside(look: Look, vms: Sequence[Vm]) -> Iterator[Answer]:
    """Warn where this machine is one of the VMs, or its search domain is a watched cluster's."""
    if vm := own_vm(look, vms):
        yield warn(f"This machine is VM {vm.name} of a watched project.", _APART)
    domains = look.here.resolver().domains
    for name, cluster in look.settings.clusters.items():
        if cluster.domain and cluster.domain.strip(".").lower() in domains:
            said = f"This machine searches {cluster.domain}, as the watched ones do."
            yield warn(said, _APART, name)


def own_vm(look: Look, vms: Sequence[Vm]) -> Vm | None:
    """Return the VM that this machine is: it has the address and, where they differ, the name."""
    here = [vm for vm in vms if any(is_address(ip) and look.here.owns(ip) for ip in vm.private_ips)]
    if len(here) > 1:
        # one address in two networks: the name settles it
        return next((v for v in here if short_name(v.name) == short_name(look.here.name())), None)
    return here[0] if here else None


def _served_by(own: ResolverFile, vms: Sequence[Vm]) -> Iterator[Answer]:
    for vm in vms:
        for server in set(own.servers) & set(vm.private_ips):
            said = f"This machine asks {server}, which is VM {vm.name} of a watched project."
            yield warn(said, _APART)


async def _shared(look: Look, own: ResolverFile) -> list[Answer]:
    """Compare with the servers that watched machines ask, where some were looked at."""
    if look.settings.ssh is None:
        return []
    found = []
    for cluster in look.clusters or (None,):
        try:
            seen = await looked_at(look, cluster)
        except BotError:
            # the check of logins says so
            continue
        theirs = {
            server
            for one in seen
            if one.evidence is not None
            for conf in map(one.evidence.read, (probes.UPLINK_CONF, probes.RESOLV_CONF))
            for server in (conf.servers if conf else ())
            if not server.startswith("127.")
        }
        if shared := sorted(theirs & set(own.servers)):
            said = f"This machine and the watched ones ask the same servers: {', '.join(shared)}."
            found.append(warn(said, _APART, cluster.name if cluster else ""))
    return found
