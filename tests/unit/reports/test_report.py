"""The report says at a glance who fails, where, why and what next, and offers what may be done."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from bot.clouds.model import VmState
from bot.diagnosis.kinds import Cause
from bot.reports.slack.controls import MOST_IN_MENU
from bot.reports.slack.message import Message
from bot.reports.slack.parts import age, chosen
from bot.reports.slack.report import report
from bot.reports.slack.values import Action, Choice, Link, Links
from bot.triage.model import Checked
from bot.triage.services import ACTIONS_OFF
from tests.unit.reports.judge import judge, objects
from tests.unit.reports.made import (
    ALICE,
    ASKED,
    BOB,
    CONSOLE,
    JOB_PAGE,
    LINKS,
    NOW,
    RUNBOOK,
    checked,
    choices,
    closed,
    diagnosis,
    finding,
    guessed,
    harmless,
    incident,
    machine,
    offer,
)
from tests.unit.reports.seen import buttons, controls, menu, primary, said

USUAL = ["Back up", "Restart", "Draft ticket"]


def made(
    seen: Checked | None = None, vms: tuple[Choice, ...] = (), *, data_safe: bool = False
) -> Message:
    """Return a report as Slack takes it."""
    view = report(seen or checked(), incident(), now=NOW, links=LINKS, vms=vms, data_safe=data_safe)
    judge(view)
    return view


@pytest.mark.parametrize(
    "fact",
    [
        "rank 64 of 256",
        "gpu-8",
        "c55f8b50-9587-5256-956e-a5ea712bb374",
        "h100-80gb-sxm-ib.8x",
        "us-east1-a",
        "API state: RUNNING read 03:14:52 UTC (8 s old)",
        "systemd-resolved has failed: killed by a signal. Confidence: high.",
        "Next: Press Restart: restart systemd-resolved in the guest. Loses nothing.",
        f"Asked by @{ALICE} at 03:14:20 UTC",
        "Level 2 of 3 (probe): steps are shown, not done. Missing: No cloud key",
        "Probed 03:14:55 UTC (5 s old)",
        "Newest log line",
        "Job: hall:48213 pretrain of alice, FAILED",
        "the log places the rank there",
    ],
)
def test_the_report_says_at_a_glance(fact: str) -> None:
    """Rank of world size, VM, state and its age, cause, what next, who asked, level, ages."""
    assert fact in said(made())


def test_the_lock_screen_tells_rank_machine_state_and_what_to_do() -> None:
    """Whoever only sees the notification knows what to open, and why."""
    assert made().text == (
        "gpu-8: resolver failed. Failing: rank 64 of 256. gpu-8 is RUNNING. "
        "Next: Press Restart: restart systemd-resolved in the guest. Loses nothing."
    )


def test_the_parent_can_be_read_on_a_phone() -> None:
    """No table, a title of one or two lines, no list that grows with the job."""
    many = checked(machines=tuple(machine(f"gpu-{n}") for n in range(40)))
    view = made(many)
    kinds = {block["type"] for block in view.blocks}
    assert kinds == {"header", "rich_text", "actions"}
    assert len(view.blocks[0]["text"]["text"]) < 60
    assert len(said(view).splitlines()) < 30
    assert "37 more VMs are in the thread." in said(view)


def test_three_buttons_that_people_expect_and_one_that_is_recommended() -> None:
    """The mildest step that the evidence allows stands out; the rest is behind `⋯`."""
    view = made()
    assert buttons(view) == USUAL
    assert primary(view) == ["Restart"]
    assert menu(view) == [
        "Probe again",
        "Pre-flight all VMs",
        "Re-run the job",
        "Wrong VM: pick another",
        "Dismiss",
    ]


def test_a_menu_entry_tells_what_was_chosen_and_for_which_incident() -> None:
    """What comes back is read by one function; anything else is nothing."""
    overflow = next(each for each in controls(made()) if each["type"] == "overflow")
    found = [chosen(option["value"]) for option in overflow["options"]]
    assert found[0] == (Action.PROBE_AGAIN, "inc_01JDY")
    assert found[-1] == (Action.DISMISS, "inc_01JDY")
    assert chosen("rm -rf:inc_01JDY") is None
    assert chosen("dismiss") is None


@pytest.mark.parametrize("rung", ["reboot", "stop_start"])
@pytest.mark.parametrize(("data_safe", "wanted"), [(False, "Back up"), (True, "Restart")])
def test_a_step_that_loses_data_comes_after_a_backup(
    rung: str,
    wanted: str,
    data_safe: bool,  # noqa: FBT001
) -> None:
    """Until what the VM holds is safe, Back up stands out and the text says so."""
    view = made(
        checked(machines=(machine(offers=(offer(rung, 2, offered=True),)),)), data_safe=data_safe
    )
    assert primary(view) == [wanted]
    assert (f"Next: {wanted} first" in said(view)) is not data_safe


def test_a_silent_host_cannot_be_backed_up() -> None:
    """Nobody is sent to a backup that needs a way in."""
    silent = machine(findings=(finding("host_silent"),), offers=(offer("reset", 3, offered=True),))
    assert primary(made(checked(machines=(silent,)))) == ["Restart"]


def test_a_vm_in_error_is_a_matter_for_support() -> None:
    """The ticket is recommended, the title says ERROR, and Restart answers with the reason."""
    one = machine(
        offers=(offer("restart_resolver", 1, offered=False), offer("support", 5, offered=True))
    )
    assert one.vm is not None
    broken = replace(one, vm=replace(one.vm, state=VmState.ERROR, raw_state="STATE_ERROR"))
    view = made(checked(machines=(broken,), headline="gpu-8 is in STATE_ERROR at the cloud."))
    assert buttons(view) == USUAL
    assert primary(view) == ["Draft ticket"]
    assert view.text.startswith("gpu-8: VM in ERROR.")
    assert "API state: ERROR" in said(view)


def test_what_the_evidence_forbids_can_still_be_pressed() -> None:
    """Restart is there, plain: a click is answered with the reason, never swallowed."""
    view = made(checked(machines=(machine(offers=(offer("reboot", 2, offered=False),)),)))
    assert buttons(view) == USUAL
    assert primary(view) == []


@pytest.mark.parametrize("cause", [Cause.HARMLESS_WARNING, Cause.NO_STARTUP_FAILURE])
def test_a_harmless_card_has_no_restart(cause: Cause) -> None:
    """A restart would destroy a healthy job: there is only the question why not."""
    view = made(replace(harmless(), diagnosis=diagnosis(cause=cause)))
    assert buttons(view) == ["Why no restart?"]
    assert "Failing" not in said(view)
    assert len(menu(view)) == 5


def test_a_guess_is_settled_by_a_person_first() -> None:
    """The menu of the job's VMs stands above the facts, and nothing destructive is offered."""
    view = made(guessed(), choices(4))
    kinds = [block["type"] for block in view.blocks]
    facts = next(n for n, block in enumerate(view.blocks) if block["block_id"].startswith("facts"))
    assert kinds.index("actions") < facts
    assert [each["type"] for each in controls(view)] == ["static_select", "button", "overflow"]
    assert buttons(view) == ["Draft ticket"]
    assert [each["value"] for each in controls(view)[0]["options"]] == [f"vm-{n}" for n in range(4)]
    assert "gpu-8 is a guess" in view.text


def test_a_guess_without_a_list_of_vms_offers_nothing_destructive_either() -> None:
    """Where the job's VMs are not known there is still no way to hit one of them."""
    assert buttons(made(guessed())) == ["Draft ticket"]


def test_many_vms_are_picked_in_a_modal() -> None:
    """A menu of hundreds would crowd the message out of Slack's limits."""
    few, many = made(guessed(), choices(MOST_IN_MENU)), made(guessed(), choices(MOST_IN_MENU + 1))
    assert next(each["type"] for each in controls(few)) == "static_select"
    assert buttons(many) == ["Pick the VM", "Draft ticket"]
    assert few.attachments == many.attachments == ()


def test_a_fault_of_all_names_no_machine_as_the_culprit() -> None:
    """Machines that were asked as a sample are called a sample; no button is recommended."""
    sample = machine(
        findings=(finding("record_missing", fleet_wide=True),),
        because="one of a sample",
        offers=(offer("nothing", 0, offered=True),),
    )
    found = diagnosis(affected=(), cause=Cause.NAME_NOT_FOUND)
    view = made(checked(machines=(sample,), diagnosis=found))
    assert "Not one VM's fault: record missing" in view.text
    assert "Failing: every rank that was seen, all in the same way" in said(view)
    assert "Asked as a sample: gpu-8" in said(view)
    assert "Why this VM" not in said(view)
    assert primary(view) == []


def test_a_log_alone_still_makes_a_report() -> None:
    """At the lowest level there is no machine: cause, rank and what to do are told all the same."""
    view = made(checked(machines=(), compared_with=None, job=None, level=0))
    assert "No VM known: resolver failed" in view.text
    assert "rank 64 of 256" in said(view)
    assert "Next: Check the state of gpu-8 in the console." in said(view)
    assert "Level 0 of 3 (paste)" in said(view)


def test_a_machine_without_a_vm_says_why() -> None:
    """No cloud, or two VMs of one name: the reason stands where the state would."""
    one = machine(vm=None, vm_problem="Two VMs are called gpu-8.")
    assert "API state: not read: Two VMs are called gpu-8." in said(made(checked(machines=(one,))))


@pytest.mark.parametrize(
    ("last_time", "wanted"),
    [
        (None, "Newest log line: the log has no times"),
        ("11-30T03:14:20.111117", "Newest log line 11-30 03:14:20 by the log's own clock"),
    ],
)
def test_the_newest_log_line_is_dated_as_well_as_the_log_allows(
    last_time: str | None, wanted: str
) -> None:
    """A time without a zone has no age that could be told."""
    found = diagnosis()
    found = replace(found, log=replace(found.log, last_time=last_time))
    assert wanted in said(made(checked(diagnosis=found)))


def test_the_age_of_the_newest_log_line_is_told_where_it_is_known() -> None:
    """A log that ended hours ago is no reason to restart anything now."""
    view = report(checked(), incident(newest_line_at=NOW - timedelta(hours=3, minutes=5)), now=NOW)
    assert "Newest log line 00:10:00 UTC (3 h 5 min old)" in said(view)


@pytest.mark.parametrize(
    ("seconds", "wanted"),
    [(-3, "0 s"), (0, "0 s"), (119, "119 s"), (120, "2 min"), (7199, "119 min"),
     (7200, "2 h 0 min"), (11_100, "3 h 5 min"), (172_799, "47 h 59 min"), (172_800, "2 d")],
)  # fmt: skip
def test_ages_are_short(seconds: int, wanted: str) -> None:
    """One or two units, whatever the clocks say."""
    assert age(timedelta(seconds=seconds)) == wanted


def test_links_lead_to_console_job_and_resources() -> None:
    """Only plain web addresses become links; what is not set is left out."""
    found = {each["url"] for each in objects(list(made().blocks)) if "url" in each}
    assert found == {CONSOLE, JOB_PAGE, RUNBOOK}


@pytest.mark.parametrize(
    "url",
    ["javascript:alert(1)", "https://a.example/<x>", "https://a.example/a b", "ftp://a.example",
     "https://a.example/\u202egpj", "//a.example", "https://a.example/x|y", ""],
)  # fmt: skip
def test_an_address_that_is_none_is_not_linked(url: str) -> None:
    """Settings and schedulers can be wrong, too."""
    links = Links(console=url, job=url, resources=(Link(label="x", url=url),))
    view = report(checked(), incident(), now=NOW, links=links)
    judge(view)
    assert not [each for each in objects(list(view.blocks)) if "url" in each]


def test_a_closed_incident_has_nothing_left_to_press() -> None:
    """It says who closed it, when and why, and no longer what to do next."""
    view = report(checked(), closed(), now=NOW)
    judge(view)
    assert controls(view) == []
    assert f"Dismissed by @{BOB} at 03:15:00 UTC: the job was a test" in said(view)
    assert "Next" not in said(view) + view.text


def test_each_edit_has_block_ids_of_its_own() -> None:
    """Slack wants new ids when a message is updated; they follow the revision alone."""
    ids = [
        {block["block_id"] for block in report(checked(), incident(revision=n), now=NOW).blocks}
        for n in (3, 4)
    ]
    assert not ids[0] & ids[1]
    assert made().about == {"incident": "inc_01JDY", "purpose": "report", "revision": 3}


def test_a_watcher_has_no_name() -> None:
    """Where no person asked, nobody is mentioned."""
    view = report(checked(), incident(asked_by=""), now=NOW)
    judge(view)
    assert "Asked by a watcher at" in said(view)
    assert ASKED < NOW


def test_the_age_of_a_reading_goes_on() -> None:
    """The reader's client counts it, however late the message is read."""
    shown = [
        each
        for each in objects(list(report(checked(), incident(), now=NOW).blocks))
        if each.get("type") == "date" and "{ago}" in each["format"]
    ]
    read = {each["timestamp"] for each in shown}
    assert {int((NOW - timedelta(seconds=old)).timestamp()) for old in (5, 8)} <= read


@pytest.mark.parametrize(
    ("told", "wanted"),
    [
        (
            "11-30T03:10:07.577",
            (
                "Newest log line 11-30 03:10:07 by the log's own clock; if that is UTC, "
                "03:10:07 UTC (4 min old)"
            ),
        ),
        ("2027-01-01T00:00:00", "Newest log line 2027-01-01 00:00:00 by the log's own clock"),
        ("whatever", "Newest log line whatever by the log's own clock"),
    ],
)
def test_the_age_of_a_line_without_a_zone(told: str, wanted: str) -> None:
    """As far as it can be known: a log's clock has often no zone and sometimes no year."""
    found = diagnosis()
    seen = checked(diagnosis=replace(found, log=replace(found.log, last_time=told)))
    view = report(seen, incident(), now=NOW)
    judge(view)
    assert wanted in said(view).splitlines()


def test_that_actions_are_off_is_said_once() -> None:
    """The level says it; under every report the same sentence again would hide what is missing."""
    seen = checked(missing=(ACTIONS_OFF, "No cloud is set."))
    told = said(report(seen, incident(), now=NOW))
    assert "Level 2 of 3 (probe): steps are shown, not done. Missing: No cloud is set." in told
    assert "Actions are off" not in told
