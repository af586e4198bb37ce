"""The policy's table: people × acts × steps × states × channels × scope, and each of its rules."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import product

import pytest

from bot.incidents.approval import ApprovalState
from bot.recovery.hours import Hours
from bot.recovery.policy import Act, Ground, Matter, Person, Policy, ruling
from bot.recovery.steps.table import STEPS

AT = datetime(2030, 1, 2, 12, 0, tzinfo=UTC)  # a Wednesday
HOME, ELSEWHERE = "C0HOME", "C0OTHER"
GROUP, OTHERS, ON_CALL = "S0APPROVER", "S0RESET", "S0ONCALL"
PEOPLE = {
    "engineer": Person(user="U0ENGINEER"),
    "approver": Person(user="U0GRACE", groups=frozenset({GROUP})),
    "by name": Person(user="U0LINUS"),
    "of another group": Person(user="U0OTHER", groups=frozenset({"S0WHATEVER"})),
    "guest": Person(user="U0GUEST", groups=frozenset({GROUP}), refused="You are a guest."),
}
POLICY = Policy(approvers=frozenset({GROUP, "U0LINUS"}))
MAY_DECIDE = {"approver", "by name"}
STATES = (None, *ApprovalState)
TOUCHED = ("", "node-8 is on the list of protected machines.", "node-8 is of no cluster.")
#: Acts that can lead to something being changed.
MOVING = (Act.APPROVE, Act.BREAK_GLASS)


def matter(**told: object) -> Matter:
    """Return an open question about a reset, asked where its report is."""
    asked = Matter(
        steps=("reset",), vm="node-8", state=ApprovalState.OPEN, proposed_by="U0ENGINEER",
        home=HOME, channel=HOME, incident_here=True,
    )  # fmt: skip
    return replace(asked, **told)  # type: ignore[arg-type]


CASES = list(
    product(PEOPLE, Act, [*STEPS, None], STATES, (HOME, ELSEWHERE, ""), TOUCHED, (True, False))
)


def test_nobody_not_allowed_moves_anything() -> None:
    """Of all combinations those that move something are the ones that are meant, and no other."""
    policy = replace(POLICY, break_glass=True)
    seen = set()
    for who, act, step, state, channel, untouchable, opened in CASES:
        about = matter(
            steps=(step,) if step else (), state=state, channel=channel, untouchable=untouchable,
            incident_open=opened, incident_here=channel == HOME,
            typed_vm="node-8", reason="nobody else is awake",
        )  # fmt: skip
        found = ruling(policy, act, PEOPLE[who], about, AT)
        meant = (
            who in MAY_DECIDE
            and state is ApprovalState.OPEN
            and channel in {HOME, ""}
            and not untouchable
        )
        if act in MOVING:
            assert found.allowed == meant, (who, act, step, state, channel, untouchable)
        assert found.allowed is not bool(found.why)
        if who == "guest":
            assert found.against is Ground.STRANGER
        if act is Act.PROPOSE and found.allowed:
            assert opened
            assert channel in {HOME, ""}
            assert not untouchable
        if act is Act.RESUME:
            assert found.allowed == (who in MAY_DECIDE)
        if act is Act.PAUSE:
            assert found.allowed == (who != "guest" and (channel == HOME or who in MAY_DECIDE))
        if act in {Act.DECLINE, Act.STOP} and found.allowed:
            assert who in MAY_DECIDE
        seen.add((act, found.allowed))
    # the table is not one of refusals alone
    assert seen == set(product(Act, (True, False)))
    assert len(CASES) > 5_000


def of(policy: Policy, act: Act, who: str, **told: object) -> Ground | None:
    """Return what is against it."""
    return ruling(policy, act, PEOPLE[who], matter(**told), AT).against


def test_a_step_may_have_deciders_of_its_own() -> None:
    """They decide instead of the others, and about a chain only who may decide about all of it."""
    policy = replace(POLICY, of_step={"reset": frozenset({"U0OTHER"})})
    assert of(policy, Act.APPROVE, "approver") is Ground.PERSON
    assert of(policy, Act.APPROVE, "of another group") is None
    assert of(policy, Act.APPROVE, "approver", steps=("reboot",)) is None
    assert of(policy, Act.APPROVE, "of another group", steps=("reboot",)) is Ground.PERSON
    assert of(policy, Act.APPROVE, "of another group", steps=("reboot", "reset")) is Ground.PERSON
    assert policy.deciders(("reset",)) == ("U0OTHER",)
    assert policy.deciders(("reboot",)) == (GROUP, "U0LINUS")


def test_a_step_may_be_bound_to_channels() -> None:
    """It counts where the incident's report is, wherever the click comes from."""
    policy = replace(POLICY, channels={"reset": frozenset({"C0OPS"})})
    for act in (Act.PROPOSE, Act.APPROVE):
        found = ruling(policy, act, PEOPLE["approver"], matter(), AT)
        assert found.against is Ground.CHANNEL
        assert "<#C0OPS>" in found.why
        assert of(policy, act, "approver", home="C0OPS", channel="C0OPS") is None
        assert of(policy, act, "approver", steps=("reboot",)) is None


@pytest.mark.parametrize(
    ("own", "step", "against"),
    [(None, "reset", None), (frozenset(), "reset", Ground.SELF),
     (frozenset({"restart_resolver"}), "reset", Ground.SELF),
     (frozenset({"restart_resolver"}), "restart_resolver", None)],
)  # fmt: skip
def test_whoever_asked(own: frozenset[str] | None, step: str, against: Ground | None) -> None:
    """Whether they may approve themselves is a setting, for all steps or for some."""
    policy = replace(POLICY, own=own)
    assert of(policy, Act.APPROVE, "approver", proposed_by="U0GRACE", steps=(step,)) is against
    assert of(policy, Act.APPROVE, "by name", proposed_by="U0GRACE", steps=(step,)) is None
    assert of(policy, Act.DECLINE, "approver", proposed_by="U0GRACE", steps=(step,)) is None


def test_hours() -> None:
    """Outside of them the steps named are approved by those on call alone; declining is free."""
    policy = replace(
        POLICY, hours=Hours.parse("Mon-Fri 09:00-18:00 Europe/Berlin"),
        hours_steps=frozenset({"reset"}), always=frozenset({"U0LINUS"}),
    )  # fmt: skip
    night = AT + timedelta(hours=8)
    for step, at, who, against in (
        ("reset", AT, "approver", None),
        ("reset", night, "approver", Ground.HOURS),
        ("reset", night, "by name", None),
        ("reset", AT + timedelta(days=3), "approver", Ground.HOURS),
        ("restart_resolver", night, "approver", None),
    ):
        found = ruling(policy, Act.APPROVE, PEOPLE[who], matter(steps=(step,)), at)
        assert found.against is against, (step, at, who)
    found = ruling(policy, Act.APPROVE, PEOPLE["approver"], matter(), night)
    assert "Mon-Fri 09:00-18:00 Europe/Berlin" in found.why
    assert ruling(policy, Act.DECLINE, PEOPLE["approver"], matter(), night).allowed


@pytest.mark.parametrize(
    ("text", "inside", "outside"),
    [
        ("09:00-18:00 UTC", ("2030-01-02T09:00", "2030-01-05T17:59"), ("2030-01-02T18:00",)),
        ("22:00-06:00 UTC", ("2030-01-02T23:00", "2030-01-03T05:59"), ("2030-01-03T06:00",)),
        ("Mon-Fri 22:00-06:00 UTC", ("2030-01-05T05:00",), ("2030-01-05T23:00",)),
        ("Mon-Fri 22:00-06:00 UTC", ("2030-01-04T23:00",), ("2030-01-07T05:00",)),
        ("Sat-Mon 00:00-23:59 UTC", ("2030-01-05T10:00", "2030-01-07T10:00"), ()),
        ("Sat-Mon 00:00-23:59 UTC", (), ("2030-01-08T10:00",)),
        ("09:00-18:00 Europe/Berlin", ("2030-07-01T07:00",), ("2030-01-02T07:30",)),
    ],
)  # fmt: skip
def test_hours_hold(text: str, inside: tuple[str, ...], outside: tuple[str, ...]) -> None:
    """Their end is not in them, they may go past midnight, and summer time is the zone's own."""
    hours = Hours.parse(text)
    for at in inside:
        assert hours.hold(datetime.fromisoformat(at).replace(tzinfo=UTC)), at
    for at in outside:
        assert not hours.hold(datetime.fromisoformat(at).replace(tzinfo=UTC)), at


@pytest.mark.parametrize(
    "text",
    ["9-18", "09:00-25:00 UTC", "09:00-18:00 Mars/Base", "Xyz-Fri 09:00-18:00 UTC", "09:00-18:00"],
)
def test_hours_that_are_none(text: str) -> None:
    """A sentence says how they are written."""
    with pytest.raises(ValueError, match=r"are no hours|knows no time zone"):
        Hours.parse(text)


@pytest.mark.parametrize(
    ("changes", "against"),
    [
        ({}, None),
        ({"typed_vm": "node-80"}, Ground.WORDS),
        ({"typed_vm": ""}, Ground.WORDS),
        ({"reason": "do it"}, Ground.WORDS),
        ({"state": ApprovalState.EXPIRED}, Ground.STATE),
        ({"untouchable": "It is protected."}, Ground.SCOPE),
    ],
)
def test_breaking_the_glass(changes: dict[str, object], against: Ground | None) -> None:
    """An approver alone, at any hour, even of their own step; never what may not be touched."""
    policy = replace(
        POLICY, break_glass=True, own=frozenset(), hours=Hours.parse("00:00-00:01 UTC"),
        hours_steps=frozenset({"reset"}),
    )  # fmt: skip
    told = {"typed_vm": "node-8", "reason": "the run ends at noon", "proposed_by": "U0GRACE"}
    assert of(policy, Act.BREAK_GLASS, "approver", **{**told, **changes}) is against
    assert of(policy, Act.BREAK_GLASS, "engineer", **told) is Ground.PERSON
    assert of(replace(policy, break_glass=False), Act.BREAK_GLASS, "approver", **told) is Ground.OFF


def test_a_second_person_is_another_one() -> None:
    """Whoever approved first is not let approve again."""
    assert of(POLICY, Act.APPROVE, "approver", first_by="U0GRACE") is Ground.STATE
    assert of(POLICY, Act.APPROVE, "by name", first_by="U0GRACE") is None


def test_a_question_whose_time_is_over() -> None:
    """It counts as expired before anybody has said so."""
    assert of(POLICY, Act.APPROVE, "approver", past=True) is Ground.STATE
