"""A click is never ignored and never counts twice."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import anyio
import pytest

from bot.errors import StoreError
from bot.incidents.approval import Answer, ApprovalState, Decision, Verdict
from bot.incidents.errors import ClosedIncidentError, UnknownApprovalError, UnknownIncidentError
from bot.incidents.incident import Entry
from bot.incidents.store import Store, open_store
from tests.behaviour.store.rows import AT, DAY, MINUTE, approval, opened

pytestmark = pytest.mark.anyio

YES = Verdict.APPROVE
NO = Verdict.DECLINE


async def asked(store: Store, **told: object) -> str:
    """Return the ID of an approval of a new incident."""
    incident = await opened(store, key=str(told))
    return (await store.approvals.propose(approval(incident.id, **told))).approval.id


async def kinds(store: Store, incident_id: str) -> list[tuple[str, str | None]]:
    """Return what the timeline says happened after the opening, and who did it."""
    return [(one.kind, one.who) for one in (await store.incidents.timeline(incident_id))[1:]]


async def test_an_approval_comes_back_as_it_was_proposed(store: Store) -> None:
    """Every field survives, the chain in its order."""
    incident = await opened(store)
    wanted = approval(incident.id, needs=2)

    proposal = await store.approvals.propose(wanted)

    assert (proposal.approval, proposal.made) == (wanted, True)
    assert await store.approvals.get(wanted.id) == wanted
    assert await store.approvals.of(incident.id) == (wanted,)
    assert await store.approvals.waiting() == (wanted,)
    entry = (await store.incidents.timeline(incident.id))[1]
    assert entry == Entry(at=AT, kind="proposed", who="U0KIM", about=wanted.id, revision=2)


async def test_a_step_is_asked_for_once_at_a_time(url: str) -> None:
    """A double click on Restart, on two replicas, puts one question."""
    made: list[bool] = []
    ids: set[str] = set()

    async with open_store(url) as one, open_store(url) as other:
        incident = await opened(one)

        async def press(store: Store) -> None:
            proposal = await store.approvals.propose(approval(incident.id))
            made.append(proposal.made)
            ids.add(proposal.approval.id)

        async with anyio.create_task_group() as tasks:
            for store in (one, other) * 3:
                tasks.start_soon(press, store)
        elsewhere = await one.approvals.propose(approval(incident.id, vm_id="another"))

    assert sorted(made) == [False] * 5 + [True]
    assert len(ids) == 1
    assert elsewhere.made


async def test_what_was_decided_can_be_asked_again(store: Store) -> None:
    """So can what expired, also before anybody has noticed that it did."""
    incident = await opened(store)
    first = (await store.approvals.propose(approval(incident.id))).approval
    await store.approvals.decide(first.id, NO, by="U0LEE", at=AT)

    second = await store.approvals.propose(approval(incident.id))
    late = AT + DAY
    third = await store.approvals.propose(
        approval(incident.id, proposed_at=late, ready_at=late, expires_at=late + MINUTE)
    )

    assert (second.made, third.made) == (True, True)
    states = [one.state for one in await store.approvals.of(incident.id)]
    assert sorted(states) == ["declined", "expired", "open"]


async def test_one_of_many_clicks_decides(url: str) -> None:
    """The others, on any replica, learn who decided and when."""
    decisions: list[Decision] = []

    async with open_store(url) as one, open_store(url) as other:
        this = await asked(one)

        async def click(store: Store, by: str, verdict: Verdict) -> None:
            decisions.append(await store.approvals.decide(this, verdict, by=by, at=AT + MINUTE))

        async with anyio.create_task_group() as tasks:
            for number in range(30):
                verdict = (YES, NO)[number % 3 == 0]
                tasks.start_soon(click, (one, other)[number % 2], f"U{number}", verdict)
        kept = await one.approvals.get(this)

    assert Counter(decision.answer for decision in decisions) == {
        Answer.DECIDED: 1,
        Answer.LATE: 29,
    }
    assert {decision.approval for decision in decisions} == {kept}
    assert kept is not None
    assert (kept.decided_at, kept.revision) == (AT + MINUTE, 2)


async def test_a_decision_is_in_the_timeline_and_moves_the_incident(store: Store) -> None:
    """In the same transaction: no crash parts them."""
    this = await asked(store)

    decision = await store.approvals.decide(this, NO, by="U0LEE", at=AT, reason="data first")

    told = decision.approval
    assert (told.state, told.decided_by, told.reason) == ("declined", "U0LEE", "data first")
    incident = await store.incidents.get(told.incident_id)
    assert incident is not None
    assert incident.revision == 3
    assert await kinds(store, incident.id) == [("proposed", "U0KIM"), ("declined", "U0LEE")]


async def test_two_people_have_to_be_two(store: Store) -> None:
    """The same person twice is one; the second settles it."""
    this = await asked(store, needs=2)

    first = await store.approvals.decide(this, YES, by="U0LEE", at=AT)
    same = await store.approvals.decide(this, YES, by="U0LEE", at=AT)
    second = await store.approvals.decide(this, YES, by="U0MAX", at=AT + MINUTE)

    assert [one.answer for one in (first, same, second)] == ["first", "same_person", "decided"]
    assert first.approval.state is ApprovalState.OPEN
    told = second.approval
    assert (told.state, told.first_by, told.decided_by) == ("approved", "U0LEE", "U0MAX")
    assert await kinds(store, told.incident_id) == [
        ("proposed", "U0KIM"), ("first_approved", "U0LEE"), ("approved", "U0MAX"),
    ]  # fmt: skip


async def test_two_people_at_once_are_two(url: str) -> None:
    """Of a race, on two replicas, one is the first and one the second."""
    answers: list[Answer] = []

    async with open_store(url) as one, open_store(url) as other:
        this = await asked(one, needs=2)

        async def click(store: Store, by: str) -> None:
            answers.append((await store.approvals.decide(this, YES, by=by, at=AT)).answer)

        async with anyio.create_task_group() as tasks:
            for by in ("U0LEE", "U0MAX"):
                for store in (one, other):
                    tasks.start_soon(click, store, by)
        kept = await one.approvals.get(this)

    assert kept is not None
    assert kept.state is ApprovalState.APPROVED
    assert {kept.first_by, kept.decided_by} == {"U0LEE", "U0MAX"}
    counted = Counter(answers)
    assert (counted[Answer.FIRST], counted[Answer.DECIDED]) == (1, 1)


async def test_time_decides_when_nobody_does(url: str) -> None:
    """Silence is not consent; of two replicas one notices."""
    async with open_store(url) as one, open_store(url) as other:
        this = await asked(one)
        waits = await asked(one, expires_at=AT + DAY, needs=2)
        end = AT + 30 * MINUTE
        assert await one.approvals.expire(end - MINUTE) == ()

        found: list[str] = []

        async def look(store: Store) -> None:
            found.extend(expired.id for expired in await store.approvals.expire(end))

        async with anyio.create_task_group() as tasks:
            for store in (one, other, one, other):
                tasks.start_soon(look, store)
        late = await one.approvals.decide(this, YES, by="U0LEE", at=end)
        left = await one.approvals.waiting()

    assert found == [this]
    assert (late.answer, late.approval.state) == (Answer.LATE, ApprovalState.EXPIRED)
    assert (late.approval.decided_by, late.approval.decided_at) == (None, end)
    assert [one.id for one in left] == [waits]


async def test_a_click_after_the_end_expires_it(store: Store) -> None:
    """Even when the timer has not come by yet; nobody is named as who decided."""
    this = await asked(store)

    late = await store.approvals.decide(this, YES, by="U0LEE", at=AT + 30 * MINUTE)

    assert (late.answer, late.approval.state) == (Answer.LATE, ApprovalState.EXPIRED)
    assert await store.approvals.expire(AT + DAY) == ()
    assert (await kinds(store, late.approval.incident_id))[-1] == ("expired", None)


async def test_an_approval_counts_from_when_the_step_is_ready(store: Store) -> None:
    """Before, it can be declined and not approved, and it does not expire."""
    this = await asked(store, ready_at=None, expires_at=None)
    early = await store.approvals.decide(this, YES, by="U0LEE", at=AT)
    assert early.answer is Answer.NOT_READY
    assert await store.approvals.expire(AT + DAY) == ()

    end = AT + DAY + MINUTE
    ready = await store.approvals.ready(this, at=AT + DAY, expires_at=end, digest="sha256:2")
    again = await store.approvals.ready(this, at=end, expires_at=end + DAY, digest="sha256:3")
    decided = await store.approvals.decide(this, YES, by="U0LEE", at=AT + DAY)

    assert (ready.digest, ready.expires_at, ready.revision) == ("sha256:2", end, 2)
    assert again == ready
    assert decided.answer is Answer.DECIDED
    told = [kind for kind, _ in await kinds(store, ready.incident_id)]
    assert told == ["proposed", "ready", "approved"]


async def test_a_changed_world_voids(store: Store) -> None:
    """Also what was approved; who approved it is kept, and what has changed is said."""
    this = await asked(store)
    await store.approvals.decide(this, YES, by="U0LEE", at=AT)

    voided = await store.approvals.void(this, at=AT + MINUTE, why="The boot ID has changed.")
    again = await store.approvals.void(this, at=AT + DAY, why="once more")
    late = await store.approvals.decide(this, YES, by="U0MAX", at=AT + MINUTE)

    assert (voided.state, voided.decided_by, voided.decided_at) == ("voided", "U0LEE", AT)
    assert again == voided
    assert (late.answer, late.approval.reason) == (Answer.LATE, "The boot ID has changed.")


async def test_what_was_approved_lately_is_found(store: Store) -> None:
    """Each must have its workflow, also when the bot died right after the click."""
    yes = await asked(store)
    no = await asked(store, needs=2)
    await store.approvals.decide(yes, YES, by="U0LEE", at=AT)
    await store.approvals.decide(no, YES, by="U0LEE", at=AT)

    assert [one.id for one in await store.approvals.approved_since(AT)] == [yes]
    assert await store.approvals.approved_since(AT + MINUTE) == ()


async def test_what_cannot_be_asked_is_said(store: Store) -> None:
    """A stale or foreign button gets a sentence."""
    incident = await opened(store)
    other = approval(incident.id, step="reset", chain=("reset",))
    await store.approvals.propose(other)

    with pytest.raises(UnknownApprovalError, match="no approval k7qm2xfr, so nothing was decided"):
        await store.approvals.decide("k7qm2xfr", YES, by="U0LEE", at=AT)
    with pytest.raises(UnknownIncidentError):
        await store.approvals.propose(approval("k7qm2xfr"))
    with pytest.raises(StoreError, match="another approval's"):
        await store.approvals.propose(approval(incident.id, id=other.id))
    await store.incidents.close(incident.id, Entry(at=AT, kind="closed"))
    with pytest.raises(ClosedIncidentError, match="was closed at 2030-01-02 03:04 UTC"):
        await store.approvals.propose(approval(incident.id))
    assert await store.approvals.get("k7qm2xfr") is None


async def test_reasons_are_forgotten_and_decisions_are_not(store: Store) -> None:
    """Who decided what stays."""
    this = await asked(store)
    decision = await store.approvals.decide(this, NO, by="U0LEE", at=AT, reason="data first\0")

    await store.forget(AT + DAY)

    assert await store.approvals.get(this) == replace(decision.approval, reason=None)
