"""What each finding means: which repair helps, which cannot, and what to do."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from bot.hosts.model import Finding, Found, Rung

_GUEST = frozenset({Rung.RESTART_RESOLVER, Rung.REBOOT})
_API = frozenset({Rung.RESET, Rung.STOP_START})
#: Everything that touches the machine.
_ANY = _GUEST | _API
_ELSEWHERE = frozenset({Rung.NOTHING})


@dataclass(frozen=True, kw_only=True, slots=True)
class Meaning:
    """What a finding means for whoever has to decide."""

    #: rungs that can help; NOTHING is "mend it elsewhere, or run again"
    helps: frozenset[Rung]
    #: no effect on the cause; all of its losses
    cannot: frozenset[Rung]
    #: what is so and what to do about it
    advice: str


def _elsewhere(advice: str) -> Meaning:
    return Meaning(helps=_ELSEWHERE, cannot=_ANY, advice=advice)


MEANINGS: Mapping[Finding, Meaning] = {
    Finding.RESOLVER_FAILED: Meaning(
        helps=_GUEST | {Rung.STOP_START},
        cannot=frozenset({Rung.SUPPORT}),
        advice="The resolver of this machine has failed; restarting it is usually enough.",
    ),
    Finding.RESOLVER_HUNG: Meaning(
        helps=_GUEST | {Rung.STOP_START},
        cannot=frozenset({Rung.SUPPORT}),
        advice="The resolver of this machine hangs; restarting it is usually enough, and its "
        "watchdog may do it by itself.",
    ),
    Finding.UPSTREAM_UNREACHABLE: Meaning(
        helps=frozenset({Rung.SUPPORT}),
        cannot=_ANY,
        advice="The DNS servers behind the resolver, or the way to them, have to be mended; no "
        "step on this machine does that.",
    ),
    Finding.RESOLV_CONF_OVERWRITTEN: _elsewhere(
        "Put /etc/resolv.conf back as peers have it and find out what wrote it; a restart leaves "
        "it as it is."
    ),
    Finding.SEARCH_DOMAIN_LOST: _elsewhere(
        "The resolver works: give it its search domain back, or use full names."
    ),
    Finding.RECORD_MISSING: _elsewhere(
        "The name has no record: add it, or correct the name (MASTER_ADDR)."
    ),
    Finding.RENDEZVOUS_PORT_BLOCKED: _elsewhere(
        "Names are fine; look at the firewall between this machine and the rendezvous."
    ),
    Finding.RESOLVER_HUNG_THEN_RESTARTED: _elsewhere(
        "systemd has restarted the hung resolver already: nothing to repair, run the job again."
    ),
    Finding.HEALTHY_NOW: _elsewhere("Nothing to repair on this machine: run the job again."),
    Finding.CONTAINER_RESOLVER_DIFFERS: _elsewhere(
        "The container has a resolver setting of its own: correct the pod or image (dnsPolicy, "
        "dnsConfig)."
    ),
    Finding.CLUSTER_DNS_DOWN: _elsewhere(
        "Mend the cluster's DNS service; restarting machines does not."
    ),
    Finding.COREDNS_ON_SICK_NODE: _elsewhere("Move the DNS pod to a healthy node."),
    Finding.SERVICE_NOT_READY: _elsewhere(
        "Wait for the pod behind the Service, or publish addresses that are not ready."
    ),
    Finding.NO_ROUTE: _elsewhere("Mend the way there (jump host, network); the machine is not it."),
    Finding.NO_ACCESS: _elsewhere(
        "The fault is on our side: correct our key, host key, sudo rule or identity setting."
    ),
    Finding.LOGIN_HANGS: Meaning(
        helps=_API,
        cannot=_GUEST,
        advice="The machine lets nobody in. Wait first, it may be busy: a reset is a person's "
        "explicit choice.",
    ),
    Finding.HOST_SILENT: Meaning(
        helps=_API,
        cannot=_GUEST,
        advice="The machine is silent where a peer answers: only the cloud's API reaches it.",
    ),
}

#: No step inside the machine is possible: there is no login.
NO_LOGIN = frozenset(
    {Finding.HOST_SILENT, Finding.LOGIN_HANGS, Finding.NO_ROUTE, Finding.NO_ACCESS}
)


#: Characters of what was seen; only a machine that makes things up has more to say.
_MOST = 500


def meant(finding: Finding, why: str, *, fleet_wide: bool = False) -> Found:
    """Return a finding with its meaning; what a machine said is made printable and short."""
    meaning = MEANINGS[finding]
    return Found(
        finding=finding,
        why=_printable(why),
        helps=meaning.helps,
        cannot=meaning.cannot,
        advice=meaning.advice,
        fleet_wide=fleet_wide,
    )


def _printable(text: str) -> str:
    start = text[: _MOST + 1]
    shown = "".join(char if char.isprintable() else ascii(char)[1:-1] for char in start)
    return shown if len(shown) <= _MOST else f"{shown[: _MOST - 1]}…"
