"""Which VM a host is: exactly one, or an error that a person reads."""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from ipaddress import ip_address
from typing import Generic, Protocol, TypeVar

from bot.errors import MatchError
from bot.fleet.placement import is_address, short_name


class VmLike(Protocol):
    """What matching needs to know of a VM; richer values of a cloud fit it."""

    @property
    def id(self) -> str:
        """The cloud's ID, on Crusoe equal to the guest's SMBIOS system UUID."""

    @property
    def name(self) -> str:
        """The name as the cloud lists it."""

    @property
    def private_ips(self) -> Sequence[str]:
        """Addresses on the cloud's own network."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Vm:
    """The least that is known of a VM."""

    id: str
    name: str
    private_ips: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class Host:
    """A host as the scheduler or the guest itself tells of it."""

    name: str
    #: `.spec.providerID` of a Kubernetes node, such as `crusoe://<id>`
    provider_id: str | None = None
    #: `/sys/class/dmi/id/product_uuid`, or `.status.nodeInfo.systemUUID`
    uuid: str | None = None
    #: address that the scheduler has for it (NodeAddr)
    address: str | None = None


#: How many candidates a message names.
_SHOWN = 5

V = TypeVar("V", bound=VmLike)


@dataclass(frozen=True, kw_only=True, slots=True)
class Match(Generic[V]):
    """The one VM that a host is."""

    host: str
    vm: V
    #: what settled it, strongest first: `uuid`, `providerID`, `name`, `address`
    by: tuple[str, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Matches(Generic[V]):
    """What matching many hosts came to."""

    found: Mapping[str, Match[V]]
    #: host → why it is no one VM
    errors: Mapping[str, str]


def match(host: Host, vms: Iterable[V]) -> Match[V]:
    """Return the VM that a host is.

    An ID (SMBIOS UUID, providerID) decides; without one the name does, up to the first dot and
    whatever its case, or the private address where the host is known by nothing else. Whatever
    else is told must agree. Raises MatchError for none, for two, and for a contradiction: never a
    pick.
    """
    return _match(host, _Known(vms))


def _match(host: Host, known: _Known[V]) -> Match[V]:
    by_id = [
        (how, _with_id(known, wanted, host.name, how))
        for how, wanted in (("uuid", host.uuid), ("providerID", _id_of(host.provider_id)))
        if wanted
    ]
    if by_id:
        return _by_id(host, known, by_id)
    if is_address(host.name):
        address = host.name.strip("[]")
        vm = _one(known.at(address), f"the address {address}")
        return Match(host=host.name, vm=vm, by=("address",))
    vm = _one(known.named(host.name), f"the name {short_name(host.name)}")
    if host.address and is_address(host.address) and vm.private_ips:
        if vm not in known.at(host.address):
            message = (
                f"{host.name} has the address {host.address} in the scheduler, but VM {_say(vm)} "
                "has another one: it may be a namesake. Its SMBIOS UUID settles it."
            )
            raise MatchError(message)
        return Match(host=host.name, vm=vm, by=("name", "address"))
    return Match(host=host.name, vm=vm, by=("name",))


def match_all(hosts: Iterable[Host], vms: Iterable[V]) -> Matches[V]:
    """Match many hosts; also two hosts that come out as one VM are an error, for both."""
    known = _Known(vms)
    found: dict[str, Match[V]] = {}
    errors: dict[str, str] = {}
    for host in hosts:
        try:
            found[host.name] = _match(host, known)
        except MatchError as error:
            errors[host.name] = str(error)
    hosts_of: dict[str, list[str]] = {}
    for name, one in found.items():
        hosts_of.setdefault(one.vm.id, []).append(name)
    for vm_id, names in hosts_of.items():
        if len({short_name(name) for name in names if not is_address(name)}) > 1:
            for name in names:
                del found[name]
                errors[name] = f"{' and '.join(sorted(names))} come out as one VM, {vm_id}."
    return Matches(found=found, errors=errors)


def _by_id(host: Host, known: _Known[V], by_id: Sequence[tuple[str, V]]) -> Match[V]:
    vm = by_id[0][1]
    for how, other in by_id:
        if other.id != vm.id:
            message = (
                f"{host.name} is VM {_say(vm)} by its {by_id[0][0]} and VM {_say(other)} "
                f"by its {how}; nothing is done to either until a person has looked."
            )
            raise MatchError(message)
    ways = tuple(how for how, _ in by_id)
    if is_address(host.name):
        return Match(host=host.name, vm=vm, by=ways)
    named = known.named(host.name)
    if any(one.id == vm.id for one in named):
        return Match(host=host.name, vm=vm, by=(*ways, "name"))
    if named:
        message = (
            f"{host.name} is VM {_say(vm)} by its {ways[0]}, but VM {_say(named[0])} bears its "
            "name; nothing is done to either until a person has looked."
        )
        raise MatchError(message)
    return Match(host=host.name, vm=vm, by=ways)


def _with_id(known: _Known[V], wanted: str, host: str, how: str) -> V:
    return _one(known.with_id(wanted), f"the {how} {wanted} that {host} reports")


def _one(found: Sequence[V], what: str) -> V:
    if not found:
        message = (
            f"No VM has {what} in the projects that are watched. "
            "Name the project in the settings, or the VM with --vm."
        )
        raise MatchError(message)
    if len(found) > 1:
        named = ", ".join(_say(vm) for vm in found[:_SHOWN])
        more = f" and {len(found) - _SHOWN} more" if len(found) > _SHOWN else ""
        message = (
            f"{len(found)} VMs have {what}: {named}{more}. Say which by its ID; none is picked."
        )
        raise MatchError(message)
    return found[0]


class _Known(Generic[V]):
    """VMs by whatever a host may be known by, each put in order once: hosts and VMs are many."""

    def __init__(self, vms: Iterable[V]) -> None:
        self._vms = tuple({vm.id: vm for vm in vms}.values())

    def named(self, name: str) -> Sequence[V]:
        """Return the VMs of a name."""
        return self._by_name.get(short_name(name), ())

    def with_id(self, identity: str) -> Sequence[V]:
        """Return the VMs of an ID, however that is spelled."""
        return self._by_id.get(_plain(identity), ())

    def at(self, address: str) -> Sequence[V]:
        """Return the VMs that have an address, however that is spelled."""
        return self._by_address.get(_binary(address), ())

    @cached_property
    def _by_name(self) -> Mapping[Hashable, Sequence[V]]:
        return self._by(lambda vm: {short_name(vm.name)})

    @cached_property
    def _by_id(self) -> Mapping[Hashable, Sequence[V]]:
        return self._by(lambda vm: {_plain(vm.id)})

    @cached_property
    def _by_address(self) -> Mapping[Hashable, Sequence[V]]:
        return self._by(lambda vm: {_binary(one) for one in vm.private_ips if is_address(one)})

    def _by(self, keys: Callable[[V], Iterable[Hashable]]) -> Mapping[Hashable, Sequence[V]]:
        found: dict[Hashable, list[V]] = {}
        for vm in self._vms:
            for key in keys(vm):
                found.setdefault(key, []).append(vm)
        return found


def _binary(address: str) -> Hashable:
    return ip_address(address.strip("[]").split("%", 1)[0])


def _id_of(provider_id: str | None) -> str | None:
    """Return the last part of `crusoe://<id>` or `crusoe:///<zone>/<id>`."""
    return provider_id.rstrip("/").rsplit("/", 1)[-1] if provider_id else None


def _plain(identity: str) -> str:
    """Return an ID as it compares: UUIDs are spelled in either case, with dashes or without."""
    return re.sub(r"[{}-]", "", identity).strip().lower()


def _say(vm: VmLike) -> str:
    addresses = ", ".join(vm.private_ips)
    return f"{vm.name} ({vm.id}{', ' + addresses if addresses else ''})"
