"""Prove the rules that need more than one fault, another set-up, or no peer."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from bot.hosts import probes
from bot.hosts.findings import RULES, judge
from bot.hosts.model import Evidence, Finding, LoginFailure, Probe, ProbeResult
from bot.hosts.probes import Question
from bot.hosts.view import ClusterDns, Window
from bot.hosts.words import Address, HostName, Port, Proof
from playground.fleet.answers import answer
from playground.fleet.build import make
from playground.fleet.faults import break_
from playground.fleet.machine import Network

NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
QUESTION = Question(
    names=(HostName("node-0"), HostName("node-0.fleet.internal")),
    address=Address("10.20.1.10"),
    port=Port(29500),
)


@pytest.fixture
def network() -> Network:
    """Return three healthy machines."""
    return make(3, ranks=1)


def _look(network: Network, name: str, question: Question = QUESTION) -> Evidence:
    machine = network.named(name)
    rows = probes.rows(question, "product_uuid", Proof(machine.product_uuid))
    results = {one.name: one for one in answer(machine, network, rows)}
    return Evidence(vm_id=machine.product_uuid, name=name, at=NOW, results=results)


def _with(evidence: Evidence, probe: Probe[object], *lines: object, rc: int | None = 0) -> Evidence:
    output = "".join(json.dumps(line) + "\n" for line in lines).encode()
    result = ProbeResult(name=probe.name, rc=rc, duration=timedelta(0), output=output)
    return replace(evidence, results={**evidence.results, probe.name: result})


def _names(network: Network, vm: str, peer: str | None, question: Question = QUESTION) -> list[str]:
    theirs = _look(network, peer, question) if peer else None
    return [one.finding for one in judge(_look(network, vm, question), theirs, question).found]


@pytest.mark.parametrize(
    ("fault", "finding"),
    [
        ("resolver-failed", Finding.RESOLVER_FAILED),
        ("resolver-hung", Finding.RESOLVER_HUNG),
        ("upstream-dead", Finding.UPSTREAM_UNREACHABLE),
        ("resolv-conf-overwritten", Finding.RESOLV_CONF_OVERWRITTEN),
        ("search-domain-lost", Finding.SEARCH_DOMAIN_LOST),
    ],
)
def test_a_machines_own_fault_is_seen_without_a_peer(
    network: Network, fault: str, finding: Finding
) -> None:
    """What a machine shows by itself needs nobody to compare with."""
    break_(network, fault, "node-1")

    assert _names(network, "node-1", None) == [finding]


def test_two_faults_are_both_told(network: Network) -> None:
    """A blocked port does not hide behind a dead resolver, and the likelier cause comes first."""
    break_(network, "port-blocked", "node-1")
    break_(network, "resolver-failed", "node-1")

    found = _names(network, "node-1", "node-2")

    assert found == [Finding.RESOLVER_FAILED, Finding.RENDEZVOUS_PORT_BLOCKED]


def test_short_names_alone_need_the_peer_for_a_lost_domain(network: Network) -> None:
    """Where the log has no full name, a peer that searches more is what tells."""
    break_(network, "search-domain-lost", "node-1")
    short = replace(QUESTION, names=(HostName("node-0"),))

    assert _names(network, "node-1", "node-2", short) == [Finding.SEARCH_DOMAIN_LOST]


def test_the_masters_own_name_does_not_hide_a_missing_record(network: Network) -> None:
    """A machine resolves itself without DNS; its peers do not."""
    break_(network, "record-missing", "node-0")

    assert _names(network, "node-0", "node-2") == [Finding.RECORD_MISSING]
    assert _names(network, "node-1", "node-0") == [Finding.RECORD_MISSING]


def test_names_from_a_hosts_file_need_no_record(network: Network) -> None:
    """A fleet that lives by /etc/hosts is healthy, whatever its name servers deny."""
    break_(network, "record-missing", "node-0")
    for machine in network.machines.values():
        machine.hosts_file |= {"node-0": "10.20.1.10", "node-0.fleet.internal": "10.20.1.10"}

    assert _names(network, "node-1", "node-2") == [Finding.HEALTHY_NOW]
    assert _names(network, "node-0", None) == [Finding.HEALTHY_NOW]


def test_a_plain_resolv_conf_that_is_the_fleets_custom_is_no_fault(network: Network) -> None:
    """Where every machine has the same plain file and names resolve, nothing was overwritten."""
    for machine in network.machines.values():
        machine.plain_conf, machine.resolver.active = ["10.20.0.2"], "inactive"
    full = replace(QUESTION, names=(HostName("node-0.fleet.internal"),))

    assert _names(network, "node-1", "node-2", full) == [Finding.HEALTHY_NOW]


def test_dead_servers_of_a_plain_file_are_an_outage_upstream(network: Network) -> None:
    """Without systemd-resolved, its unit is no cause."""
    for machine in network.machines.values():
        machine.plain_conf, machine.resolver.active = ["10.20.0.2"], "inactive"
    network.servers.clear()

    assert _names(network, "node-1", "node-2") == [Finding.UPSTREAM_UNREACHABLE]


def test_an_overwritten_file_past_a_running_resolver_does_no_harm(network: Network) -> None:
    """nss-resolve asks systemd-resolved first: names resolve, so there is nothing to restore."""
    network.named("node-1").plain_conf = ["198.51.100.53"]

    assert _names(network, "node-1", "node-2") == [Finding.HEALTHY_NOW]


def test_one_dead_name_server_of_two_is_no_outage(network: Network) -> None:
    """As long as one answers, upstream is reachable."""
    network.hosts.add("10.20.0.3")
    for machine in network.machines.values():
        machine.resolver.servers.append("10.20.0.3")

    assert _names(network, "node-1", "node-2") == [Finding.HEALTHY_NOW]


def test_a_busy_machine_is_not_hung(network: Network) -> None:
    """A stub that was too slow once is no finding while names come back."""
    late = {"server": "127.0.0.53", "name": "localhost", "answer": "timeout", "ms": 1601}
    evidence = _with(_look(network, "node-1"), probes.STUB, late)

    assert judge(evidence, None, QUESTION).names == {Finding.HEALTHY_NOW}


@pytest.mark.parametrize(("minutes", "counts"), [(5, True), (-30, False), (200, False)])
def test_only_a_watchdog_of_the_failures_time_counts(
    network: Network, minutes: int, *, counts: bool
) -> None:
    """A restart before the failure or long after it explains nothing."""
    start = NOW - timedelta(hours=3)
    at = start + timedelta(minutes=minutes)
    text = "systemd-resolved.service: Watchdog timeout (limit 3min)!"
    network.named("node-1").resolver.journal.append((at, text))
    window = Window(start=start, end=start + timedelta(minutes=30))

    judged = judge(_look(network, "node-1"), None, QUESTION, window=window)

    expected = Finding.RESOLVER_HUNG_THEN_RESTARTED if counts else Finding.HEALTHY_NOW
    assert judged.names == {expected}


CONTAINER = {"pid": 7, "rank": True, "servers": ["10.96.0.10"], "search": ["a.svc.cluster.local"]}
_ANSWER = {"server": "10.96.0.10", "name": "node-0", "records": 0, "ms": 1}


def test_a_container_with_another_resolver_is_told(network: Network) -> None:
    """The machine finds the name, its container's name server does not know it."""
    inside = {**CONTAINER, "lookups": {"node-0": 2}, "answers": [{**_ANSWER, "answer": "NXDOMAIN"}]}
    evidence = _with(_look(network, "node-1"), probes.CONTAINERS, inside)

    judged = judge(evidence, _look(network, "node-2"), QUESTION)

    assert [(one.finding, one.fleet_wide) for one in judged.found] == [
        (Finding.CONTAINER_RESOLVER_DIFFERS, False)
    ]


def test_a_container_whose_name_servers_are_silent_lost_the_clusters_dns(network: Network) -> None:
    """The machine itself is well, so it is the cluster's service that is down."""
    inside = {**CONTAINER, "lookups": {"node-0": 2}, "answers": [{**_ANSWER, "answer": "timeout"}]}
    evidence = _with(_look(network, "node-1"), probes.CONTAINERS, inside)

    judged = judge(evidence, None, QUESTION)

    assert [(one.finding, one.fleet_wide) for one in judged.found] == [
        (Finding.CLUSTER_DNS_DOWN, True)
    ]


def test_a_container_that_resolves_is_no_finding(network: Network) -> None:
    """Another name server is no fault by itself."""
    inside = {**CONTAINER, "lookups": {"node-0": 0}, "answers": [{**_ANSWER, "answer": "NOERROR"}]}
    evidence = _with(_look(network, "node-1"), probes.CONTAINERS, inside)

    assert judge(evidence, None, QUESTION).names == {Finding.HEALTHY_NOW}


def test_the_clusters_own_word_counts(network: Network) -> None:
    """No ready endpoint, a Service that waits, and a DNS pod on a sick machine are told."""
    break_(network, "resolver-failed", "node-1")
    cluster = ClusterDns(
        without_endpoints=True,
        hosts=frozenset({"node-1"}),
        services_not_ready=frozenset({"node-0"}),
    )

    judged = judge(_look(network, "node-1"), _look(network, "node-2"), QUESTION, cluster=cluster)

    assert judged.names == {
        Finding.RESOLVER_FAILED,
        Finding.COREDNS_ON_SICK_NODE,
        Finding.CLUSTER_DNS_DOWN,
        Finding.SERVICE_NOT_READY,
    }


def test_a_dns_pod_on_a_healthy_machine_is_no_finding(network: Network) -> None:
    """Where it runs matters only when its machine cannot resolve."""
    cluster = ClusterDns(hosts=frozenset({"node-1"}))

    judged = judge(_look(network, "node-1"), None, QUESTION, cluster=cluster)

    assert judged.names == {Finding.HEALTHY_NOW}


def test_nothing_asked_is_nothing_found(network: Network) -> None:
    """A machine is not called healthy for names that nobody looked up."""
    judged = judge(_look(network, "node-1", Question()), None, Question())

    assert judged.found == ()
    assert "No name was given" in judged.untold


def test_an_answer_that_breaks_off_is_not_called_healthy(network: Network) -> None:
    """What did not come back is not taken for good."""
    evidence = replace(_look(network, "node-1"), results={})

    judged = judge(evidence, None, QUESTION)

    assert judged.found == ()
    assert judged.untold


@pytest.mark.parametrize("failure", LoginFailure)
def test_a_failed_login_is_judged_whatever_the_peer_says(failure: LoginFailure) -> None:
    """Each way to fail has a finding against a peer that is let in, and rules are not run."""
    vm = Evidence(vm_id="1", name="node-1", at=NOW, failure=failure, detail="It failed.")
    peer = Evidence(vm_id="2", name="node-2", at=NOW)

    judged = judge(vm, peer, QUESTION)

    expected = {
        LoginFailure.SILENT: Finding.HOST_SILENT,
        LoginFailure.HANGS: Finding.LOGIN_HANGS,
        LoginFailure.ACCESS: Finding.NO_ACCESS,
        LoginFailure.ROUTE: Finding.NO_ROUTE,
    }
    assert judged.names == {expected[failure]}
    assert "It failed." in judged.found[0].why


def test_each_finding_from_inside_a_machine_has_one_rule() -> None:
    """The table covers all findings but healthy, and those that stand for a failed login."""
    from_login = {Finding.NO_ROUTE, Finding.NO_ACCESS, Finding.LOGIN_HANGS, Finding.HOST_SILENT}

    assert [finding for finding, _ in RULES] == list(dict(RULES))
    assert set(dict(RULES)) == set(Finding) - from_login - {Finding.HEALTHY_NOW}


def test_a_container_without_a_rank_is_no_concern(network: Network) -> None:
    """A system pod that cannot resolve the job's names says nothing about the job."""
    inside = {**CONTAINER, "rank": False, "lookups": {"node-0": 2}, "answers": []}
    evidence = _with(_look(network, "node-1"), probes.CONTAINERS, inside)

    assert judge(evidence, None, QUESTION).names == {Finding.HEALTHY_NOW}
