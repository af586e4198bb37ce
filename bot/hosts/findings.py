"""From what a machine and a healthy peer answered to what is wrong, as a table of rules. Pure."""

from __future__ import annotations

from collections.abc import Callable

from bot.diagnosis.names import same_host
from bot.hosts import login, probes
from bot.hosts.meanings import meant
from bot.hosts.model import Evidence, Finding, Found, Judgement
from bot.hosts.probes import Question
from bot.hosts.units import stands
from bot.hosts.view import ClusterDns, View, Window

#: Characters of a word that a machine said, in a sentence of ours.
_LONGEST = 64
#: Says what was seen, or nothing.
Rule = Callable[[View], str]


def judge(
    vm: Evidence,
    peer: Evidence | None,
    question: Question,
    *,
    window: Window | None = None,
    cluster: ClusterDns | None = None,
) -> Judgement:
    """Return what is found about a machine, given a healthy peer asked the same.

    A finding that the peer shows, too, is fleet-wide and names no machine. Where the machine let
    nobody in, only the way in is judged, and only against a peer on the same way.
    """
    if vm.failure is not None:
        return login.judge(vm, peer)
    view = View(vm=vm, peer=peer, question=question, window=window, cluster=cluster)
    found = tuple(_found(view, finding, why) for finding, why in _seen(view))
    if found:
        return Judgement(found=found)
    return Judgement(
        found=(), untold=_untold(view), amiss=bool(view.failing) or not view.vm.results
    )


def _seen(view: View) -> list[tuple[Finding, str]]:
    seen = [(finding, why) for finding, rule in RULES if (why := rule(view))]
    return seen or [(Finding.HEALTHY_NOW, why) for why in [_healthy(view)] if why]


def _found(view: View, finding: Finding, why: str) -> Found:
    turned = view.turned()
    rule = dict(RULES).get(finding)
    wide = finding in _ALWAYS_WIDE or bool(turned and rule and rule(turned))
    return meant(finding, why, fleet_wide=wide)


def _untold(view: View) -> str:
    if not view.vm.results:
        return f"{view.vm.name} answered nothing."
    if not view.question.names:
        return "No name was given to look up, so the resolver was seen to run, and no more."
    if view.failing:
        names = ", ".join(view.failing[:3])
        return f"{names} fail here, and nothing that was probed says why."
    return "Names resolve, but the probes are incomplete."


# -- the rules -----------------------------------------------------------------------------------


def _failed(view: View) -> str:
    unit = view.unit
    if unit.runs or view.resolver_alive or not unit.active:
        return ""
    if view.conf.asks_stub:
        leads = "/etc/resolv.conf leads to it"
    elif _past_conf(view):
        leads = "nsswitch.conf leads to it"
    else:
        return ""
    return f"systemd-resolved {stands(unit)}, and {leads}."


def _past_conf(view: View) -> bool:
    """Tell whether names fail where a peer with the same resolv.conf has its resolver running."""
    turned = view.turned()
    by_nss = "resolve" in (view.vm.read(probes.NSSWITCH) or ())
    same = turned is not None and turned.conf.servers == view.conf.servers and turned.unit.runs
    return bool(by_nss and same and view.failing)


def _hung(view: View) -> str:
    if not view.asks_resolver or view.resolver_alive or not view.resolver_exists:
        return ""
    if view.question.names and not view.failing:
        # A machine that is merely busy: names do come back.
        return ""
    silent = any(one.answer == "timeout" for one in view.vm.read(probes.STUB) or ())
    asked = [view.vm.results[one.name] for one in probes.RESOLVECTL if one.name in view.vm.results]
    if not silent and not (asked and all(result.timed_out for result in asked)):
        return ""
    states = {one.state for one in view.vm.read(probes.RESOLVER_PROCESS) or ()}
    stopped = " and its process is stopped" if "T" in states else ""
    return f"systemd-resolved runs, but does not even answer for localhost{stopped}."


def _overwritten(view: View) -> str:
    conf = view.conf
    if conf.asks_stub or not view.failing or (view.asks_resolver and view.resolver_alive):
        return ""
    turned = view.turned()
    if turned is None:
        # Without a peer, only a file where systemd's link belongs is a sign.
        uplink = view.vm.read(probes.UPLINK_CONF)
        if uplink is None or not uplink.exists or conf.target is not None:
            return ""
        theirs = "systemd-resolved's own file names " + _listed(uplink.servers)
        if set(conf.servers) & set(uplink.servers):
            return ""
    else:
        if set(conf.servers) == set(turned.conf.servers):
            return ""
        theirs = f"a peer has {_listed(turned.conf.servers)}"
    kind = "a plain file" if conf.target is None else f"a link to {_short(conf.target)}"
    if not conf.exists:
        return f"/etc/resolv.conf is missing; {theirs}."
    return f"/etc/resolv.conf is {kind} with {_listed(conf.servers)}; {theirs}."


def _upstream(view: View) -> str:
    if not view.failing or _failed(view) or _hung(view) or _overwritten(view):
        return ""
    answers = view.upstream
    if not answers or any(one.reached for one in answers):
        return ""
    servers = _listed(tuple(sorted({one.server for one in answers})))
    how = " and ".join(sorted({_short(one.answer) for one in answers})[:3])
    return f"No name server answers from here ({servers}: {how})."


def _search(view: View) -> str:
    if _failed(view) or _hung(view) or _overwritten(view):
        return ""
    short = [name for name in view.failing if "." not in name and not _own(view, name)]
    turned = view.turned()
    theirs = turned.search if turned else ()
    lost = tuple(domain for domain in theirs if domain not in view.search)
    for name in short:
        full = [
            one
            for one in view.looked_up.by_name.values()
            if one.ok and one.name.startswith(name + ".")
        ]
        if full and full[0].name.partition(".")[2].rstrip(".") not in view.search:
            return f"{name} fails where {full[0].name} resolves: its domain is not searched."
        if lost and view.peer_finds(name):
            return f"{name} fails here; a peer finds it and searches {_listed(lost)}."
    return ""


def _record(view: View) -> str:
    if _failed(view) or _hung(view) or _overwritten(view) or _upstream(view) or _search(view):
        return ""
    for name in view.question.names:
        if not view.peer_finds(name) and _nobody_finds(view, name) and view.denied(name):
            return f"The name servers answer and say that {name} has no address."
    return ""


def _nobody_finds(view: View, name: str) -> bool:
    """Tell whether a name fails here; of the machine's own name, only a peer can say."""
    turned = view.turned()
    found = view.looked_up.by_name.get(name)
    if found is None or not found.ok:
        return True
    theirs = turned.looked_up.by_name.get(name) if turned else None
    return _own(view, name) and theirs is not None and not theirs.ok


def _port(view: View) -> str:
    mine = view.vm.read(probes.RENDEZVOUS)
    if mine is None or mine.reaches:
        return ""
    outcome = _short(mine.outcome)
    where = f"{view.question.address} port {int(view.question.port or 0)}"
    turned = view.turned()
    theirs = turned.vm.read(probes.RENDEZVOUS) if turned else None
    if theirs is None:
        return f"No packet comes back from {where} ({outcome})."
    if theirs.reaches:
        return f"No packet comes back from {where} ({outcome}), where a peer reaches it."
    return f"No packet comes back from {where} ({outcome}), to a peer neither."


def _restarted(view: View) -> str:
    if not view.resolver_alive:
        return ""
    for event in view.vm.read(probes.JOURNAL) or ():
        if "Watchdog timeout" in event.text and view.within(event.at):
            return f"systemd restarted the hung resolver at {event.at:%H:%M:%S} UTC."
    return ""


def _container(view: View) -> str:
    for one in view.rank_containers:
        failing = [
            name
            for name, code in one.lookups.items()
            if code != 0 and (found := view.looked_up.by_name.get(name)) and found.ok
        ]
        answered = any(answer.reached for answer in one.answers)
        if failing and (answered or not one.servers):
            where = f"not in the container, which asks {_listed(one.servers)}"
            return f"{failing[0]} resolves on the machine, {where}."
    return ""


def _cluster_down(view: View) -> str:
    if view.cluster and view.cluster.without_endpoints:
        return "The cluster's DNS service has no ready endpoint."
    for one in view.rank_containers:
        silent = one.answers and not any(answer.reached for answer in one.answers)
        if silent and any(code != 0 for code in one.lookups.values()) and not view.failing:
            return f"The cluster's DNS ({_listed(one.servers)}) does not answer in the container."
    return ""


def _coredns(view: View) -> str:
    hosts = view.cluster.hosts if view.cluster else frozenset()
    if not any(same_host(view.vm.name, host) for host in hosts):
        return ""
    if _failed(view) or _hung(view) or _overwritten(view) or _upstream(view):
        return f"A pod of the cluster's DNS runs on {view.vm.name}, whose own resolver fails."
    return ""


def _service(view: View) -> str:
    waiting = view.cluster.services_not_ready if view.cluster else frozenset()
    for name in sorted(waiting):
        if any(same_host(name, asked) for asked in view.question.names):
            return f"The Service {name} has no ready endpoint, so it has no record."
    return ""


def _healthy(view: View) -> str:
    names = view.question.names
    if names and not view.failing and len(view.looked_up.by_name) == len(names):
        return f"All {len(names)} names that were asked for resolve here."
    return ""


def _own(view: View, name: str) -> bool:
    """Tell whether a name is the machine's own, which it resolves without DNS."""
    return same_host(name, view.vm.name)


def _listed(servers: tuple[str, ...]) -> str:
    return ", ".join(map(_short, servers[:3])) or "no name server"


def _short(word: str) -> str:
    """Keep a word of a machine from filling the sentence; an address is never so long."""
    return word if len(word) <= _LONGEST else f"{word[:_LONGEST]}…"


#: The likeliest cause first.
RULES: tuple[tuple[Finding, Rule], ...] = (
    (Finding.RESOLVER_FAILED, _failed),
    (Finding.RESOLVER_HUNG, _hung),
    (Finding.RESOLV_CONF_OVERWRITTEN, _overwritten),
    (Finding.COREDNS_ON_SICK_NODE, _coredns),
    (Finding.CLUSTER_DNS_DOWN, _cluster_down),
    (Finding.SERVICE_NOT_READY, _service),
    (Finding.UPSTREAM_UNREACHABLE, _upstream),
    (Finding.SEARCH_DOMAIN_LOST, _search),
    (Finding.RECORD_MISSING, _record),
    (Finding.CONTAINER_RESOLVER_DIFFERS, _container),
    (Finding.RENDEZVOUS_PORT_BLOCKED, _port),
    (Finding.RESOLVER_HUNG_THEN_RESTARTED, _restarted),
)
#: Never one machine's fault, whether a peer shows it or not.
_ALWAYS_WIDE = frozenset(
    {Finding.RECORD_MISSING, Finding.SERVICE_NOT_READY, Finding.CLUSTER_DNS_DOWN}
)
