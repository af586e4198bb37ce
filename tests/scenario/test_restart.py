"""The form of a restart: every rung with its losses and reasons, and what a choice comes to."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path

import pytest

from bot.incidents.ids import LONG, new_id
from bot.incidents.statement import Kind, Statement
from playground.fleet.world import running as fleet_running
from playground.slack import modal
from playground.slack.acting import Acting
from playground.slack.clicking import Press, in_message
from playground.slack.model import Message, View
from playground.slack.server import SlackServer
from tests.scenario.stage import (
    Stage,
    acting,
    bot,
    restart,
    restart_form,
    settings,
    text_of,
    until,
)

pytestmark = pytest.mark.anyio
HERE = "training-oncall"


@pytest.fixture
async def stage(slack: SlackServer, tmp_path: Path) -> AsyncIterator[Stage]:
    """Return the bot at its highest level, with a machine whose resolver has failed."""
    age = timedelta(minutes=5)
    async with fleet_running(state_dir=tmp_path / "fleet", vms=9, age=age) as fleet:
        told = acting(settings(slack, tmp_path, based_on=fleet.write_settings()))
        async with bot(slack, told) as running:
            yield running


async def reported(stage: Stage, ada: Acting) -> Message:
    """Ask for the job and return its report."""
    await ada.commands(HERE, "/nccl-dns 48213")
    report = await stage.report(HERE)
    await stage.idle()
    return report


def choices(view: View) -> dict[str, str]:
    """Return what can be chosen: value → label."""
    block = next(one for one in view.payload["blocks"] if one["block_id"] == "rung")
    return {one["value"]: one["text"]["text"] for one in block["element"]["options"]}


async def say(stage: Stage, kind: Kind, **more: str) -> None:
    """Record a person's words about the VM."""
    desk = stage.bot.desk
    (incident,) = await desk.store.incidents.still_open()
    told = Statement(
        id=new_id(LONG), incident_id=incident.id, vm_name="node-8", kind=kind, who="U0APPROVER",
        at=desk.now(), **more,
    )  # fmt: skip
    await desk.store.statements.say(told)


async def test_every_rung_says_what_it_loses_here(stage: Stage, ada: Acting) -> None:
    """The mildest that fits is chosen already; the others say why they are not offered."""
    view = await restart_form(ada, HERE, await reported(stage, ada))
    shown = str(view.payload)
    assert "Recommended: 1. Restart systemd-resolved in the guest." in shown
    for number in range(6):
        assert f"'{number}. " in shown
    assert choices(view) == {"restart_resolver": "1. Restart systemd-resolved in the guest"}
    block = next(one for one in view.payload["blocks"] if one["block_id"] == "rung")
    assert block["element"]["initial_option"]["value"] == "restart_resolver"
    for words in (
        "8 processes of a job of",
        "it has no reservation",
        "Restarting the resolver comes first",
        "No lesser step has been tried",
        "The data on the VM is unknown",
    ):
        assert words in shown
    assert not await stage.bot.desk.store.approvals.waiting()


async def test_against_the_evidence_with_a_reason(
    stage: Stage, slack: SlackServer, ada: Acting
) -> None:
    """A stop that no probe calls for wants words; they are kept with the name, and on the card."""
    report = await reported(stage, ada)
    await say(stage, Kind.NOTHING_TO_KEEP, text="all is on /home")
    view = await restart_form(ada, HERE, report)
    assert list(choices(view)) == ["restart_resolver", "asked:stop_start"]
    await modal.submit(ada, view, {"rung": {"rung": "asked:stop_start"}})
    assert "Say why" in view.errors["why"]
    assert slack.world.visible_view(ada.id) is view
    await modal.submit(ada, view, {"why": {"why": "support wants *another* host"}})
    card = await stage.said(HERE, "Approve? node-8", "Stop the VM and start it again")
    assert "local NVMe" in text_of(card)
    (incident,) = await stage.bot.desk.store.incidents.still_open()
    said = await stage.bot.desk.store.statements.of(incident.id)
    asked = [(one.about, one.text, one.who) for one in said if one.kind is Kind.ASKED_FOR]
    assert asked == [("stop_start", "support wants *another* host", ada.id)]


async def test_a_reason_opens_nothing_that_data_forbids(stage: Stage, ada: Acting) -> None:
    """A form that is made up to ask for a stop is refused, and no reason is kept."""
    report = await reported(stage, ada)
    view = await restart_form(ada, HERE, report)
    block = next(one for one in view.payload["blocks"] if one["block_id"] == "rung")
    block["element"]["options"].append(
        {"value": "asked:stop_start", "text": {"type": "plain_text", "text": "4."}}
    )
    view.payload["blocks"].append(
        {
            "type": "input", "block_id": "why", "label": {"type": "plain_text", "text": "Why"},
            "element": {"type": "plain_text_input", "action_id": "why"},
        }
    )  # fmt: skip
    given = {"rung": {"rung": "asked:stop_start"}, "why": {"why": "because I say so"}}
    await modal.submit(ada, view, given)
    await stage.whispered(HERE, "ada", "The data on the VM is unknown")
    (incident,) = await stage.bot.desk.store.incidents.still_open()
    said = await stage.bot.desk.store.statements.of(incident.id)
    assert not [one for one in said if one.kind is Kind.ASKED_FOR]
    assert not await stage.bot.desk.store.approvals.waiting()


async def test_what_changed_while_the_form_was_open(
    stage: Stage, slack: SlackServer, ada: Acting
) -> None:
    """The machine is looked at again when a choice comes in: what fitted then may not fit now."""
    report = await reported(stage, ada)
    view = await restart_form(ada, HERE, report)
    await restart(slack.act_as("linus"), HERE, report)
    card = await stage.said(HERE, "Approve? node-8")
    await in_message(slack.act_as("grace"), HERE, card.ts, Press(action_id="approve"))
    await until(lambda: "Done and proven: node-8" in text_of(card))
    await modal.submit(ada, view, {})
    await stage.whispered(HERE, "ada", "Nothing was done")
    assert not await stage.bot.desk.store.approvals.waiting()
