"""Prove that each fault of the simulated fleet is told from the others, by every way to it."""

from __future__ import annotations

import pytest

from bot.hosts import probes
from bot.hosts.model import Finding, Rung
from bot.hosts.probes import Question
from bot.hosts.words import sift
from playground.fleet.faults import FAULTS, break_, heal
from tests.behaviour.hosts.fleet import Fleet

pytestmark = pytest.mark.anyio

#: fault → whom it hits, what is found there, and whether it names no machine
TOLD = {
    "resolver-failed": ("node-1", Finding.RESOLVER_FAILED, False),
    "resolver-hung": ("node-1", Finding.RESOLVER_HUNG, False),
    "resolver-hung-then-restarted": ("node-1", Finding.RESOLVER_HUNG_THEN_RESTARTED, False),
    "upstream-dead": ("node-1", Finding.UPSTREAM_UNREACHABLE, True),
    "resolv-conf-overwritten": ("node-1", Finding.RESOLV_CONF_OVERWRITTEN, False),
    "search-domain-lost": ("node-1", Finding.SEARCH_DOMAIN_LOST, False),
    "record-missing": ("node-0", Finding.RECORD_MISSING, True),
    "port-blocked": ("node-1", Finding.RENDEZVOUS_PORT_BLOCKED, False),
    "host-silent": ("node-1", Finding.HOST_SILENT, False),
    "login-hangs": ("node-1", Finding.LOGIN_HANGS, False),
}


def test_every_fault_has_its_row() -> None:
    """A fault that is added without a row here would go untested."""
    assert set(TOLD) == set(FAULTS)
    assert len({finding for _, finding, _ in TOLD.values()}) == len(TOLD)


@pytest.mark.parametrize("fault", sorted(TOLD))
async def test_a_fault_is_found_and_nothing_else(fleet: Fleet, fault: str) -> None:
    """Exactly the one finding comes back, and it names a machine only where it should."""
    hit, finding, wide = TOLD[fault]
    break_(fleet.network, fault, hit)

    judged = await fleet.judge("node-1", "node-2")

    assert [one.finding for one in judged.found] == [finding]
    assert judged.found[0].fleet_wide is wide
    assert judged.found[0].why


@pytest.mark.parametrize("fault", sorted(TOLD))
async def test_a_healed_fleet_is_healthy(fleet: Fleet, fault: str) -> None:
    """After the repair the same question finds nothing but what the journal still tells."""
    break_(fleet.network, fault, TOLD[fault][0])
    heal(fleet.network)

    judged = await fleet.judge("node-1", "node-2")

    watchdog = fault == "resolver-hung-then-restarted"
    assert judged.names == {
        Finding.RESOLVER_HUNG_THEN_RESTARTED if watchdog else Finding.HEALTHY_NOW
    }


@pytest.mark.parametrize(
    "fault", ["resolver-failed", "resolver-hung", "search-domain-lost", "port-blocked"]
)
async def test_a_healthy_machine_is_not_blamed_for_its_peer(fleet: Fleet, fault: str) -> None:
    """The fault of one machine is no finding on another, even when that one is the peer."""
    break_(fleet.network, fault, "node-1")

    assert (await fleet.judge("node-2", "node-1")).names == {Finding.HEALTHY_NOW}


async def test_a_fault_of_both_names_no_machine(fleet: Fleet) -> None:
    """When the peer fails the same way, restarting this machine is nobody's conclusion."""
    for name in ("node-1", "node-2"):
        break_(fleet.network, "search-domain-lost", name)
    for name in ("node-1", "node-2"):
        break_(fleet.network, "resolver-hung", name)

    judged = await fleet.judge("node-1", "node-2")

    assert [(one.finding, one.fleet_wide) for one in judged.found] == [
        (Finding.RESOLVER_HUNG, True)
    ]


async def test_silence_without_a_peer_means_nothing(fleet: Fleet) -> None:
    """Unreachable is no finding before somebody else was reached by the same way."""
    break_(fleet.network, "host-silent", "node-1")

    judged = await fleet.judge("node-1", None)

    assert judged.found == ()
    assert "proves nothing" in judged.untold


async def test_silence_of_a_peer_as_well_is_the_way_there(fleet: Fleet) -> None:
    """Two machines that are silent at once blame the route, so no reset can help."""
    for name in ("node-1", "node-2"):
        break_(fleet.network, "host-silent", name)

    judged = await fleet.judge("node-1", "node-2")

    assert judged.names == {Finding.NO_ROUTE}
    assert judged.found[0].fleet_wide
    assert Rung.RESET in judged.found[0].cannot


async def test_another_machine_at_the_address_is_believed_nothing(fleet: Fleet) -> None:
    """A wrong UUID ends the probe: no answer is kept and the finding is our own settings'."""
    target = fleet.target("node-1")
    fleet.network.named("node-1").product_uuid = "00000000-0000-4000-8000-000000000000"

    evidence = await fleet.hosts.probe(target, fleet.question())

    assert evidence.results == {}
    assert "is not node-1" in evidence.detail
    assert evidence.failure == "access"


async def test_a_preflight_asks_for_names_and_no_more(fleet: Fleet) -> None:
    """Every machine's name is looked up from one machine in one round trip, in bounded output."""
    kept, _ = sift(
        name
        for machine in fleet.network.machines.values()
        for name in (machine.name, f"{machine.name}.{fleet.network.domain}")
    )

    evidence = await fleet.hosts.probe(
        fleet.target("node-1"), Question(names=kept), probes.PREFLIGHT
    )

    assert set(evidence.results) == {probe.name for probe in probes.PREFLIGHT}
    found = evidence.read(probes.LOOKUPS)
    assert found is not None
    assert [name for name in kept if not found.by_name[name].ok] == []
