"""Guests, people of other workspaces, bots and other installations: refused by every way in."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable

import pytest

from playground.slack.acting import Acting
from playground.slack.clicking import Press, in_message
from playground.slack.model import Message
from playground.slack.server import SlackServer
from playground.slack.workspace import APP_ID, TEAM
from tests.scenario.logs import PASTE, example
from tests.scenario.stage import Stage, text_of, until

pytestmark = pytest.mark.anyio
HERE = "shared-with-vendor"
REFUSED = {"guest": "I answer full members", "stranger": "I answer members of the workspace"}


async def by_command(who: Acting, report: Message) -> None:
    """Use the slash command."""
    del report
    await who.commands(HERE, f"/nccl-dns {PASTE}\nmine")


async def by_mention(who: Acting, report: Message) -> None:
    """Mention the bot in the channel."""
    del report
    who.says(HERE, f"@nccl-dns {PASTE}\nmine")


async def by_mention_in_the_thread(who: Acting, report: Message) -> None:
    """Mention the bot in a thread of its own."""
    who.says(HERE, f"@nccl-dns {PASTE}\nmine", thread_ts=report.ts)


async def by_file(who: Acting, report: Message) -> None:
    """Share a file in a thread of the bot's."""
    who.shares(HERE, "mine.log", example(), thread_ts=report.ts)


async def by_button(who: Acting, report: Message) -> None:
    """Press a button of the report."""
    await in_message(who, HERE, report.ts, Press(action_id="restart"))


async def by_overflow(who: Acting, report: Message) -> None:
    """Choose from the report's menu what would end the incident."""
    more = next(
        one for block in report.blocks for one in block.get("elements", ())
        if one.get("action_id") == "more"
    )  # fmt: skip
    values = [one["value"] for one in more["options"]]
    dismiss = next(one for one in values if one.startswith("dismiss"))
    await in_message(who, HERE, report.ts, Press(action_id="more", value=dismiss))


async def by_shortcut(who: Acting, report: Message) -> None:
    """Take the shortcut on a message."""
    await who.takes_shortcut("diagnose_log", channel=HERE, ts=report.ts)


Way = Callable[[Acting, Message], Awaitable[None]]
WAYS = (
    by_command, by_mention, by_mention_in_the_thread, by_file, by_button, by_overflow, by_shortcut,
)  # fmt: skip
#: Slack offers an app's commands and shortcuts to people of its workspace alone.
OWN = {by_command, by_shortcut}
CASES = [(w, way) for w in REFUSED for way in WAYS if w == "guest" or way not in OWN]


@pytest.mark.parametrize(("who", "way"), CASES, ids=[f"{w}-{way.__name__}" for w, way in CASES])
async def test_by_every_way_in(stage: Stage, slack: SlackServer, who: str, way: Way) -> None:
    """They are told why, once and privately; nothing is read, changed or said to others."""
    await slack.act_as("ada").commands(HERE, f"/nccl-dns {PASTE}")
    report = await stage.report(HERE)
    await stage.idle()
    before = [(one.ts, text_of(one)) for one in stage.messages(HERE) if one.bot_id]
    person = slack.act_as(who)
    await way(person, report)
    await stage.whispered(HERE, who, REFUSED[who])
    await stage.idle()
    assert len(stage.whispers(HERE, who)) == 1
    assert [(one.ts, text_of(one)) for one in stage.messages(HERE) if one.bot_id] == before
    opened = await stage.bot.desk.store.incidents.still_open()
    assert [one.asked_by for one in opened] == [slack.person("ada").id]


async def test_on_the_home_tab(stage: Stage, slack: SlackServer) -> None:
    """A guest's tab holds the reason alone; no message piles up at each opening."""
    await slack.act_as("ada").commands(HERE, f"/nccl-dns {PASTE}")
    await stage.report(HERE)
    guest = slack.act_as("guest")
    for _ in range(2):
        guest.opens_home()
        await until(lambda: slack.world.homes.get(guest.id))
        await stage.idle()
    home = str(slack.world.views[slack.world.homes[guest.id]].payload)
    assert REFUSED["guest"] in home
    assert "Open" not in home
    assert not [one for one in slack.world.direct(guest.id).messages.values() if one.bot_id]


async def test_in_a_direct_message(stage: Stage, slack: SlackServer) -> None:
    """A guest who writes to the bot is answered with the reason."""
    guest = slack.act_as("guest")
    guest.says("@", PASTE)
    channel = slack.world.direct(guest.id).id
    await stage.said(channel, REFUSED["guest"])
    await stage.idle()
    assert not await stage.bot.desk.store.incidents.still_open()


async def test_bots_are_not_answered(stage: Stage, slack: SlackServer) -> None:
    """Two bots that answer each other would never end: another bot gets no word."""
    slack.act_as("deploybot").says("training-oncall", f"@nccl-dns {PASTE}")
    await until(lambda: stage.bot.intake.counts["received"])
    await stage.idle()
    assert not [one for one in stage.messages("training-oncall") if one.app_id == APP_ID]
    assert not await stage.bot.desk.store.incidents.still_open()


async def test_an_event_of_another_workspace(
    stage: Stage, slack: SlackServer, caplog: pytest.LogCaptureFixture
) -> None:
    """What Slack delivers for another installation is dropped, with a line in the log."""
    ada = slack.act_as("ada")
    event = {
        "type": "app_mention", "user": ada.id, "text": f"<@U0BOT> {PASTE}", "ts": "1.1",
        "channel": slack.channel("training-oncall").id, "team": "T0ELSEWHER",
    }  # fmt: skip
    payload = {
        "type": "event_callback", "team_id": "T0ELSEWHER", "event_id": "Ev1", "event": event,
        "authorizations": [{"team_id": "T0ELSEWHER", "is_enterprise_install": False}],
    }  # fmt: skip
    with caplog.at_level(logging.WARNING):
        await stage.bot.intake.receive("events_api", payload)
        await stage.idle()
    assert (
        f"an event of workspace T0ELSEWHER was dropped: the bot token is for {TEAM}" in caplog.text
    )
    assert not stage.messages("training-oncall")
    assert not await stage.bot.desk.store.incidents.still_open()
    assert await stage.bot.desk.store.deliveries.undone() == 0
