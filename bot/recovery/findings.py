"""What probes find out about a VM, and which rung of the ladder helps against it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum


class Rung(StrEnum):
    """One thing that can be done, from the least to the most."""

    NOTHING = "nothing"
    RESTART_RESOLVER = "restart_resolver"
    REBOOT = "reboot"
    RESET = "reset"
    STOP_START = "stop_start"
    SUPPORT = "support"
    #: the only lifecycle call for a VM in ERROR, while support works on it
    STOP_FOR_SUPPORT = "stop_for_support"
    #: starts a VM that is stopped
    START = "start"


class Finding(StrEnum):
    """What the probes of a VM and of a healthy peer come to."""

    RESOLVER_FAILED = "resolver_failed"
    RESOLVER_HUNG = "resolver_hung"
    UPSTREAM_UNREACHABLE = "upstream_unreachable"
    RESOLV_CONF_OVERWRITTEN = "resolv_conf_overwritten"
    SEARCH_DOMAIN_LOST = "search_domain_lost"
    RECORD_MISSING = "record_missing"
    RENDEZVOUS_PORT_BLOCKED = "rendezvous_port_blocked"
    RESOLVER_HUNG_THEN_RESTARTED = "resolver_hung_then_restarted"
    HEALTHY_NOW = "healthy_now"
    CONTAINER_RESOLVER_DIFFERS = "container_resolver_differs"
    CLUSTER_DNS_DOWN = "cluster_dns_down"
    COREDNS_ON_SICK_NODE = "coredns_on_sick_node"
    SERVICE_NOT_READY = "service_not_ready"
    NO_ROUTE = "no_route"
    NO_ACCESS = "no_access"
    LOGIN_HANGS = "login_hangs"
    HOST_SILENT = "host_silent"


@dataclass(frozen=True, kw_only=True, slots=True)
class Meaning:
    """What a finding means for the ladder."""

    #: rungs that can help; NOTHING is "mend it elsewhere, or run again"
    helps: frozenset[Rung]
    #: what to do about it, as a sentence
    advice: str


_RESOLVER = frozenset({Rung.RESTART_RESOLVER, Rung.REBOOT, Rung.STOP_START})
_ELSEWHERE = frozenset({Rung.NOTHING})

MEANINGS: Mapping[str, Meaning] = {
    Finding.RESOLVER_FAILED: Meaning(
        helps=_RESOLVER, advice="The resolver of this VM has failed; restarting it is enough."
    ),
    Finding.RESOLVER_HUNG: Meaning(
        helps=_RESOLVER, advice="The resolver of this VM hangs; restarting it is enough."
    ),
    Finding.HOST_SILENT: Meaning(
        helps=frozenset({Rung.RESET, Rung.STOP_START}),
        advice="The VM is silent where a peer on the same route answers; only the API reaches it.",
    ),
    Finding.LOGIN_HANGS: Meaning(
        helps=frozenset({Rung.RESET, Rung.STOP_START}),
        advice="The VM accepts connections but no login; it may still be working on something.",
    ),
    Finding.UPSTREAM_UNREACHABLE: Meaning(
        helps=frozenset({Rung.SUPPORT}),
        advice="The DNS servers behind the resolver do not answer; no step on this VM mends them.",
    ),
    Finding.RESOLV_CONF_OVERWRITTEN: Meaning(
        helps=_ELSEWHERE,
        advice="Restore /etc/resolv.conf as the link it was; a restart leaves a plain file alone.",
    ),
    Finding.SEARCH_DOMAIN_LOST: Meaning(
        helps=_ELSEWHERE,
        advice="Give the link its search domain again, or use full names; the resolver works.",
    ),
    Finding.RECORD_MISSING: Meaning(
        helps=_ELSEWHERE, advice="The name has no record: add it, or correct MASTER_ADDR."
    ),
    Finding.RENDEZVOUS_PORT_BLOCKED: Meaning(
        helps=_ELSEWHERE, advice="Names resolve, but the port is closed: look at the firewall."
    ),
    Finding.RESOLVER_HUNG_THEN_RESTARTED: Meaning(
        helps=_ELSEWHERE,
        advice="systemd has already restarted the hung resolver: nothing to repair, run again.",
    ),
    Finding.HEALTHY_NOW: Meaning(
        helps=_ELSEWHERE, advice="Names resolve on this VM now: nothing to repair, run again."
    ),
    Finding.CONTAINER_RESOLVER_DIFFERS: Meaning(
        helps=_ELSEWHERE,
        advice="The container has a resolver setting of its own; correct the pod or the image.",
    ),
    Finding.CLUSTER_DNS_DOWN: Meaning(
        helps=_ELSEWHERE,
        advice="The cluster's DNS does not answer; mend it there, restarting VMs does not.",
    ),
    Finding.COREDNS_ON_SICK_NODE: Meaning(
        helps=_ELSEWHERE, advice="A CoreDNS pod runs on a sick node; move the pod."
    ),
    Finding.SERVICE_NOT_READY: Meaning(
        helps=_ELSEWHERE, advice="The job's Service has no ready endpoint yet; wait for the pod."
    ),
    Finding.NO_ROUTE: Meaning(
        helps=_ELSEWHERE,
        advice="A peer is as unreachable by this route: the route is at fault, not the VM.",
    ),
    Finding.NO_ACCESS: Meaning(
        helps=_ELSEWHERE,
        advice="The VM refuses our key, host key or sudo: the fault is in our settings.",
    ),
}
#: A step inside the guest needs a login.
NO_LOGIN = frozenset(
    {Finding.HOST_SILENT, Finding.LOGIN_HANGS, Finding.NO_ROUTE, Finding.NO_ACCESS}
)
