"""Modals, the Home tab and the short private messages."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bot.reports.slack.home import MOST_LISTED, home
from bot.reports.slack.modals import paste, wrong_vm
from bot.reports.slack.notices import (
    Problem,
    error,
    help_text,
    invite,
    linked,
    refused,
    secret_found,
)
from bot.reports.slack.values import Action, Callback, Input, Refusal, Waiting
from tests.unit.reports.judge import judge, objects
from tests.unit.reports.made import (
    ALICE,
    LINKS,
    NOW,
    RUNBOOK,
    THREAD,
    approval,
    choices,
    closed,
    incident,
)
from tests.unit.reports.seen import buttons, controls, said


def test_the_modal_says_slacks_limits() -> None:
    """3,000 characters and 10 MB are told where they apply, and the way in for more."""
    view = paste(back_to="C024BE91L", recent=choices(3))
    judge(view)
    assert "Up to 3,000 characters (Slack's limit)" in said(view)
    assert "Up to 10 MB (Slack's limit). Larger ones, up to 1 GB" in said(view)
    text = next(each for each in controls(view) if each["type"] == "plain_text_input")
    assert text["max_length"] == 3000


def test_the_modal_has_four_ways_in_of_which_none_is_forced() -> None:
    """Lines, file, job ID or a job that failed lately; its fields are found by their names."""
    view = paste(back_to="C024BE91L", recent=choices(3))
    assert [each["block_id"] for each in view.blocks] == [
        Input.TEXT,
        Input.FILE,
        Input.JOB,
        Input.RECENT,
    ]
    assert all(each["optional"] for each in view.blocks)
    assert view.to_view()["private_metadata"] == "C024BE91L"
    assert view.callback_id == Callback.PASTE


def test_without_recent_jobs_there_is_no_empty_menu() -> None:
    """Slack refuses a menu without entries."""
    view = paste(back_to="C024BE91L")
    judge(view)
    assert "static_select" not in {each["type"] for each in controls(view)}


def test_the_modal_says_what_was_wrong_with_the_last_attempt() -> None:
    """Above the fields, in words."""
    view = paste(back_to="C024BE91L", problem="That file is a picture, not a log.")
    judge(view)
    assert view.blocks[0]["type"] == "alert"
    assert "That file is a picture, not a log." in said(view)


@pytest.mark.parametrize("count", [1, 100, 101, 1024])
def test_every_vm_of_a_job_can_be_picked(count: int) -> None:
    """Beyond a hundred they are grouped, each group under its first and last name."""
    view = wrong_vm(incident(), choices(count), current="gpu-8")
    judge(view)
    select = next(each for each in controls(view) if each["type"] == "static_select")
    groups = select.get("option_groups", [{"options": select.get("options", [])}])
    values = [option["value"] for group in groups for option in group["options"]]
    assert values == [f"vm-{n}" for n in range(count)]
    assert view.attachments == ()
    if count > 100:
        assert groups[0]["label"]["text"] == "gpu-0000 to gpu-0099"


def test_picking_a_vm_asks_how_one_knows() -> None:
    """A person's word is recorded with their name, and nothing is done to the VM."""
    view = wrong_vm(incident(), choices(2), current="gpu-8")
    assert "Nothing is done to a VM by picking it" in said(view)
    assert "The report is about gpu-8." in said(view)
    needed = [each["block_id"] for each in view.blocks if each.get("optional") is False]
    assert needed == [Input.VM, Input.WHY]
    assert view.private_metadata == "inc_01JDY"


def test_a_job_without_known_vms_has_nothing_to_submit() -> None:
    """The modal says what to give instead."""
    view = wrong_vm(incident(), ())
    judge(view)
    assert view.submit == ""
    assert "give a job ID first" in said(view)


def test_home_shows_what_waits_what_is_open_and_what_was() -> None:
    """Three lists, counted, each entry with the way to its thread."""
    view = home(
        waiting=(Waiting(approval=approval(), permalink=THREAD),),
        opened=(incident(), incident(id="inc_2", job="")),
        recent=(closed(),),
        now=NOW,
    )
    judge(view)
    for fact in ("Waits for you (1)", "Open (2)", "Recent (1)", "pasted log", "Expires in 29 min"):
        assert fact in said(view)
    assert buttons(view) == ["Check a job or a log", *["Open the thread"] * 4]
    assert {each["url"] for each in controls(view)[1:]} == {THREAD}


def test_an_empty_home_says_so() -> None:
    """Three titles over nothing would look broken."""
    view = home(now=NOW)
    judge(view)
    assert said(view).count("Nothing.") == 3


def test_home_lists_so_many_and_counts_the_rest() -> None:
    """A thousand incidents are a number, not a thousand rows."""
    many = tuple(incident(id=f"inc_{n}") for n in range(1000))
    waits = tuple(Waiting(approval=approval(id=f"a{n}"), permalink=THREAD) for n in range(1000))
    view = home(waiting=waits, opened=many, recent=many, now=NOW)
    judge(view)
    assert "Open (1000)" in said(view)
    assert f"and {1000 - MOST_LISTED} more" in said(view)
    assert view.attachments == ()


def test_an_error_says_what_failed_what_was_not_done_and_what_to_do() -> None:
    """All three, for the person who asked."""
    problem = Problem(failed="The cloud is away.", not_done="No state was read.", next_step="Wait.")
    view = error(problem)
    judge(view)
    assert said(view) == "The cloud is away.\nNo state was read.\nNext: Wait."
    assert view.text == "The cloud is away. No state was read. Wait."


@pytest.mark.parametrize(
    ("action", "wanted"),
    [
        (Action.RESTART, "Restart is not possible now:"),
        (Action.BACK_UP, "Back up is not possible now:"),
        (Action.WHY_NO_RESTART, "Why no restart:"),
        (Action.RERUN, "Re-run the job is not possible now:"),
    ],
)
def test_a_button_that_cannot_act_says_why(action: Action, wanted: str) -> None:
    """Every reason, what is possible instead, and where to read more."""
    view = refused(Refusal(action=action, reasons=("One.", "Two.")), LINKS)
    judge(view)
    assert f"{wanted}\n• One.\n• Two.\nNothing was done. Probe again first." in said(view)
    assert {each["url"] for each in objects(list(view.blocks)) if "url" in each} == {RUNBOOK}


def test_a_refusal_without_a_reason_still_says_something() -> None:
    """Silence would look like a broken button."""
    view = refused(Refusal(action=Action.RESTART, reasons=()))
    judge(view)
    assert "Nothing that was read so far calls for it." in said(view)


def test_another_channel_gets_a_card_that_leads_to_the_thread() -> None:
    """Buttons live in one place: the card has a link and no control that acts."""
    view = linked(incident())
    judge(view)
    assert "hall:48213 is looked at already" in said(view)
    assert f"Asked there by @{ALICE}" in said(view)
    assert [(each["action_id"], each["url"]) for each in controls(view)] == [
        (Action.OPEN_THREAD, THREAD)
    ]


def test_a_thread_without_an_address_is_named_by_its_channel() -> None:
    """A card without a link is better than a link to nowhere."""
    view = linked(replace(incident(), permalink="", headline=""))
    judge(view)
    assert controls(view) == []
    assert "#C024BE91L" in said(view)


def test_whoever_posts_a_secret_is_told_to_delete_and_rotate() -> None:
    """The kinds are named, the secret is not."""
    view = secret_found({"github-token": 1, "aws-key": 2}, THREAD)
    judge(view)
    assert "aws-key (2), github-token (1)" in said(view)
    assert "Delete" in view.text
    assert "rotate" in view.text


def test_help_names_a_command_only_when_it_works() -> None:
    """`stats` is left out until there is something to count."""
    assert "/dns stats" not in said(help_text("/dns", "bot"))
    assert "/dns stats" in said(help_text("/dns", "bot", with_stats=True))
    judge(help_text("/dns", "bot"))


def test_help_says_how_to_ask_in_a_thread() -> None:
    """Slash commands do not work there."""
    assert "@bot … every one of them in a thread" in said(help_text("/dns", "bot"))


def test_a_channel_without_the_bot_is_told_how_to_invite_it() -> None:
    """The exact words to write, and what was not done."""
    view = invite("/dns 48213", "nccl-dns")
    judge(view)
    assert "/invite @nccl-dns" in said(view)
    assert "Nothing was started." in said(view)
    assert "/dns 48213" in said(view)
