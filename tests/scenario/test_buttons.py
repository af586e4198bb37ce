"""What each control of a report does, and what becomes of a step that is proposed."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path

import pytest

from playground.fleet.world import running as fleet_running
from playground.slack import modal
from playground.slack.acting import Acting
from playground.slack.clicking import Press, in_message, in_view
from playground.slack.model import Message
from playground.slack.server import SlackServer
from playground.slack.web import Outage
from tests.scenario.logs import PASTE
from tests.scenario.stage import Stage, bot, has_action, restart, settings, text_of, until

pytestmark = pytest.mark.anyio
HERE = "training-oncall"


@pytest.fixture
async def probed(slack: SlackServer, tmp_path: Path) -> AsyncIterator[Stage]:
    """Return the bot with a fleet of nine machines, whose ninth has no resolver."""
    async with fleet_running(state_dir=tmp_path / "fleet", vms=9) as fleet:
        told = settings(slack, tmp_path, based_on=fleet.write_settings())
        async with bot(slack, told) as stage:
            yield stage


async def reported(stage: Stage, ada: Acting) -> Message:
    """Ask for the job and return its report."""
    await ada.commands(HERE, "/nccl-dns 48213")
    report = await stage.report(HERE)
    await stage.idle()
    return report


async def proposed(stage: Stage, ada: Acting) -> Message:
    """Press Restart and return the card."""
    report = await reported(stage, ada)
    await restart(ada, HERE, report)
    return await stage.said(HERE, "Approve? node-8", "Restart systemd-resolved in the guest")


async def test_an_approved_step_is_a_dry_run(
    probed: Stage, slack: SlackServer, ada: Acting
) -> None:
    """The exact plan is posted, once, however often and by whomever Approve is pressed."""
    card = await proposed(probed, ada)
    grace, linus = slack.act_as("grace"), slack.act_as("linus")
    await in_message(grace, HERE, card.ts, Press(action_id="approve"))
    await in_message(linus, HERE, card.ts, Press(action_id="approve"))
    run = await probed.said(HERE, "Dry run: node-8", "systemctl restart systemd-resolved")
    assert "Nothing was changed" in text_of(run)
    assert run.thread_ts == card.thread_ts
    await until(lambda: not has_action(card, "approve"))
    assert "Approved by @U0APPROVER" in text_of(card)
    await probed.whispered(HERE, "linus", "Your click changed nothing")
    await probed.idle()
    runs = [one for one in probed.messages(HERE) if "Dry run" in text_of(one)]
    assert len(runs) == 1


async def test_who_may_not_decide_can_ask(probed: Stage, slack: SlackServer, ada: Acting) -> None:
    """A person who may not decide is told who may, and can ask them by name."""
    card = await proposed(probed, ada)
    await in_message(ada, HERE, card.ts, Press(action_id="approve"))
    await probed.whispered(HERE, "ada", "You may not decide")
    whisper = next(
        one
        for one in slack.channel(HERE).ephemeral
        if one.only_for == ada.id and has_action(one, "ask_for_approval")
    )
    await in_message(ada, HERE, whisper.ts, Press(action_id="ask_for_approval"))
    asked = await probed.said(HERE, "asks you to decide")
    assert "S0APPROVER" in str(asked.blocks)
    assert has_action(card, "approve")


async def test_declined_and_proposed_anew(probed: Stage, slack: SlackServer, ada: Acting) -> None:
    """A declined step is over; pressing Restart again asks anew, on a card of its own."""
    card = await proposed(probed, ada)
    await in_message(slack.act_as("grace"), HERE, card.ts, Press(action_id="decline"))
    await until(lambda: "Declined: node-8" in text_of(card))
    assert not has_action(card, "approve")
    parent = probed.slack.channel(HERE).messages[card.thread_ts]
    await restart(ada, HERE, parent)
    second = await probed.said(HERE, "Approve? node-8")
    assert second.ts != card.ts


async def test_silence_is_not_consent(probed: Stage, ada: Acting) -> None:
    """At its expiry a card loses its buttons, and a late click is told so."""
    card = await proposed(probed, ada)
    desk = probed.bot.desk
    now = desk.now
    desk.now = lambda: now() + timedelta(minutes=31)
    await until(lambda: "Expired: node-8" in text_of(card))
    assert not has_action(card, "approve")
    approval = str(card.metadata["event_payload"]["approval"]) if card.metadata else ""
    kept = await desk.store.approvals.get(approval)
    assert kept is not None
    assert kept.state == "expired"


async def test_an_approval_binds_to_what_was_seen(
    probed: Stage, slack: SlackServer, ada: Acting
) -> None:
    """Where a newer look found something else, Approve voids the card instead, and says so."""
    card = await proposed(probed, ada)
    incident = (await probed.bot.desk.store.incidents.still_open())[0]
    await in_message(
        ada,
        HERE,
        card.thread_ts,
        Press(action_id="more", value=f"wrong_vm:{incident.id}"),
    )
    view = await until(lambda: slack.world.visible_view(ada.id))
    await modal.submit(ada, view, {"vm": {"vm": "node-3"}, "why": {"why": "I know"}})
    report = probed.slack.channel(HERE).messages[card.thread_ts]
    await until(lambda: "picked by a person" in text_of(report))
    await probed.idle()
    await in_message(slack.act_as("grace"), HERE, card.ts, Press(action_id="approve"))
    await until(lambda: "Voided: node-8" in text_of(card))
    await probed.whispered(HERE, "grace", "Your click changed nothing")
    await probed.idle()
    assert not [one for one in probed.messages(HERE) if "Dry run" in text_of(one)]


async def test_restart_twice_is_one_card(probed: Stage, ada: Acting) -> None:
    """A second press of Restart points to the card that is there."""
    card = await proposed(probed, ada)
    await restart(ada, HERE, probed.slack.channel(HERE).messages[card.thread_ts])
    await probed.whispered(HERE, "ada", "proposed already")
    assert len([one for one in probed.messages(HERE) if "Approve?" in text_of(one)]) == 1


@pytest.mark.parametrize("action", ["draft_ticket"])
async def test_what_is_not_built_says_so(stage: Stage, ada: Acting, action: str) -> None:
    """A button whose step does not exist yet answers, privately, with what to do instead."""
    await ada.commands(HERE, f"/nccl-dns {PASTE}")
    report = await stage.report(HERE)
    await in_message(ada, HERE, report.ts, Press(action_id=action))
    await stage.whispered(HERE, "ada", "not part of this version", "Nothing was done")


async def test_a_paste_alone_restarts_nothing(stage: Stage, ada: Acting) -> None:
    """Restart is pressable on a paste's report and answers with everything that stands against."""
    await ada.commands(HERE, f"/nccl-dns {PASTE}")
    report = await stage.report(HERE)
    await in_message(ada, HERE, report.ts, Press(action_id="restart"))
    await stage.whispered(HERE, "ada", "Restart is not possible now")


async def test_probe_again_and_dismiss(probed: Stage, ada: Acting) -> None:
    """The report is read anew in place; dismissed, it has nothing left to press."""
    report = await reported(probed, ada)
    incident = (await probed.bot.desk.store.incidents.still_open())[0]
    await in_message(
        ada, HERE, report.ts, Press(action_id="more", value=f"probe_again:{incident.id}")
    )
    await probed.idle()
    newest = await probed.bot.desk.store.incidents.get(incident.id)
    assert newest is not None
    assert newest.checked_at is not None
    assert incident.checked_at is not None
    assert newest.checked_at > incident.checked_at
    await in_message(ada, HERE, report.ts, Press(action_id="more", value=f"dismiss:{incident.id}"))
    await until(lambda: "Dismissed: demo:48213" in text_of(report))
    assert not has_action(report, "more")


async def test_the_wrong_vm(probed: Stage, slack: SlackServer, ada: Acting) -> None:
    """A person picks another machine of the job and says why; it is looked at and shown."""
    report = await reported(probed, ada)
    incident = (await probed.bot.desk.store.incidents.still_open())[0]
    await in_message(ada, HERE, report.ts, Press(action_id="more", value=f"wrong_vm:{incident.id}"))
    view = await until(lambda: slack.world.visible_view(ada.id))
    await modal.submit(
        ada, view, {"vm": {"vm": "node-3"}, "why": {"why": "the rank printed its host"}}
    )
    assert not view.errors
    await until(lambda: "picked by a person" in text_of(report))
    assert "node-3" in text_of(report)
    timeline = await probed.bot.desk.store.incidents.timeline(incident.id)
    assert any(one.kind == "vm picked" and one.about == "node-3" for one in timeline)


async def test_the_home_tab(probed: Stage, slack: SlackServer, ada: Acting) -> None:
    """It shows what is open to everybody, and what waits for a decision to those who may."""
    await proposed(probed, ada)
    grace = slack.act_as("grace")
    grace.opens_home()
    home = await until(lambda: slack.world.homes.get(grace.id))
    shown = str(slack.world.views[home].payload)
    assert "Waits for you (1)" in shown
    assert "Open (1)" in shown
    ada.opens_home()
    hers = await until(lambda: slack.world.homes.get(ada.id))
    assert "Waits for you (0)" in str(slack.world.views[hers].payload)


async def test_a_form_from_the_home_tab(stage: Stage, slack: SlackServer, ada: Acting) -> None:
    """Where no home channel is set, what was asked on the Home tab is answered directly."""
    ada.opens_home()
    home = await until(lambda: slack.world.homes.get(ada.id))
    await in_view(ada, slack.world.views[home], Press(action_id="new"))
    view = await until(lambda: slack.world.visible_view(ada.id))
    await modal.submit(ada, view, {"pasted_text": {"pasted_text": PASTE}})
    await stage.report(slack.world.direct(ada.id).id)


async def test_a_link_to_another_channel(stage: Stage, slack: SlackServer, ada: Acting) -> None:
    """`link` puts a card of a report into a channel that another tool has made."""
    await ada.commands(HERE, f"/nccl-dns {PASTE}")
    report = await stage.report(HERE)
    await stage.idle()
    address = await stage.bot.desk.chat.permalink(slack.channel(HERE).id, report.ts)
    await ada.commands("incident-room", f"/nccl-dns link {address}")
    card = await stage.said("incident-room", "looked at already")
    assert address in str(card.blocks)
    await ada.commands("incident-room", f"/nccl-dns link {address}")
    await stage.whispered("incident-room", "ada", "looked at already")
    await ada.commands("incident-room", "/nccl-dns link https://elsewhere.example/")
    await stage.whispered("incident-room", "ada", "no incident of mine")
    await stage.idle()
    cards = [one for one in stage.messages("incident-room") if "looked at" in text_of(one)]
    assert len(cards) == 1


@pytest.mark.parametrize("by", ["id", "job"])
async def test_a_link_by_incident_or_job(probed: Stage, ada: Acting, by: str) -> None:
    """Its ID or its job will do, by mention in a thread as well; at home it only says where."""
    report = await reported(probed, ada)
    incident = (await probed.bot.desk.store.incidents.still_open())[0]
    wanted = incident.id if by == "id" else "48213"
    root = ada.says("incident-room", "incident 12 of the pager")
    ada.says("incident-room", f"@nccl-dns link {wanted}", thread_ts=root.ts)
    card = await probed.said("incident-room", "demo:48213 is looked at already")
    assert card.thread_ts == root.ts
    assert report.ts.replace(".", "") in str(card.blocks)
    await ada.commands(HERE, f"/nccl-dns link {wanted}")
    await probed.whispered(HERE, "ada", "looked at already")


async def test_a_late_form(stage: Stage, slack: SlackServer, ada: Acting) -> None:
    """A form that cannot be opened any more is explained instead of silently missing."""
    slack.web.outage = Outage.REFUSE
    await ada.commands(HERE, "/nccl-dns")
    await until(lambda: stage.bot.intake.busy)
    for trigger in slack.world.triggers.values():
        trigger.expires -= timedelta(seconds=10)
    await slack.come_back()
    await stage.whispered(HERE, "ada", "took too long to open a form")
