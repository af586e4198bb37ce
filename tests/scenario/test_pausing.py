"""A pause and the breaker: who may, where it is shown, what it stops, and who lets go on."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path

import pytest

from bot.incidents.audit import Deed
from bot.incidents.ids import new_id
from bot.incidents.incident import Entry, Incident
from bot.incidents.run import RunState
from bot.incidents.switches import Name, Switch
from playground.fleet.world import running as fleet_running
from playground.slack.acting import Acting
from playground.slack.clicking import Press, in_message
from playground.slack.model import Message
from playground.slack.server import SlackServer
from tests.scenario.stage import Stage, acting, bot, restart, settings, text_of, until

pytestmark = pytest.mark.anyio
HERE, ELSEWHERE = "training-oncall", "shared-with-vendor"


@pytest.fixture
async def stage(slack: SlackServer, tmp_path: Path) -> AsyncIterator[Stage]:
    """Return the bot at its highest level, with a fleet whose ninth machine has no resolver."""
    age = timedelta(minutes=5)
    async with fleet_running(state_dir=tmp_path / "fleet", vms=9, age=age) as fleet:
        told = acting(settings(slack, tmp_path, based_on=fleet.write_settings()))
        async with bot(slack, told) as running:
            yield running


async def proposed(stage: Stage, ada: Acting) -> Message:
    """Ask for the job, press Restart, and return the card."""
    await ada.commands(HERE, "/nccl-dns 48213")
    report = await stage.report(HERE)
    await stage.idle()
    await restart(ada, HERE, report)
    return await stage.said(HERE, "Approve? node-8")


async def on(stage: Stage) -> set[str]:
    """Return what is switched on."""
    return {one.name for one in await stage.bot.desk.store.switches.on()}


async def test_anybody_pauses_and_an_approver_resumes(
    stage: Stage, slack: SlackServer, ada: Acting
) -> None:
    """What is approved meanwhile is refused with the reason; the card, Home and status show it."""
    card = await proposed(stage, ada)
    await ada.commands(HERE, "/nccl-dns pause somebody is *on* node-8 <!channel>")
    await stage.whispered(HERE, "ada", "Paused: no step that changes anything")
    await until(lambda: "Paused by @U0ENGINEER" in text_of(card))
    said = await stage.said(HERE, "No step that changes anything goes past its next boundary")
    assert said.thread_ts == card.thread_ts
    assert "S0APPROVER" in str(said.blocks)
    assert "<!channel>" not in said.text
    grace = slack.act_as("grace")
    await in_message(grace, HERE, card.ts, Press(action_id="approve"))
    refused = await stage.said(HERE, "Not done", "Paused since")
    assert refused.thread_ts == card.thread_ts
    store = stage.bot.desk.store
    runs = await store.step_runs.ended_since(stage.bot.desk.now() - timedelta(hours=1))
    assert [one.state for one in runs] == [RunState.REFUSED]
    assert not await store.step_runs.sendings(runs[0].id)

    grace.opens_home()
    await until(
        lambda: (
            "Paused" in str(slack.world.views[slack.world.homes[grace.id]].payload)
            if grace.id in slack.world.homes
            else None
        )
    )
    await ada.commands(HERE, "/nccl-dns status")
    await stage.whispered(HERE, "ada", "Open: 1", "Paused by")

    await ada.commands(HERE, "/nccl-dns resume it is fine")
    await stage.whispered(HERE, "ada", "An approver has to resume")
    assert await on(stage) == {"pause"}
    await grace.commands(HERE, "/nccl-dns resume he has logged out")
    await stage.whispered(HERE, "grace", "Steps may go on")
    assert not await on(stage)
    await stage.said(HERE, "Steps may go on", "by @U0APPROVER")
    deeds = [link.deed async for link in store.audit.links()]
    switched = [(one.what, one.who) for one in deeds if one.what.startswith("pause")]
    assert switched == [("pause_on", "U0ENGINEER"), ("pause_off", "U0APPROVER")]
    await stage.idle()
    replies = [one for one in stage.messages(HERE) if "goes past its next" in text_of(one)]
    assert len(replies) == 1


async def test_by_mention_in_the_thread(stage: Stage, slack: SlackServer, ada: Acting) -> None:
    """Slash commands do not work in threads: the words do, for pause and resume alike."""
    card = await proposed(stage, ada)
    thread = card.thread_ts
    assert thread
    ada.says(HERE, "@nccl-dns pause hold on", thread_ts=thread)
    await until(lambda: "Paused by @U0ENGINEER" in text_of(card))
    slack.act_as("grace").says(HERE, "@nccl-dns resume all well", thread_ts=thread)
    await until(lambda: "Paused by" not in text_of(card))
    assert not await on(stage)


async def test_not_where_no_incident_is(stage: Stage, slack: SlackServer, ada: Acting) -> None:
    """In another channel an engineer is told where to; an approver may pause anywhere."""
    await proposed(stage, ada)
    await ada.commands(ELSEWHERE, "/nccl-dns pause")
    await stage.whispered(ELSEWHERE, "ada", "No incident is open in this channel")
    assert not await on(stage)
    await slack.act_as("grace").commands(ELSEWHERE, "/nccl-dns pause")
    await stage.whispered(ELSEWHERE, "grace", "Paused")
    assert await on(stage) == {"pause"}


async def test_the_breaker_calls_a_person(stage: Stage, slack: SlackServer, ada: Acting) -> None:
    """It is said where a step waits, with why; an approver's resume closes it, and is kept."""
    card = await proposed(stage, ada)
    store, now = stage.bot.desk.store, stage.bot.desk.now()
    await store.switches.put(Switch(name=Name.BREAKER, on=True, reason="Two unknowns.", at=now))
    said = await stage.said(HERE, "The breaker is open", "Two unknowns", "goes past its next")
    assert said.thread_ts == card.thread_ts
    await until(lambda: "The breaker is open" in text_of(card))
    await slack.act_as("linus").commands(HERE, "/nccl-dns resume looked at both")
    await stage.said(HERE, "Steps may go on", "by @U0SECOND01")
    assert not await on(stage)
    deeds = [link.deed async for link in store.audit.links()]
    closed = next(one for one in deeds if one.what == "breaker_off")
    assert closed.who == "U0SECOND01"
    assert closed.digest


async def test_the_breaker_opens_before_a_step(
    stage: Stage, slack: SlackServer, ada: Acting
) -> None:
    """Clocks that differ speak against any step: an approved one is refused, and so the next."""
    card = await proposed(stage, ada)
    store, now = stage.bot.desk.store, stage.bot.desk.now()
    await store.audit.note(Deed(at=now + timedelta(hours=1), what="approved"))
    await in_message(slack.act_as("grace"), HERE, card.ts, Press(action_id="approve"))
    refused = await stage.said(HERE, "Not done", "ahead of this machine's clock")
    assert refused.thread_ts == card.thread_ts
    assert await on(stage) == {"breaker"}
    runs = await store.step_runs.ended_since(now - timedelta(hours=1))
    assert [one.state for one in runs] == [RunState.REFUSED]
    assert not await store.step_runs.sendings(runs[0].id)
    await stage.said(HERE, "The breaker is open", "goes past its next boundary")


async def test_three_vms_at_a_time(stage: Stage, slack: SlackServer, ada: Acting) -> None:
    """One finding on three VMs is hardly the fault of each; a person looks, and lets go on."""
    card = await proposed(stage, ada)
    store, now = stage.bot.desk.store, stage.bot.desk.now()
    found = [{"finding": "resolver_failed", "fleet_wide": False}]
    check = {"machines": [{"host": f"node-{n}", "findings": found} for n in (1, 2, 3)]}
    other = Incident(id=new_id(), key="another", opened_at=now, team="T0OTHER")
    await store.incidents.open(other)
    await store.incidents.keep_check(other.id, check, Entry(at=now, kind="checked"))
    await in_message(slack.act_as("grace"), HERE, card.ts, Press(action_id="approve"))
    await stage.said(HERE, "Not done", "have resolver failed at the same time")
    assert await on(stage) == {"breaker"}
    await slack.act_as("grace").commands(HERE, "/nccl-dns resume one bad image, it is known")
    await stage.said(HERE, "Steps may go on")
    again = await stage.report(HERE)
    await restart(ada, HERE, again)
    new = await until(
        lambda: next(
            (
                one
                for one in stage.messages(HERE)
                if one.ts != card.ts and "Approve? node-8" in text_of(one)
            ),
            None,
        )
    )
    await in_message(slack.act_as("grace"), HERE, new.ts, Press(action_id="approve"))
    await stage.said(HERE, "Done and proven: node-8", "systemd-resolved on node-8")
