"""Each rung is offered when the ladder's table says so, and never otherwise."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from bot.diagnosis.kinds import Cause
from bot.fleet.placement import Known
from bot.hosts.meanings import MEANINGS
from bot.hosts.model import Finding, Rung
from bot.recovery.facts import DataStatus, Facts, Tried
from bot.recovery.ladder import LADDER, Offer, askable, offers, why_no_restart

NOW = timedelta(seconds=20)
LONG_AGO = timedelta(minutes=10)
FAILED = {Rung.RESTART_RESOLVER: Tried.FAILED}
#: A resolver that has failed on a known VM of a confirmed job, nothing tried yet.
SICK = Facts(
    vm="node-3",
    state="RUNNING",
    state_age=NOW,
    cause=Cause.RESOLVER_FAILED,
    findings=frozenset({Finding.RESOLVER_FAILED}),
    findings_age=NOW,
    peer_answers=True,
    placement=Known.LAUNCH,
    from_paste_alone=False,
    data=DataStatus.BACKED_UP,
)
SILENT = replace(SICK, findings=frozenset({Finding.HOST_SILENT}))
HANGING = replace(SICK, findings=frozenset({Finding.LOGIN_HANGS}))
MUTATING = [row.rung for row in LADDER if row.mutates]
REPAIRS = [Rung.RESTART_RESOLVER, Rung.REBOOT, Rung.RESET, Rung.STOP_START]
#: Facts under which each of the four repairs is offered.
OPEN = {
    Rung.RESTART_RESOLVER: SICK,
    Rung.REBOOT: replace(SICK, tried=FAILED),
    Rung.RESET: SILENT,
    Rung.STOP_START: replace(SICK, asked_for={Rung.STOP_START: "new host wanted"}),
}


def of(facts: Facts, rung: Rung) -> Offer:
    """Return what is said about one rung."""
    return offers(facts)[rung]


def offered(facts: Facts) -> set[Rung]:
    """Return the rungs that are offered."""
    return {rung for rung, offer in offers(facts).items() if offer.offered}


def test_the_rungs_come_in_order() -> None:
    """Zero to five, then the two calls beside the ladder; each says what it does and loses."""
    answered = list(offers(SICK).values())

    assert [offer.number for offer in answered] == [0, 1, 2, 3, 4, 5, None, None]
    assert all(offer.what and offer.loses and offer.why for offer in answered)


@pytest.mark.parametrize("rung", REPAIRS)
def test_each_repair_can_be_offered(rung: Rung) -> None:
    """The other tests take something away from facts under which a rung is open."""
    assert of(OPEN[rung], rung).offered


@pytest.mark.parametrize(
    "cause",
    [
        Cause.HARMLESS_WARNING,
        Cause.NAME_NOT_FOUND,
        Cause.PORT_IN_USE,
        Cause.PEER_NOT_LISTENING,
        Cause.PROCESS_FAILED_FIRST,
    ],
)
def test_nothing_is_done_about_a_harmless_name_port_or_process_cause(cause: Cause) -> None:
    """Rung 0 is the answer to what no VM is to blame for."""
    facts = replace(SICK, cause=cause, findings=frozenset())

    assert offered(facts) == {Rung.NOTHING}


@pytest.mark.parametrize("finding", [Finding.RESOLVER_FAILED, Finding.RESOLVER_HUNG])
def test_the_resolver_is_restarted_when_a_probe_says_failed_or_hung(finding: Finding) -> None:
    """Rung 1 alone is open at first."""
    assert offered(replace(SICK, findings=frozenset({finding}))) == {Rung.RESTART_RESOLVER}


def test_a_log_alone_restarts_nothing() -> None:
    """Without a probe, even a certain-looking log opens no rung."""
    facts = replace(SICK, findings=frozenset())

    assert not offered(facts)
    assert "No probe has found anything" in of(facts, Rung.RESTART_RESOLVER).why[0]


def test_restarting_the_resolver_loses_nothing() -> None:
    """It also names what a person hopes for: the job goes on by itself."""
    offer = of(SICK, Rung.RESTART_RESOLVER)

    assert offer.loses.startswith("nothing; a job that still waits")
    assert not offer.before


def test_while_the_job_waits_the_first_rung_counts_down() -> None:
    """Saving this run comes first."""
    assert of(replace(SICK, job_waits=True), Rung.RESTART_RESOLVER).countdown
    assert not of(SICK, Rung.RESTART_RESOLVER).countdown
    assert not of(replace(SICK, job_waits=True, held="rma"), Rung.RESTART_RESOLVER).countdown


@pytest.mark.parametrize("outcome", [Tried.FAILED, Tried.IMPOSSIBLE])
def test_a_reboot_follows_a_restart_that_failed_or_was_impossible(outcome: Tried) -> None:
    """Rung 2 opens then, and rung 1 is not offered a second time."""
    facts = replace(SICK, tried={Rung.RESTART_RESOLVER: outcome})

    assert Rung.REBOOT in offered(facts)
    assert Rung.RESTART_RESOLVER not in offered(facts)


def test_a_reboot_does_not_come_first() -> None:
    """Whoever sees the refusal reads what to do instead."""
    assert "comes first" in of(SICK, Rung.REBOOT).why[0]
    assert Rung.REBOOT not in offered(replace(SICK, tried={Rung.RESTART_RESOLVER: Tried.WORKED}))


def test_a_rung_that_failed_is_repeated_only_when_asked_for() -> None:
    """A person may want it again; the bot does not."""
    again = replace(SICK, tried=FAILED, asked_for={Rung.RESTART_RESOLVER: "unit file was mended"})

    assert of(again, Rung.RESTART_RESOLVER).offered


def test_a_reset_is_for_a_silent_host_only() -> None:
    """No failed restart and no wish opens rung 3 on a VM that answers."""
    tried = replace(SICK, tried=FAILED, asked_for={Rung.RESET: "please"})

    assert Rung.RESET in offered(SILENT)
    assert Rung.RESET not in offered(tried)


def test_silence_must_be_proven_against_a_peer() -> None:
    """A VM that we cannot reach may be our fault."""
    facts = replace(SILENT, peer_answers=False)

    assert not offered(facts)
    assert "until a peer has answered" in of(facts, Rung.RESET).why[0]


def test_a_hanging_login_needs_an_explicit_choice() -> None:
    """It may still be flushing data."""
    assert Rung.RESET not in offered(HANGING)
    assert Rung.RESET in offered(replace(HANGING, asked_for={Rung.RESET: "hung for an hour"}))


@pytest.mark.parametrize("facts", [SILENT, HANGING])
def test_inside_a_vm_without_a_login_nothing_is_offered(facts: Facts) -> None:
    """Rungs 1 and 2 work over SSH, whatever else was found."""
    facts = replace(facts, findings=facts.findings | {Finding.RESOLVER_FAILED}, tried=FAILED)

    assert not offered(facts) & {Rung.RESTART_RESOLVER, Rung.REBOOT}
    assert "no way into the VM" in " ".join(of(facts, Rung.REBOOT).why)


def test_stop_and_start_comes_when_the_lesser_rungs_have_failed() -> None:
    """One that failed and none that is open: then rung 4."""
    first = replace(SICK, tried=FAILED)
    both = replace(SICK, tried={**FAILED, Rung.REBOOT: Tried.FAILED})
    silent = replace(SILENT, tried={Rung.RESET: Tried.FAILED})

    assert Rung.STOP_START not in offered(SICK)
    assert "lesser step is still open" in of(first, Rung.STOP_START).why[0]
    assert Rung.STOP_START in offered(both)
    assert Rung.STOP_START in offered(silent)


def test_stop_and_start_can_be_asked_for_with_a_reason() -> None:
    """The recorded reason stands in for a finding; without one the wish does not count."""
    asked = replace(SICK, findings=frozenset(), asked_for={Rung.STOP_START: "moves to a new host"})
    mute = replace(asked, asked_for={Rung.STOP_START: ""})

    assert of(asked, Rung.STOP_START).offered
    assert of(asked, Rung.STOP_START).why == ("Asked for: moves to a new host",)
    assert not of(mute, Rung.STOP_START).offered


@pytest.mark.parametrize(
    ("data", "may"),
    [
        (DataStatus.BACKED_UP, True),
        (DataStatus.NOTHING_TO_KEEP, True),
        (DataStatus.AT_RISK, False),
        (DataStatus.UNKNOWN, False),
    ],
)
def test_stop_and_start_needs_a_word_about_the_data(data: DataStatus, *, may: bool) -> None:
    """A verified backup, or a person's "nothing to keep", even when it was asked for."""
    offer = of(replace(OPEN[Rung.STOP_START], data=data), Rung.STOP_START)

    assert offer.offered is may
    assert may or "back it up" in offer.why[0]


@pytest.mark.parametrize(
    "facts",
    [
        replace(SICK, state="ERROR"),
        replace(SICK, findings=frozenset({Finding.UPSTREAM_UNREACHABLE})),
        replace(SICK, host_level=True),
        replace(SICK, tried={Rung.STOP_START: Tried.FAILED}),
    ],
)
def test_support_is_for_what_is_beyond_us(facts: Facts) -> None:
    """ERROR, a cause upstream or in the host, or a rung 4 that failed."""
    assert Rung.SUPPORT in offered(facts)


def test_support_is_not_for_what_can_be_mended_here() -> None:
    """A ticket for a failed resolver wastes a day."""
    assert Rung.SUPPORT not in offered(SICK)


OUTSIDE_REPAIR = [
    finding
    for finding, meaning in MEANINGS.items()
    if meaning.helps in ({Rung.NOTHING}, {Rung.SUPPORT})
]


@pytest.mark.parametrize("finding", OUTSIDE_REPAIR)
def test_no_restart_against_what_no_restart_helps(finding: Finding) -> None:
    """Missing records, blocked ports, containers, cluster DNS, routes and keys: advice instead."""
    facts = replace(SICK, findings=frozenset({finding}), tried=FAILED)

    assert not offered(facts) & set(REPAIRS)
    assert why_no_restart(facts)[0] == MEANINGS[finding].advice


def test_every_finding_has_its_meaning() -> None:
    """A finding without a row would offer nothing and say nothing."""
    assert set(MEANINGS) == set(Finding)
    assert len(OUTSIDE_REPAIR) == len(Finding) - 4


def test_what_a_peer_shows_too_is_no_vms_fault() -> None:
    """A fleet-wide finding names no VM, so nothing is restarted."""
    facts = replace(SICK, fleet_wide=SICK.findings)

    assert offered(facts) == {Rung.NOTHING}
    assert "A peer fails the same way" in " ".join(why_no_restart(facts))


@pytest.mark.parametrize("rung", REPAIRS)
@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"from_paste_alone": True}, "Only pasted text"),
        ({"placement": Known.GUESS}, "is a guess"),
        ({"progress_since": True}, "has gone on"),
        ({"untouchable": "node-3 is on the protected list."}, "protected list"),
        ({"held": "rma 4711 by ops"}, "“rma 4711 by ops”"),
        ({"cause": Cause.HARMLESS_WARNING}, "did no harm"),
        ({"state": "ERROR"}, "is in ERROR"),
        ({"state": "RESTARTING"}, "RESTARTING"),
    ],
)
def test_what_stops_every_repair(rung: Rung, change: dict[str, object], why: str) -> None:
    """A paste, a guess, progress, protection, another's drain, no harm, ERROR, a state between."""
    offer = of(replace(OPEN[rung], **change), rung)  # type: ignore[arg-type]

    assert not offer.offered
    assert why in " ".join(offer.why)


def test_a_person_may_pick_the_vm_that_the_bot_only_guesses() -> None:
    """A guess is never acted on, a person's choice is."""
    facts = replace(SICK, placement=Known.GUESS, picked_by="dana")

    assert of(facts, Rung.RESTART_RESOLVER).offered


@pytest.mark.parametrize("rung", [Rung.RESTART_RESOLVER, Rung.REBOOT, Rung.RESET])
@pytest.mark.parametrize("age", [None, LONG_AGO])
def test_an_old_finding_opens_nothing(rung: Rung, age: timedelta | None) -> None:
    """The reading must be under two minutes old."""
    offer = of(replace(OPEN[rung], findings_age=age), rung)

    assert offer.why == ("The last probe is too old; probe again first.",)


def test_stop_and_start_rests_on_a_new_finding_or_on_who_asked() -> None:
    """Failed lesser rungs alone do not: the VM may have mended itself since."""
    failed = {Rung.RESTART_RESOLVER: Tried.FAILED, Rung.REBOOT: Tried.FAILED}
    old = replace(SICK, tried=failed, findings_age=LONG_AGO)

    assert of(old, Rung.STOP_START).why == ("The last probe is too old; probe again first.",)
    assert of(replace(old, asked_for={Rung.STOP_START: "rack move"}), Rung.STOP_START).offered


@pytest.mark.parametrize("rung", REPAIRS)
@pytest.mark.parametrize("age", [None, LONG_AGO])
def test_an_old_state_opens_nothing(rung: Rung, age: timedelta | None) -> None:
    """The VM may be in ERROR by now; a recorded reason replaces the finding, not this look."""
    offer = of(replace(OPEN[rung], state_age=age), rung)

    assert offer.why == ("The VM's state was read too long ago; read it again first.",)


@pytest.mark.parametrize("rung", [Rung.REBOOT, Rung.RESET, Rung.STOP_START])
def test_nobody_elses_work_is_ended(rung: Rung) -> None:
    """Another job or a person's process stops rungs 2 to 4 until somebody names it."""
    others = frozenset({"kim: job 991", "lee: jupyter"})
    there = replace(OPEN[rung], others=others)
    one_named = replace(there, others_accepted=frozenset({"kim: job 991"}))

    assert "kim: job 991, lee: jupyter" in of(there, rung).why[0]
    assert "kim" not in of(one_named, rung).why[0]
    assert of(replace(there, others_accepted=others), rung).offered
    assert of(replace(SICK, others=others), Rung.RESTART_RESOLVER).offered


@pytest.mark.parametrize("rung", [Rung.REBOOT, Rung.RESET, Rung.STOP_START])
def test_losses_are_shown_and_the_node_is_drained_first(rung: Rung) -> None:
    """The table of what will not come back, then the drain unless it is already ours."""
    offer = of(OPEN[rung], rung)
    drained = of(replace(OPEN[rung], drained_by_us=True), rung)

    assert offer.loses in offer.before[0]
    assert "prior state" in offer.before[1]
    assert len(drained.before) == 1


def test_without_a_cloud_the_guest_can_still_be_mended() -> None:
    """Cloud `none` leaves rungs 1 and 2, and says why not 3 and 4."""
    facts = replace(SICK, state=None, state_age=None, tried=FAILED)

    assert offered(facts) == {Rung.REBOOT}
    assert "No cloud is configured" in " ".join(of(replace(SILENT, state=None), Rung.RESET).why)


def test_why_no_restart_is_empty_where_one_is_offered() -> None:
    """The question is only asked on cards without a restart."""
    assert why_no_restart(SICK) == ()


def test_a_harmless_card_answers_why_no_restart() -> None:
    """Even with a sick resolver and a wish, a healthy job is not destroyed."""
    facts = replace(
        OPEN[Rung.STOP_START], cause=Cause.HARMLESS_WARNING, findings=SICK.findings, tried=FAILED
    )

    assert not offered(facts) & set(REPAIRS)
    assert any("destroy a healthy job" in reason for reason in why_no_restart(facts))


def test_a_person_may_ask_for_what_is_not_offered_and_nothing_else() -> None:
    """A reason opens a stop whose data may go, a reset of a hanging login, and a second try."""
    assert askable(SICK) == {Rung.STOP_START}
    assert askable(replace(SICK, data=DataStatus.AT_RISK)) == frozenset()
    assert Rung.RESET in askable(HANGING)
    assert askable(replace(SICK, tried=FAILED)) >= {Rung.RESTART_RESOLVER, Rung.STOP_START}
    assert askable(replace(SICK, state="STATE_ERROR")) == frozenset()
    assert askable(replace(SICK, untouchable="It is protected.")) == frozenset()
    for rung, facts in OPEN.items():
        assert rung not in askable(facts)
