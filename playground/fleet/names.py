"""How a name is resolved on a simulated machine, step by step as glibc and systemd do it."""

from __future__ import annotations

import socket
from dataclasses import dataclass

from playground.fleet.machine import STUB, Machine, Network

AGAIN, NONAME = socket.EAI_AGAIN, socket.EAI_NONAME


@dataclass(frozen=True, kw_only=True, slots=True)
class Resolved:
    """What getaddrinfo gives."""

    code: int = 0
    address: str = ""


def resolve(machine: Machine, network: Network, name: str) -> Resolved | None:
    """Return what getaddrinfo gives for a name; None where it does not come back in time."""
    if name in machine.hosts_file:
        return Resolved(address=machine.hosts_file[name])
    if "resolve" in machine.nss.split() and machine.resolver.exists:
        return by_resolver(machine, network, name)
    servers = machine.plain_conf if machine.plain_conf is not None else [STUB]
    search = conf_search(machine)
    if STUB in servers:
        return by_resolver(machine, network, name) if machine.resolver.exists else Resolved(code=-3)
    return _by_servers(network, servers, _full(name, search))


def by_resolver(machine: Machine, network: Network, name: str) -> Resolved | None:
    """Return what systemd-resolved gives; it knows its own machine's name by itself."""
    if machine.resolver.hung:
        return None
    if name == machine.name:
        return Resolved(address=machine.address)
    found = _by_servers(network, machine.resolver.servers, _full(name, machine.resolver.search))
    # Seen with systemd 252 and nss-resolve: an outage upstream is EAI_NONAME, too, but servers
    # that refuse (a bare label, where the search domain is lost) are EAI_AGAIN.
    dead = not any(network.ask(server, name)[0].isupper() for server in machine.resolver.servers)
    return Resolved(code=NONAME) if dead and not found.address else found


def conf_servers(machine: Machine) -> list[str]:
    """Return what /etc/resolv.conf names."""
    return [STUB] if machine.plain_conf is None else machine.plain_conf


def conf_search(machine: Machine) -> list[str]:
    """Return the domains of /etc/resolv.conf; systemd writes its own into the stub's file."""
    return machine.resolver.search if machine.plain_conf is None else machine.plain_search


def _full(name: str, search: list[str]) -> list[str]:
    return [name] if "." in name else [f"{name}.{domain}" for domain in search] or [name]


def _by_servers(network: Network, servers: list[str], names: list[str]) -> Resolved:
    reached = False
    for server in servers:
        for name in names:
            answer, address = network.ask(server, name)
            if address:
                return Resolved(address=address)
            reached = reached or answer == "NXDOMAIN"
        if reached:
            return Resolved(code=NONAME)
    return Resolved(code=AGAIN)
