"""Prove parsers, findings and the simulated fleet on what real machines answered."""

from __future__ import annotations

import uuid
from collections.abc import Mapping

import pytest

from bot.hosts import probes
from bot.hosts.evidence import evidence
from bot.hosts.findings import judge
from bot.hosts.model import Evidence, Finding
from bot.hosts.readings import DnsAnswer
from bot.hosts.wire import Answers, line
from playground.fleet.answers import answer
from playground.fleet.faults import break_
from playground.fleet.machine import Machine, Network, Resolver
from tests.unit.hosts import recorded

#: fault → finding on node-1, and whether it names no machine
TOLD = {
    "healthy": (Finding.HEALTHY_NOW, False),
    "resolver-failed": (Finding.RESOLVER_FAILED, False),
    "resolver-hung": (Finding.RESOLVER_HUNG, False),
    "resolver-hung-then-restarted": (Finding.RESOLVER_HUNG_THEN_RESTARTED, False),
    "resolv-conf-overwritten": (Finding.RESOLV_CONF_OVERWRITTEN, False),
    "search-domain-lost": (Finding.SEARCH_DOMAIN_LOST, False),
    "port-blocked": (Finding.RENDEZVOUS_PORT_BLOCKED, False),
    "upstream-dead": (Finding.UPSTREAM_UNREACHABLE, True),
    # no systemd-resolved, a plain resolv.conf on every machine
    "upstream-dead-past-resolver": (Finding.UPSTREAM_UNREACHABLE, True),
    "record-missing": (Finding.RECORD_MISSING, True),
}


def _simulated(fault: str, machine: str) -> Evidence:
    """Return what the simulated machine in the real one's place answers."""
    network = Network(domain=recorded.DOMAIN, servers={recorded.SERVER}, hosts={recorded.SERVER})
    for number in range(4):
        name = f"node-{number}"
        network.add(
            Machine(
                name=name,
                address=recorded.address(name),
                product_uuid=str(uuid.uuid4()),
                resolver=Resolver(servers=[recorded.SERVER], search=[recorded.DOMAIN]),
                hosts_file={},
            )
        )
    if fault == "upstream-dead-past-resolver":
        for each in network.machines.values():
            each.plain_conf, each.plain_search = [recorded.SERVER], [recorded.DOMAIN]
            each.resolver.active = "inactive"
        network.servers.clear()
    elif fault != "healthy":
        break_(network, fault, "node-0" if fault == "record-missing" else "node-1")
    broken = network.named("node-1")
    if fault == "resolv-conf-overwritten":
        broken.plain_conf = ["8.8.8.8"]
    where = recorded.target(machine)
    rows = probes.rows(recorded.QUESTION, where.proof_kind, where.proof)
    answers = Answers(rows)
    for one in answer(network.named(machine), network, rows):
        answers.feed(line(one))
    return evidence(where, recorded.recorded(fault, machine).at, answers)


def _seen(found: Evidence, *, upstream_dead: bool) -> Mapping[str, object]:
    """Return what matters of a machine's answers, without numbers that differ from run to run."""
    unit = found.read(probes.UNIT)
    conf, uplink = found.read(probes.RESOLV_CONF), found.read(probes.UPLINK_CONF)
    lookups = found.read(probes.LOOKUPS)
    connect = found.read(probes.RENDEZVOUS)
    assert unit
    assert conf
    assert uplink
    assert lookups
    assert connect
    # A server that is gone refuses some queries and drops others (ICMP is rate-limited), and now
    # and then a look-up outlives its probe.
    answers = found.read(probes.UPLINKS) or ()
    processes = found.read(probes.RESOLVER_PROCESS) or ()
    names = set() if upstream_dead else set(lookups.by_name)
    return {
        "unit": (unit.active, unit.sub, unit.result, unit.exit_status, unit.runs),
        "states": {one.state.replace("R", "S") for one in processes},
        "conf": (conf.target, conf.servers, conf.search),
        "uplink": (uplink.servers, uplink.search),
        "nss": found.read(probes.NSSWITCH),
        "names": names,
        "codes": {one.code for one in lookups.by_name.values()},
        "found": {one.name: one.addresses for one in lookups.by_name.values() if one.ok},
        "late": lookups.timed_out and not upstream_dead,
        "stub": {one.answer for one in found.read(probes.STUB) or ()},
        "uplinks": {(one.name, one.reached or (one.answer and None)) for one in answers}
        if upstream_dead
        else set(map(_brief, answers)),
        "direct": {(one.server, one.name) for one in found.read(probes.DIRECT) or ()},
        "rendezvous": connect.outcome,
        "resolvectl": [found.results[one.name].rc for one in probes.RESOLVECTL],
    }


def _brief(one: DnsAnswer) -> tuple[str, str, str, int]:
    return one.server, one.name, one.answer, min(one.records, 1)


def test_every_recording_has_its_row() -> None:
    """A recording without a row here would go unread."""
    assert recorded.names() == sorted(TOLD)


@pytest.mark.parametrize("fault", sorted(TOLD))
def test_a_real_fault_is_told_from_the_others(fault: str) -> None:
    """The real machines' answers come to exactly the one finding."""
    peer = recorded.recorded(fault, "node-2")

    judged = judge(recorded.recorded(fault, "node-1"), peer, recorded.QUESTION)

    assert [(one.finding, one.fleet_wide) for one in judged.found] == [TOLD[fault]]


@pytest.mark.parametrize("machine", recorded.machines("healthy"))
def test_each_healthy_machine_is_healthy(machine: str) -> None:
    """All four answer, each with its own boot id and uptime, and nothing is found on any."""
    found = recorded.recorded("healthy", machine)

    assert judge(found, None, recorded.QUESTION).names == {Finding.HEALTHY_NOW}
    assert found.read(probes.BOOT_ID)
    assert found.read(probes.UPTIME)
    assert found.read(probes.MOUNTS)
    assert found.read(probes.DISK)


@pytest.mark.parametrize(
    ("fault", "machine"),
    [(fault, machine) for fault in sorted(TOLD) for machine in recorded.machines(fault)],
)
def test_the_simulated_machine_answers_as_the_real_one_did(fault: str, machine: str) -> None:
    """Recording and model agree in everything that a rule looks at."""
    dead = fault.startswith("upstream-dead")

    real = _seen(recorded.recorded(fault, machine), upstream_dead=dead)
    model = _seen(_simulated(fault, machine), upstream_dead=dead)

    assert model == real
