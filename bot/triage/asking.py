"""What to ask machines: names from the log and the job, the rendezvous by address. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from bot.diagnosis import Diagnosis
from bot.fleet.placement import is_address, same_host, short_name
from bot.hosts.errors import UnsafeWordError
from bot.hosts.probes import Question
from bot.hosts.words import Address, HostName, Port, sift

#: Names that one look asks for; the answer of more would tell nothing new.
_MOST_NAMES = 8
#: Machines of the job that are asked for where no log names one.
_FEW = 2


def question(
    diagnosis: Diagnosis | None,
    nodes: Sequence[str],
    addresses: dict[str, str],
    domain: str = "",
) -> tuple[Question, tuple[str, ...]]:
    """Return what to ask every machine, and a note for each name that was refused.

    `nodes` are the job's in order, `addresses` their private addresses by node; names of the log
    that fit no host-name grammar are not asked for.
    """
    peers = diagnosis.peers if diagnosis else ()
    asked = [peer.host for peer in peers if not is_address(peer.host)]
    kept, refused = sift(_both_ways([*asked, *([] if asked else nodes[:_FEW])], nodes, domain))
    where = next((peer for peer in peers if peer.port), None)
    return (
        Question(
            names=kept[:_MOST_NAMES],
            address=_address(where.host if where else "", addresses),
            port=_port(where.port if where else None),
        ),
        tuple(
            f"{ascii(name)[:80]} stands in the log where a host name should; it was not asked for."
            for name in refused
        ),
    )


def full_names(hosts: Iterable[str], domain: str) -> tuple[HostName, ...]:
    """Return the hosts by short and, where a domain is known, by full name, in order."""
    names = [
        name
        for host in hosts
        for name in (short_name(host), f"{short_name(host)}.{domain}" if domain else host)
    ]
    return sift(names)[0]


def domain_of(diagnosis: Diagnosis | None, nodes: Sequence[str]) -> str:
    """Return the domain by which the log names a machine of the job; empty where it does not."""
    for peer in diagnosis.peers if diagnosis else ():
        short, _, domain = peer.host.partition(".")
        if domain and not is_address(peer.host) and any(same_host(short, node) for node in nodes):
            return domain.rstrip(".")
    return ""


def _both_ways(names: Sequence[str], nodes: Sequence[str], domain: str) -> list[str]:
    """Return each name as asked, then the machines of the job among them the other way, too."""
    other = []
    for name in names:
        if any(same_host(name, node) for node in nodes):
            short = name.partition(".")[0]
            other.append(short if "." in name else f"{short}.{domain}" if domain else short)
    return list(dict.fromkeys([*names, *other]))


def _address(host: str, addresses: dict[str, str]) -> Address | None:
    found = host if is_address(host) else None
    if found is None:
        found = next((ip for node, ip in addresses.items() if host and same_host(node, host)), None)
    try:
        return Address(found) if found else None
    except UnsafeWordError:
        return None


def _port(number: int | None) -> Port | None:
    try:
        return Port(number) if number else None
    except UnsafeWordError:
        return None
