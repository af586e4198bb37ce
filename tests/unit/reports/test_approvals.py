"""A card says what is lost, who may decide and until when; decided ones have no buttons."""

from __future__ import annotations

from datetime import timedelta

import pytest

from bot.reports.slack.approvals import asked, card, decided_already, dry_run, may_not_decide
from bot.reports.slack.values import Consent, Decision
from tests.unit.reports.judge import judge, objects
from tests.unit.reports.made import ALICE, ASKED, BOB, NOW, ONCALL, approval, decided
from tests.unit.reports.seen import buttons, controls, primary, said

OVER = [one for one in Decision if one is not Decision.WAITING]


def test_a_card_says_what_a_person_must_know_to_decide() -> None:
    """What, on which VM, what will not come back, on which evidence, in which steps."""
    view = card(approval(), now=NOW)
    judge(view)
    for fact in (
        "Reboot inside the guest.",
        "VM: gpu-8",
        "c55f8b50-9587-5256-956e-a5ea712bb374",
        "What will not come back:\n• what is in memory and in tmpfs",
        "It rests on:\n• resolver failed, probed 5 s ago",
        "1. Drain gpu-8 with our reason.\n2. Reboot it.",
        f"Asked by @{ALICE}",
        f"May approve: @{BOB}, @{ONCALL} (one of them; 0 so far)",
        "Expires at 03:44:00 UTC (in 29 min). Then nothing is done: silence is not consent.",
    ):
        assert fact in said(view)


def test_a_card_calls_those_who_may_decide() -> None:
    """They are mentioned in the text, from which Slack takes its notifications."""
    view = card(approval(), now=NOW)
    assert view.text.startswith(f"<@{BOB}> <!subteam^{ONCALL}> Approve? gpu-8.")
    assert "Loses: what is in memory and in tmpfs." in view.text


def test_a_card_that_waits_has_two_buttons_with_its_id() -> None:
    """An id, and nothing else: what it means is in the store."""
    view = card(approval(), now=NOW)
    assert buttons(view) == ["Approve", "Decline"]
    assert primary(view) == ["Approve"]
    assert {each["value"] for each in controls(view)} == {"apr_01JDZ"}


@pytest.mark.parametrize("decision", OVER)
def test_a_card_that_is_over_has_no_buttons_and_calls_nobody(decision: Decision) -> None:
    """Decided, expired or voided: there is nothing to press, and an edit notifies nobody."""
    view = card(decided(decision), now=NOW)
    judge(view)
    assert controls(view) == []
    assert "<@" not in view.text
    assert decision.value in view.text.lower()


@pytest.mark.parametrize(
    ("decision", "wanted"),
    [
        (Decision.APPROVED, f"Approved by @{BOB} at 03:15:00 UTC"),
        (Decision.DECLINED, f"Declined by @{BOB} at 03:15:00 UTC"),
        (Decision.EXPIRED, "Nobody decided in time. Nothing was done."),
        (Decision.VOIDED, "The state was RUNNING and is ERROR. Nothing was done."),
    ],
)
def test_each_state_says_who_when_and_what_it_means(decision: Decision, wanted: str) -> None:
    """Nobody has to guess whether something ran."""
    assert wanted in said(card(decided(decision), now=NOW))


def test_nothing_lost_is_said_as_such() -> None:
    """A missing list could be read as forgotten."""
    assert "What will not come back: nothing" in said(card(approval(loses=()), now=NOW))


def test_two_people_are_counted() -> None:
    """A step that needs two shows who the first was."""
    half = approval(needed=2, consents=(Consent(by=BOB, at=NOW),))
    view = card(half, now=NOW)
    assert "(2 different people; 1 so far)" in said(view)
    assert f"Approved by @{BOB} at 03:15:00 UTC" in said(view)
    assert buttons(view) == ["Approve", "Decline"]


def test_nobody_who_may_decide_is_a_matter_of_settings() -> None:
    """A card that nobody can decide says how to mend that."""
    view = card(approval(may_decide=()), now=NOW)
    judge(view)
    assert "nobody: name approvers in the settings" in said(view)


def test_an_outsider_is_told_why_and_offered_to_ask() -> None:
    """A click is never ignored: the private answer has the reason and one button."""
    view = may_not_decide(approval())
    judge(view)
    assert "You may not decide this step. Nothing was done." in said(view)
    assert f"@{BOB}, @{ONCALL}" in said(view)
    assert buttons(view) == ["Ask for approval"]
    assert [each["value"] for each in controls(view)] == ["apr_01JDZ"]
    assert "<@" not in view.text


def test_asking_calls_those_who_may_decide_by_name() -> None:
    """A new reply, since edits notify nobody; it says who asks."""
    view = asked(approval(), ALICE, now=NOW)
    judge(view)
    assert view.text.startswith(f"<@{BOB}> <!subteam^{ONCALL}> Please decide:")
    assert f"@{ALICE} asks you to decide" in said(view)
    assert controls(view) == []


@pytest.mark.parametrize("decision", OVER)
def test_a_late_click_is_answered_with_what_was_decided(decision: Decision) -> None:
    """It changed nothing, and says so."""
    view = decided_already(decided(decision), now=NOW)
    judge(view)
    assert "Your click changed nothing" in said(view)
    assert "at 03:15:00 UTC" in said(view)


def test_a_dry_run_is_the_exact_plan_and_says_that_it_is_one() -> None:
    """What would have been done, in order, approved by whom, and why it was not."""
    view = dry_run(decided(Decision.APPROVED), why="Actions are off in the settings.", now=NOW)
    judge(view)
    assert "1. Drain gpu-8 with our reason.\n2. Reboot it." in said(view)
    assert f"Approved by @{BOB}" in said(view)
    assert "Nothing was changed. Actions are off in the settings." in said(view)
    assert view.text.startswith("Dry run on gpu-8")


def test_what_is_no_id_mentions_nobody() -> None:
    """A name from elsewhere in the place of an id is shown as text."""
    odd = approval(may_decide=("<!channel>", "here", "U024BE7LH|x"), asked_by="@channel")
    for view in (card(odd, now=NOW), may_not_decide(odd), asked(odd, "@here", now=NOW)):
        judge(view)
        kinds = {each.get("type") for each in objects(list(view.blocks))}
        assert not kinds & {"user", "usergroup", "broadcast"}
        assert "<" not in view.text


def test_days_are_shown_where_they_differ() -> None:
    """A card that is read tomorrow does not mean today's clock."""
    late = approval(expires_at=NOW + timedelta(days=1), asked_at=ASKED)
    assert "2026-12-01 03:15:00 UTC" in said(card(late, now=NOW))
