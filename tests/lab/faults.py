"""What can be broken: a table of faults, each with how it is made. `heal` undoes them all."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tests.lab.machine import Machine, resolved_conf
from tests.lab.network import namespace
from tests.lab.running import run

if TYPE_CHECKING:
    from tests.lab.lab import Lab

PORT = 29500


@dataclass(frozen=True, kw_only=True)
class Fault:
    """One row."""

    name: str
    #: makes it, on one machine or for all
    make: Callable[[Lab, Machine], None]
    #: the finding that the probes must come to
    finding: str
    #: the rungs that may help; none for most
    helps: Sequence[str] = ()
    #: no one machine is at fault
    everywhere: bool = False


def _failed(_lab: Lab, machine: Machine) -> None:
    # five crashes within ten seconds are systemd's start limit (systemd.unit(5))
    crash = "for i in $(seq 12); do pkill -SEGV systemd-resolve; sleep 0.4; done"
    machine.run("sh", "-c", crash, may_fail=True)
    state = machine.run("systemctl", "is-active", "systemd-resolved", may_fail=True).strip()
    assert state == "failed", state


def _hung(_lab: Lab, machine: Machine) -> None:
    machine.run("pkill", "-STOP", "systemd-resolve")


def _overwritten(_lab: Lab, machine: Machine) -> None:
    machine.run("systemctl", "stop", "systemd-resolved")
    machine.run("rm", "/etc/resolv.conf")
    machine.run("tee", "/etc/resolv.conf", given="nameserver 192.0.2.53\n")


def _search_lost(_lab: Lab, machine: Machine) -> None:
    _configure(machine, resolved_conf(""))


def _port_blocked(_lab: Lab, machine: Machine) -> None:
    rules = (
        f"table inet lab {{\n chain o {{\n type filter hook output priority 0;\n"
        f" tcp dport {PORT} drop\n }}\n}}\n"
    )
    run("ip", "netns", "exec", namespace(machine.number), "nft", "-f", "-", given=rules)


def _dns_down(lab: Lab, _machine: Machine) -> None:
    lab.network.forget()


def _record_missing(lab: Lab, _machine: Machine) -> None:
    lab.network.know(range(1, lab.count))


def _configure(machine: Machine, text: str) -> None:
    machine.run("tee", "/etc/systemd/resolved.conf.d/lab.conf", given=text)
    machine.run("systemctl", "restart", "systemd-resolved")


_RESTART = ("restart_resolver",)
FAULTS: Mapping[str, Fault] = {
    one.name: one
    for one in (
        Fault(name="resolved-failed", make=_failed, finding="resolver_failed", helps=_RESTART),
        Fault(name="resolved-hung", make=_hung, finding="resolver_hung", helps=_RESTART),
        Fault(name="resolvconf-overwritten", make=_overwritten, finding="resolv_conf_overwritten"),
        Fault(name="search-lost", make=_search_lost, finding="search_domain_lost"),
        Fault(name="port-blocked", make=_port_blocked, finding="rendezvous_port_blocked"),
        Fault(name="dns-down", make=_dns_down, finding="upstream_unreachable", everywhere=True),
        Fault(
            name="record-missing", make=_record_missing, finding="record_missing", everywhere=True
        ),
    )
}


def heal(lab: Lab) -> None:
    """Undo every fault, whatever was made."""
    lab.network.know(range(lab.count))
    for machine in lab.machines:
        if not machine.running:
            machine.start()
        run("ip", "netns", "exec", namespace(machine.number), "nft", "flush", "ruleset")
        machine.wait_until_init()
        machine.run("pkill", "-CONT", "systemd-resolve", may_fail=True)
        machine.run("ln", "-sfT", "/run/systemd/resolve/stub-resolv.conf", "/etc/resolv.conf")
        machine.run("systemctl", "reset-failed", "systemd-resolved", may_fail=True)
        _configure(machine, resolved_conf())
        machine.wait_until_up()
