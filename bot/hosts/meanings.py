"""What each finding means: which repair helps, which cannot, and what to do."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from bot.hosts.model import Finding, Found, Repair

_GUEST = frozenset({Repair.RESTART_RESOLVER, Repair.REBOOT})
_API = frozenset({Repair.RESET, Repair.STOP_START})
#: Everything that touches the machine.
_ANY = _GUEST | _API
_ELSEWHERE = frozenset({Repair.NOTHING})


@dataclass(frozen=True, kw_only=True, slots=True)
class Meaning:
    """What a finding means for whoever has to decide."""

    helps: frozenset[Repair]
    #: no effect on the cause; all of its losses
    cannot: frozenset[Repair]
    advice: str


def _elsewhere(advice: str) -> Meaning:
    return Meaning(helps=_ELSEWHERE, cannot=_ANY, advice=advice)


MEANINGS: Mapping[Finding, Meaning] = {
    Finding.RESOLVER_FAILED: Meaning(
        helps=_GUEST | {Repair.STOP_START},
        cannot=frozenset({Repair.SUPPORT}),
        advice="Restart systemd-resolved on this machine; nothing more is needed.",
    ),
    Finding.RESOLVER_HUNG: Meaning(
        helps=_GUEST | {Repair.STOP_START},
        cannot=frozenset({Repair.SUPPORT}),
        advice="Restart systemd-resolved on this machine; its watchdog may do it by itself.",
    ),
    Finding.UPSTREAM_UNREACHABLE: Meaning(
        helps=frozenset({Repair.SUPPORT}),
        cannot=_ANY,
        advice="The DNS servers behind the resolver, or the way to them, have to be mended.",
    ),
    Finding.RESOLV_CONF_OVERWRITTEN: _elsewhere(
        "Put /etc/resolv.conf back as peers have it and find out what wrote it."
    ),
    Finding.SEARCH_DOMAIN_LOST: _elsewhere(
        "Give the resolver its search domain back, or use full names."
    ),
    Finding.RECORD_MISSING: _elsewhere("Add the record, or correct the name (MASTER_ADDR)."),
    Finding.RENDEZVOUS_PORT_BLOCKED: _elsewhere(
        "Names are fine; look at the firewall between this machine and the rendezvous."
    ),
    Finding.RESOLVER_HUNG_THEN_RESTARTED: _elsewhere(
        "systemd restarted the hung resolver already: run the job again."
    ),
    Finding.HEALTHY_NOW: _elsewhere("Nothing to repair on this machine: run the job again."),
    Finding.CONTAINER_RESOLVER_DIFFERS: _elsewhere(
        "Correct the resolver setting of the pod or image (dnsPolicy, dnsConfig)."
    ),
    Finding.CLUSTER_DNS_DOWN: _elsewhere("Mend the cluster's DNS service."),
    Finding.COREDNS_ON_SICK_NODE: _elsewhere("Move the DNS pod to a healthy node."),
    Finding.SERVICE_NOT_READY: _elsewhere(
        "Wait for the pod behind the Service, or publish addresses that are not ready."
    ),
    Finding.NO_ROUTE: _elsewhere("Mend the way there (jump host, network); the machine is not it."),
    Finding.NO_ACCESS: _elsewhere("Correct our key, host key, sudo rule or identity setting."),
    Finding.LOGIN_HANGS: Meaning(
        helps=_API,
        cannot=_GUEST,
        advice="Wait first: it may be busy. A reset is a person's explicit choice.",
    ),
    Finding.HOST_SILENT: Meaning(
        helps=_API, cannot=_GUEST, advice="Only the cloud's API reaches this machine."
    ),
}


def meant(finding: Finding, why: str, *, fleet_wide: bool = False) -> Found:
    """Return a finding with its meaning."""
    meaning = MEANINGS[finding]
    return Found(
        finding=finding,
        why=why,
        helps=meaning.helps,
        cannot=meaning.cannot,
        advice=meaning.advice,
        fleet_wide=fleet_wide,
    )
