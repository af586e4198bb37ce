"""What triage learned becomes facts, and each finding opens the rungs of its row and no other."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from bot.diagnosis.kinds import Cause
from bot.fleet.placement import Known
from bot.hosts.meanings import MEANINGS, meant
from bot.hosts.model import Finding, Judgement, Rung
from bot.recovery.ladder import LADDER, offers
from bot.recovery.triaged import Triaged, facts_from
from bot.schedulers.claims import our_reason
from bot.schedulers.model import Node, NodeFlag

NOW = timedelta(seconds=20)
LONG_AGO = timedelta(minutes=3)
MUTATING = {row.rung for row in LADDER if row.mutates}
NODE = Node(name="node-3", cluster="a", state="IDLE", raw_state="IDLE")

N, R, X, S = Rung.NOTHING, Rung.RESTART_RESOLVER, Rung.RESET, Rung.SUPPORT
START = Rung.START
#: The rungs offered for a finding at first: VM running, in ERROR, stopped, and without a cloud.
OFFERED: dict[Finding, tuple[set[Rung], set[Rung], set[Rung], set[Rung]]] = {
    Finding.RESOLVER_FAILED: ({R}, {S}, {START}, {R}),
    Finding.RESOLVER_HUNG: ({R}, {S}, {START}, {R}),
    Finding.UPSTREAM_UNREACHABLE: ({S}, {S}, {S, START}, {S}),
    Finding.RESOLV_CONF_OVERWRITTEN: ({N}, {N, S}, {N, START}, {N}),
    Finding.SEARCH_DOMAIN_LOST: ({N}, {N, S}, {N, START}, {N}),
    Finding.RECORD_MISSING: ({N}, {N, S}, {N, START}, {N}),
    Finding.RENDEZVOUS_PORT_BLOCKED: ({N}, {N, S}, {N, START}, {N}),
    Finding.RESOLVER_HUNG_THEN_RESTARTED: ({N}, {N, S}, {N, START}, {N}),
    Finding.HEALTHY_NOW: ({N}, {N, S}, {N, START}, {N}),
    Finding.CONTAINER_RESOLVER_DIFFERS: ({N}, {N, S}, {N, START}, {N}),
    Finding.CLUSTER_DNS_DOWN: ({N}, {N, S}, {N, START}, {N}),
    Finding.COREDNS_ON_SICK_NODE: ({N}, {N, S}, {N, START}, {N}),
    Finding.SERVICE_NOT_READY: ({N}, {N, S}, {N, START}, {N}),
    Finding.NO_ROUTE: ({N}, {N, S}, {N, START}, {N}),
    Finding.NO_ACCESS: ({N}, {N, S}, {N, START}, {N}),
    Finding.LOGIN_HANGS: (set(), {S}, {START}, set()),
    Finding.HOST_SILENT: ({X}, {S}, {START}, set()),
}
STATES = ("STATE_RUNNING", "STATE_ERROR", "STATE_SHUTOFF", None)
CASES = [
    (finding, state, rungs)
    for finding, row in OFFERED.items()
    for state, rungs in zip(STATES, row, strict=True)
]


def judged(*findings: Finding, fleet_wide: bool = False) -> Judgement:
    """Return a judgement of these findings, each about the VM or about all."""
    return Judgement(found=tuple(meant(one, "Seen.", fleet_wide=fleet_wide) for one in findings))


def triaged(*findings: Finding, fleet_wide: bool = False) -> Triaged:
    """Return a confirmed job on a known, running VM with these findings."""
    return Triaged(
        vm="node-3",
        state="RUNNING",
        state_age=NOW,
        cause=Cause.RESOLVER_FAILED,
        judgement=judged(*findings, fleet_wide=fleet_wide),
        judgement_age=NOW,
        placement=Known.LAUNCH,
        from_paste_alone=False,
        node=NODE,
    )


def offered(seen: Triaged) -> set[Rung]:
    """Return the rungs that are offered for what was seen."""
    return {rung for rung, offer in offers(facts_from(seen)).items() if offer.offered}


@pytest.mark.parametrize(("finding", "state", "rungs"), CASES)
def test_what_each_finding_opens_in_each_state(
    finding: Finding, state: str | None, rungs: set[Rung]
) -> None:
    """In the cloud's own words for the state, and without a cloud."""
    seen = replace(triaged(finding), state=state, state_age=NOW if state else None)
    if state == "STATE_ERROR":
        assert facts_from(seen).was_in_error

    assert offered(seen) == rungs


def test_the_table_has_every_finding() -> None:
    """A finding without a row here would go untested."""
    assert set(OFFERED) == set(Finding) == set(MEANINGS)


@pytest.mark.parametrize("finding", Finding)
def test_what_a_peer_shows_too_opens_no_repair(finding: Finding) -> None:
    """Support hears of an upstream that fails for all; nothing is done to a VM."""
    support = {S} if finding is Finding.UPSTREAM_UNREACHABLE else set()

    assert offered(triaged(finding, fleet_wide=True)) == {N} | support


def test_a_finding_about_all_does_not_hide_one_about_this_vm() -> None:
    """A port that nobody reaches leaves a failed resolver what it is."""
    both = Judgement(
        found=(
            meant(Finding.RESOLVER_FAILED, "It is failed."),
            meant(Finding.RENDEZVOUS_PORT_BLOCKED, "To a peer neither.", fleet_wide=True),
        )
    )

    assert offered(replace(triaged(), judgement=both)) == {R}


@pytest.mark.parametrize("finding", Finding)
@pytest.mark.parametrize(
    "change",
    [
        {"judgement": None},
        {"judgement_age": None},
        {"judgement_age": LONG_AGO},
        {"state_age": LONG_AGO},
        {"from_paste_alone": True},
        {"placement": Known.GUESS},
        {"progress_since": True},
        {"cause": Cause.HARMLESS_WARNING},
        {"node": replace(NODE, flags=frozenset({NodeFlag.REBOOT}))},
        {"node": replace(NODE, reservation="bench")},
        {"node": replace(NODE, flags=frozenset({NodeFlag.DRAIN}), reason="rma 4711")},
        {"state": "STATE_REBOOTING"},
        {"state": "DELETED"},
    ],
    ids=str,
)
def test_what_keeps_every_finding_from_every_step(
    finding: Finding, change: dict[str, object]
) -> None:
    """Old, unconfirmed, guessed, over, harmless, somebody else's, or between two states."""
    assert not offered(replace(triaged(finding), **change)) & MUTATING  # type: ignore[arg-type]


def test_what_nobody_was_asked_about_opens_nothing() -> None:
    """The defaults are the careful ones."""
    seen = Triaged(vm="node-3", judgement=judged(Finding.RESOLVER_FAILED), judgement_age=NOW)

    assert not offered(seen)


def test_somebody_elses_drain_is_quoted() -> None:
    """Whoever drained the node finds their own words in the refusal."""
    node = replace(NODE, flags=frozenset({NodeFlag.DRAIN}), reason="rma 4711", reason_by="kim")
    facts = facts_from(replace(triaged(Finding.RESOLVER_FAILED), node=node))

    assert not facts.drained_by_us
    assert '"rma 4711" by kim' in " ".join(offers(facts)[R].why)


def test_our_own_drain_stands_in_nobodys_way() -> None:
    """What we drained may be mended, and is not drained twice."""
    ours = replace(NODE, flags=frozenset({NodeFlag.DRAIN}), reason=our_reason("resolver", NODE))
    facts = facts_from(replace(triaged(Finding.HOST_SILENT), node=ours))
    offer = offers(facts)[X]

    assert facts.drained_by_us
    assert offer.offered
    assert len(offer.before) == 1


def test_while_the_job_waits_the_restart_counts_down() -> None:
    """Saving this run comes first."""
    seen = replace(triaged(Finding.RESOLVER_FAILED), job_waits=True)

    assert offers(facts_from(seen))[R].countdown
