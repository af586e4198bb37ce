"""Faults by name: what each changes in the model, and how all of them are undone."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime

from playground.fleet.machine import Machine, Network

#: Changes a network, or one machine of it.
Fault = Callable[[Network, Machine], None]
RENDEZVOUS_PORT = 29500


def _resolver_failed(network: Network, machine: Machine) -> None:
    del network
    resolver = machine.resolver
    # What systemd 252 shows once it has given up restarting.
    resolver.active, resolver.result, resolver.restarts = "failed", "signal", 5
    resolver.exit_status = 11
    _log(machine, "systemd-resolved.service: Main process exited, code=dumped, status=11/SEGV")
    _log(machine, "systemd-resolved.service: Start request repeated too quickly.")
    _log(machine, "Failed to start systemd-resolved.service - Network Name Resolution.")


def _resolver_hung(network: Network, machine: Machine) -> None:
    del network
    machine.resolver.hung = True


def _watchdog(network: Network, machine: Machine) -> None:
    _resolver_hung(network, machine)
    _log(machine, "systemd-resolved.service: Watchdog timeout (limit 3min)!")
    machine.restart_resolver()
    machine.resolver.restarts = 1


def _upstream_dead(network: Network, machine: Machine) -> None:
    del machine
    network.servers.clear()


def _resolv_conf_overwritten(network: Network, machine: Machine) -> None:
    del network
    machine.plain_conf = ["198.51.100.53"]
    machine.resolver.active = "inactive"


def _search_domain_lost(network: Network, machine: Machine) -> None:
    del network
    machine.resolver.search = []


def _record_missing(network: Network, machine: Machine) -> None:
    del network.records[f"{machine.name}.{network.domain}"]


def _port_blocked(network: Network, machine: Machine) -> None:
    del network
    machine.drops.add(RENDEZVOUS_PORT)


def _silent(network: Network, machine: Machine) -> None:
    del network
    machine.silent = True


def _login_hangs(network: Network, machine: Machine) -> None:
    del network
    machine.login_hangs = True


def _log(machine: Machine, text: str) -> None:
    machine.resolver.journal.append((datetime.now(UTC), text))


FAULTS: Mapping[str, Fault] = {
    "resolver-failed": _resolver_failed,
    "resolver-hung": _resolver_hung,
    "resolver-hung-then-restarted": _watchdog,
    "upstream-dead": _upstream_dead,
    "resolv-conf-overwritten": _resolv_conf_overwritten,
    "search-domain-lost": _search_domain_lost,
    "record-missing": _record_missing,
    "port-blocked": _port_blocked,
    "host-silent": _silent,
    "login-hangs": _login_hangs,
}


def break_(network: Network, fault: str, name: str) -> None:
    """Break a machine of the network, by the fault's name; raises KeyError for an unknown one."""
    FAULTS[fault](network, network.named(name))


def heal(network: Network) -> None:
    """Undo every fault; journals stay, as they do on a real machine."""
    network.servers |= network.hosts
    for machine in network.machines.values():
        network.records[f"{machine.name}.{network.domain}"] = machine.address
        machine.plain_conf, machine.silent, machine.login_hangs = None, False, False
        machine.drops.clear()
        machine.resolver.search = [network.domain]
        if machine.resolver.hung or not machine.resolver.exists:
            machine.restart_resolver()
