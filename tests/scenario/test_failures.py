"""What goes wrong is told to the right person, nothing is lost, and the bot goes on."""

from __future__ import annotations

import asyncio
import sqlite3
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr

from bot.chat.errors import AwayError, TokenError
from bot.commands.serve import running
from bot.incidents.delivery import Delivery
from bot.incidents.ids import new_id
from bot.incidents.incident import Incident, paste_key
from bot.incidents.message import PARENT
from bot.incidents.store import open_store
from bot.settings import Settings, SettingsError
from playground.slack.acting import Acting
from playground.slack.server import SlackServer
from playground.slack.socket_mode import Hearing
from playground.slack.web import Outage
from tests.scenario.logs import PASTE, example
from tests.scenario.stage import Stage, bot, settings, text_of, until

pytestmark = pytest.mark.anyio
HERE = "training-oncall"


@pytest.mark.parametrize(
    ("name", "sentence"),
    [("bot_token", "Slack does not know the token"), ("app_token", "The app-level token")],
)
async def test_a_wrong_token(slack: SlackServer, tmp_path: Path, name: str, sentence: str) -> None:
    """At the start a wrong token is an error that names the setting to mend."""
    wrong: dict[str, Any] = {name: SecretStr("xoxb-not-this-one")}
    told = settings(slack, tmp_path, **wrong)
    with pytest.raises(TokenError, match=sentence):
        async with running(told, environ={}):
            pass


async def test_no_token(slack: SlackServer, tmp_path: Path) -> None:
    """Without a token, or without [slack], the error says which setting is missing."""
    with pytest.raises(SettingsError, match="SLACK_BOT_TOKEN"):
        async with running(settings(slack, tmp_path, bot_token=SecretStr("")), environ={}):
            pass
    with pytest.raises(SettingsError, match=r"\[slack\] is not set"):
        async with running(Settings(state_dir=tmp_path), environ={}):
            pass


async def test_slack_does_not_answer_for_a_while(
    stage: Stage, slack: SlackServer, ada: Acting
) -> None:
    """What was acknowledged while the Web API is away is done once it is back, once."""
    slack.web.outage = Outage.REFUSE
    await ada.commands(HERE, f"/nccl-dns {PASTE}")
    await until(lambda: stage.bot.intake.busy)
    assert not [one for one in stage.messages(HERE) if one.bot_id]
    await slack.come_back()
    await stage.report(HERE)
    await stage.idle()
    reports = [one for one in stage.messages(HERE) if one.bot_id and "Level 0" in text_of(one)]
    assert len(reports) == 1


async def test_slack_is_gone_and_comes_back(stage: Stage, slack: SlackServer, ada: Acting) -> None:
    """After an outage the connection is there again by itself, and the bot answers."""
    await slack.go_away()
    await slack.come_back()
    await until(lambda: slack.sockets.connections)
    await ada.commands(HERE, f"/nccl-dns {PASTE}")
    await stage.report(HERE)


async def test_a_dead_connection_is_replaced(
    stage: Stage, slack: SlackServer, ada: Acting, caplog: pytest.LogCaptureFixture
) -> None:
    """A connection that only looks open is noticed by its silence, logged, and replaced."""
    socket = stage.bot.socket
    assert socket is not None
    socket._silent = 6.0
    old = list(slack.sockets.connections)
    slack.sockets.deafen(Hearing.DEAD)
    slack.sockets.hearing = Hearing.OPEN
    await until(
        lambda: any(
            one not in old and one.hearing is Hearing.OPEN for one in slack.sockets.connections
        )
    )
    await until(lambda: not any(one in old for one in slack.sockets.connections))
    assert "nothing was heard of Slack for" in caplog.text
    await ada.commands(HERE, f"/nccl-dns {PASTE}")
    await stage.report(HERE)


async def test_a_lost_acknowledgement(stage: Stage, slack: SlackServer, ada: Acting) -> None:
    """What Slack delivers again because our answer got lost is done once."""
    slack.sockets.lose_acks = 1
    ada.says(HERE, f"@nccl-dns {PASTE}")
    await until(lambda: stage.bot.intake.counts["repeated"] == 1)
    await stage.report(HERE)
    await stage.idle()
    posted = [one for one in stage.messages(HERE) if one.bot_id]
    assert len([one for one in posted if "Level 0" in text_of(one)]) == 1
    assert stage.bot.intake.counts["received"] == 1


async def test_a_store_that_does_not_take_it(
    stage: Stage, slack: SlackServer, ada: Acting, tmp_path: Path
) -> None:
    """A delivery that is not kept is not acknowledged, so Slack brings it again, and then it is."""
    del slack
    holder = sqlite3.connect(
        tmp_path / "bot.db", isolation_level=None, timeout=30, check_same_thread=False
    )
    await asyncio.to_thread(holder.execute, "BEGIN IMMEDIATE")
    ada.says(HERE, f"@nccl-dns {PASTE}")
    await until(lambda: stage.bot.intake.counts["refused"])
    holder.execute("ROLLBACK")
    holder.close()
    await stage.report(HERE)


async def test_a_delivery_left_undone_is_taken_at_the_start(
    slack: SlackServer, ada: Acting, tmp_path: Path
) -> None:
    """What a process that died has acknowledged is done by the next one."""
    told = settings(slack, tmp_path)
    async with open_store(told.store_url) as store:
        now = await _asked(slack, ada)
        await store.deliveries.receive(now)
    async with bot(slack, told) as stage:
        await stage.report(HERE)
        await stage.idle()


async def _asked(slack: SlackServer, ada: Acting) -> Delivery:
    """Return a command as a process that has died meanwhile kept it."""
    payload = {
        "command": "/nccl-dns", "text": PASTE, "user_id": ada.id, "team_id": ada.person.team,
        "channel_id": slack.channel(HERE).id, "trigger_id": "1.2.3",
        "response_url": slack.world.new_response_url(ada.id, slack.channel(HERE).id),
    }  # fmt: skip
    return Delivery(
        id="slash_commands:1.2.3", type="slash_commands", payload=payload,
        received_at=slack.world.clock.now() - timedelta(minutes=2), taken_by="dead",
        taken_until=slack.world.clock.now() - timedelta(minutes=1), tries=1,
    )  # fmt: skip


async def test_a_crash_between_sending_and_noting_it(stage: Stage, slack: SlackServer) -> None:
    """A message that was posted though its row does not know is found, not posted again."""
    desk = stage.bot.desk
    channel = slack.channel(HERE).id
    opened = await desk.store.incidents.open(
        Incident(id=new_id(), key=paste_key("x"), opened_at=desk.now(), channel=channel)
    )
    row = await desk.store.messages.own(desk.row(opened.incident, PARENT))
    past = desk.now() - timedelta(minutes=2)
    claimed = await desk.store.messages.claim(
        row.id, by="dead", at=past, lease=timedelta(seconds=1)
    )
    assert claimed is not None
    made = await desk.outbox.renderer.render(claimed, desk.now())
    ts = await desk.chat.post(channel, made.message.of_row(row.id))
    found = await until_noted(stage, row.id)
    assert found == ts
    assert len([one for one in stage.messages(HERE) if one.bot_id]) == 1


async def test_nothing_waits_longer_the_longer_slack_was_away(
    stage: Stage, slack: SlackServer
) -> None:
    """However often a message was tried meanwhile, it is tried again seconds later, not minutes."""
    desk = stage.bot.desk
    opened = await desk.store.incidents.open(
        Incident(
            id=new_id(), key=paste_key("x"), opened_at=desk.now(), channel=slack.channel(HERE).id
        )
    )
    ours = replace(
        desk.row(opened.incident, PARENT),
        taken_by=desk.outbox.me, taken_until=desk.now() + timedelta(minutes=1), tries=8,
    )  # fmt: skip
    row = await desk.store.messages.own(ours)
    slack.web.outage = Outage.REFUSE
    with pytest.raises(AwayError):
        await desk.outbox._send(row)
    kept = await desk.store.messages.get(row.id)
    assert kept is not None
    assert kept.taken_until is not None
    assert kept.taken_until - desk.now() < timedelta(seconds=10)


async def test_of_two_copies_one_stays(stage: Stage, slack: SlackServer) -> None:
    """Where two replicas have posted one message, the copy of the later one is taken away."""
    desk = stage.bot.desk
    channel = slack.channel(HERE).id
    opened = await desk.store.incidents.open(
        Incident(id=new_id(), key=paste_key("x"), opened_at=desk.now(), channel=channel)
    )
    row = await desk.store.messages.own(desk.row(opened.incident, PARENT))
    claimed = await desk.store.messages.claim(
        row.id, by=desk.outbox.me, at=desk.now(), lease=timedelta(minutes=1)
    )
    assert claimed is not None
    made = await desk.outbox.renderer.render(claimed, desk.now())
    first = await desk.chat.post(channel, made.message.of_row(row.id))
    await desk.store.messages.sent(row.id, ts=first, at=desk.now(), shown=1)
    assert (await desk.outbox._send(claimed)).ts == first
    assert [one.ts for one in stage.messages(HERE) if one.bot_id] == [first]


async def until_noted(stage: Stage, row: str) -> str:
    """Wait until a row knows where its message stands, as the bot's own rounds find it."""
    for _ in range(3):
        await stage.bot.desk.outbox.catch_up()
        kept = await stage.bot.desk.store.messages.get(row)
        if kept is not None and kept.ts:
            return kept.ts
    raise AssertionError("The row never got its ts.")


async def test_a_download_that_leads_elsewhere(
    stage: Stage, slack: SlackServer, ada: Acting
) -> None:
    """The token is sent to Slack's file host alone: another address is refused."""
    slack.web.leads_to = "http://127.0.0.1:9/steal"
    asked = ada.shares(HERE, "job.log", example())
    await ada.takes_shortcut("diagnose_log", channel=HERE, ts=asked.ts)
    await stage.whispered(HERE, "ada", "not Slack's file host", "token goes nowhere else")


async def test_a_download_without_the_right_token(
    stage: Stage, slack: SlackServer, ada: Acting
) -> None:
    """A login page with status 200 is no log."""
    slack.web.leads_to = "/login"
    asked = ada.shares(HERE, "job.log", example())
    await ada.takes_shortcut("diagnose_log", channel=HERE, ts=asked.ts)
    await stage.whispered(HERE, "ada", "asked to sign in", "files:read")
