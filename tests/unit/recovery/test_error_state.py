"""A VM in ERROR is left to support, and so is its return."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from bot.diagnosis.kinds import Cause
from bot.fleet.placement import Known
from bot.hosts.model import Finding, Rung
from bot.recovery.facts import DataStatus, Facts, Limits, Tried
from bot.recovery.ladder import offers

NOW = timedelta(seconds=20)
AT = datetime(2030, 1, 2, 3, 4, tzinfo=UTC)
#: Everything that would open every rung, but for the state.
ERROR = Facts(
    vm="node-3",
    state="ERROR",
    state_age=NOW,
    cause=Cause.RESOLVER_FAILED,
    findings=frozenset({Finding.RESOLVER_FAILED}),
    findings_age=NOW,
    peer_answers=True,
    placement=Known.LOG,
    from_paste_alone=False,
    tried={Rung.RESTART_RESOLVER: Tried.FAILED},
    asked_for=dict.fromkeys(Rung, "I know what I do"),
    data=DataStatus.NOTHING_TO_KEEP,
    ticket="SUP-1",
    typed_name="node-3",
)
STOPPED = replace(
    ERROR,
    state="SHUTOFF",
    was_in_error=True,
    reads_outside_error=(AT, AT + timedelta(minutes=1)),
    support_confirmed=True,
)


def offered(facts: Facts) -> set[Rung]:
    """Return the rungs that are offered."""
    return {rung for rung, offer in offers(facts).items() if offer.offered}


@pytest.mark.parametrize("state", ["ERROR", "CRASHED"])
@pytest.mark.parametrize(
    "findings", [{Finding.RESOLVER_FAILED}, {Finding.HOST_SILENT}, {Finding.LOGIN_HANGS}, set()]
)
def test_in_error_only_stop_for_support_and_the_ticket(state: str, findings: set[Finding]) -> None:
    """No finding and no wish opens anything else."""
    facts = replace(ERROR, state=state, findings=frozenset(findings))

    assert offered(facts) == {Rung.SUPPORT, Rung.STOP_FOR_SUPPORT}


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"ticket": ""}, "support ticket"),
        ({"data": DataStatus.UNKNOWN}, "is unknown"),
        ({"data": DataStatus.AT_RISK}, "is at risk"),
        ({"typed_name": "node-2"}, "Type the VM's name, node-3"),
        ({"typed_name": ""}, "Type the VM's name, node-3"),
        ({"state_age": timedelta(minutes=3)}, "read it again"),
        ({"untouchable": "node-3 is the bot's own VM."}, "own VM"),
        ({"placement": Known.GUESS}, "a person has to pick"),
        ({"others": frozenset({"kim: job 991"})}, "kim: job 991"),
    ],
)
def test_what_stop_for_support_asks_for(change: dict[str, object], why: str) -> None:
    """The ticket, a decision about the data and the typed name, at the last moment."""
    offer = offers(replace(ERROR, **change))[Rung.STOP_FOR_SUPPORT]  # type: ignore[arg-type]

    assert not offer.offered
    assert why in " ".join(offer.why)


def test_stop_for_support_is_for_error_alone() -> None:
    """A running VM is stopped by rung 4, with all that rung asks for."""
    assert Rung.STOP_FOR_SUPPORT not in offered(replace(ERROR, state="RUNNING"))


def test_what_is_stopped_may_be_started() -> None:
    """Without ERROR in its past a fresh look at the state is enough."""
    facts = Facts(vm="node-3", state="STOPPED", state_age=NOW, from_paste_alone=False)

    assert offered(facts) == {Rung.START}
    assert not offered(replace(facts, state_age=None))
    assert Rung.START not in offered(replace(facts, state="RUNNING"))
    assert not offered(replace(facts, held="rma"))
    assert not offered(replace(facts, from_paste_alone=True))


def test_after_error_a_start_needs_two_reads_and_a_word() -> None:
    """Support's confirmation, or an approver's decision to go on without."""
    assert Rung.START in offered(STOPPED)
    assert Rung.START in offered(replace(STOPPED, support_confirmed=False, proceed_without=True))
    assert Rung.START not in offered(replace(STOPPED, support_confirmed=False))


@pytest.mark.parametrize("reads", [(), (AT,), (AT, AT + timedelta(seconds=59)), (AT, AT, AT)])
def test_reads_too_close_together_count_as_one(reads: tuple[datetime, ...]) -> None:
    """States flicker: the two reads are a minute apart."""
    offer = offers(replace(STOPPED, reads_outside_error=reads))[Rung.START]

    assert not offer.offered
    assert "60 s apart" in offer.why[0]


def test_the_waits_are_settings() -> None:
    """A site may ask for more time between the reads."""
    slow = Limits(error_reads=timedelta(minutes=5))

    assert not offers(STOPPED, slow)[Rung.START].offered
    assert offers(STOPPED)[Rung.START].offered


def test_the_recovery_is_not_acted_on() -> None:
    """A VM that runs again after ERROR gets no step for that."""
    back = replace(STOPPED, state="RUNNING", findings=frozenset(), tried={}, asked_for={})

    assert offered(back) == set()
