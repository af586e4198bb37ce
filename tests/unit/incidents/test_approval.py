"""What a click comes to, apart from any database."""

from __future__ import annotations

from dataclasses import dataclass, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.incidents.approval import Answer, Approval, ApprovalState, Verdict
from tests.behaviour.store.rows import AT, MINUTE, approval

PEOPLE = ("U0KIM", "U0LEE", "U0MAX")
OPEN = approval("k7qm2xfr")


@dataclass(frozen=True, kw_only=True)
class Click:
    """What somebody does, minutes after the proposal."""

    by: str
    verdict: Verdict
    minute: int


CLICKS = st.lists(
    st.builds(
        Click,
        by=st.sampled_from(PEOPLE),
        verdict=st.sampled_from(Verdict),
        minute=st.integers(0, 45),
    ),
    max_size=8,
).map(lambda clicks: sorted(clicks, key=lambda click: click.minute))


@given(clicks=CLICKS, needs=st.sampled_from([1, 2]))
def test_one_click_at_most_decides(clicks: list[Click], needs: int) -> None:
    """Whatever people do, in whichever order: once settled, nothing changes any more."""
    now = replace(OPEN, needs=needs)
    answers: list[Answer] = []
    for click in clicks:
        before = now
        decision = now.decided(click.verdict, by=click.by, at=AT + click.minute * MINUTE)
        now = decision.approval
        answers.append(decision.answer)
        if before.state is not ApprovalState.OPEN:
            assert now is before
        assert now.revision == before.revision + (now != before)

    assert answers.count(Answer.DECIDED) <= 1
    assert answers.count(Answer.FIRST) <= needs - 1
    settled = now.state in {ApprovalState.APPROVED, ApprovalState.DECLINED}
    assert settled is (Answer.DECIDED in answers)


@given(clicks=CLICKS, needs=st.sampled_from([1, 2]))
def test_nothing_is_approved_without_its_people(clicks: list[Click], needs: int) -> None:
    """As many different ones as it needs said yes, in time, and nobody said no before."""
    now = replace(OPEN, needs=needs)
    for click in clicks:
        now = now.decided(click.verdict, by=click.by, at=AT + click.minute * MINUTE).approval

    timely = [click for click in clicks if click.minute < 30]
    said: set[str] = set()
    approved = False
    for click in timely:
        if click.verdict is Verdict.DECLINE:
            break
        said.add(click.by)
        if len(said) == needs:
            approved = True
            break
    assert (now.state is ApprovalState.APPROVED) is approved


def test_a_click_after_a_settlement_of_any_kind_is_late() -> None:
    """And is told the state it is in."""
    for state in set(ApprovalState) - {ApprovalState.OPEN}:
        settled = replace(OPEN, state=state, decided_at=AT)
        decision = settled.decided(Verdict.APPROVE, by="U0LEE", at=AT)
        assert (decision.answer, decision.approval) == (Answer.LATE, settled)


def test_what_is_settled_is_not_voided_but_what_is_approved_is() -> None:
    """A declined step does not become another thing later."""
    for state in set(ApprovalState) - {ApprovalState.OPEN}:
        settled = replace(OPEN, state=state, decided_at=AT)
        after = settled.voided(at=AT + MINUTE, why="changed").state
        assert after == ("voided" if state is ApprovalState.APPROVED else state)


@pytest.mark.parametrize(
    ("told", "message"),
    [
        ({"needs": 3}, "one or two people, not 3"),
        ({"chain": ("backup",)}, "reboot is not part of its chain"),
        ({"expires_at": None}, "ready expires"),
        ({"ready_at": None}, "ready expires"),
        ({"proposed_at": AT.replace(tzinfo=None)}, "proposed_at of the approval has no time zone"),
    ],
)
def test_an_approval_that_makes_no_sense_is_refused(told: dict[str, object], message: str) -> None:
    """Before the store sees it."""
    with pytest.raises(ValueError, match=message):
        replace(OPEN, **told)  # type: ignore[arg-type]


def test_its_time_is_over_at_the_minute_it_names() -> None:
    """Not after it."""
    end = OPEN.expires_at
    assert end is not None
    assert OPEN.expired(at=end).state is ApprovalState.EXPIRED
    assert OPEN.expired(at=end - MINUTE) is OPEN
    assert isinstance(OPEN, Approval)
