"""Prove which events an app gets of what happens in its channels.

Source: docs.slack.dev/reference/events and the page of each event.
"""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from playground.slack.app import AppConfig
from playground.slack.clock import HandClock
from playground.slack.server import SlackServer, running
from tests.behaviour.slack_playground.apps import listening
from tests.behaviour.slack_playground.asking import bot_client, error, until

pytestmark = pytest.mark.anyio

CHANNEL = "C0TRAINING"
EVERYTHING = AppConfig(
    events=frozenset(
        {
            "app_mention", "message.channels", "message.groups", "message.im", "file_shared",
            "reaction_added", "member_joined_channel", "app_home_opened",
        }
    )
)  # fmt: skip


@pytest.fixture
async def slack(clock: HandClock) -> AsyncIterator[SlackServer]:
    """Return a workspace whose app hears everything it can."""
    async with running(app=EVERYTHING, clock=clock, rates_on=False) as server:
        yield server


async def test_the_life_of_a_message(slack: SlackServer) -> None:
    """Posted, changed and taken away: three events, the last two with what was before."""
    async with listening(slack) as app:
        client = bot_client(slack)
        posted = await client.chat_postMessage(channel=CHANNEL, text="one")
        await client.chat_update(channel=CHANNEL, ts=posted["ts"], text="two")
        await client.chat_delete(channel=CHANNEL, ts=posted["ts"])
        await until(lambda: len(app.events("message")) == 3)
    first, changed, gone = sorted(
        (one.payload["event"] for one in app.got), key=lambda event: float(event["event_ts"])
    )
    assert (first["text"], first["bot_id"]) == ("one", "B0PLAY0001")
    assert changed["subtype"] == "message_changed"
    assert (changed["previous_message"]["text"], changed["message"]["text"]) == ("one", "two")
    assert gone["subtype"] == "message_deleted"
    assert gone["deleted_ts"] == posted["ts"]


async def test_a_mention_is_two_events(slack: SlackServer) -> None:
    """An app that hears messages and mentions gets both, with one ts and different ids."""
    async with listening(slack) as app:
        slack.act_as("ada").says(CHANNEL, "@nccl-dns look")
        await until(lambda: len(app.got) == 2)
    both = [one.payload for one in app.got]
    assert {one["event"]["type"] for one in both} == {"message", "app_mention"}
    assert len({one["event"]["ts"] for one in both}) == 1
    assert len({one["event_id"] for one in both}) == 2


async def test_a_file_is_a_message_and_an_event_of_its_own(slack: SlackServer) -> None:
    """`file_shared` has the ids alone; the thread it was shared in stands in `files.info`."""
    ada = slack.act_as("ada")
    parent = ada.says("incident-room", "job 48213")
    async with listening(slack) as app:
        shared = ada.shares("incident-room", "job.log", b"gai", thread_ts=parent.ts)
        await until(lambda: app.events("file_shared") and app.events("message"))
    event = app.events("file_shared")[0].payload["event"]
    assert (event["file_id"], event["channel_id"]) == (shared.files[0], "C0PRIVATE1")
    message = app.events("message")[0].payload["event"]
    assert (message["subtype"], message["channel_type"]) == ("file_share", "group")
    info = (await bot_client(slack).files_info(file=event["file_id"]))["file"]
    assert info["shares"]["private"]["C0PRIVATE1"][0]["thread_ts"] == parent.ts


async def test_a_file_of_another_workspace_has_to_be_asked_for(slack: SlackServer) -> None:
    """In a shared channel a stranger's file comes as a stub (docs.slack.dev/apis/slack-connect)."""
    async with listening(slack) as app:
        slack.act_as("stranger").shares("shared-with-vendor", "a.log", b"x")
        await until(lambda: app.events("message"))
    (file,) = app.events("message")[0].payload["event"]["files"]
    assert file["file_access"] == "check_file_info"
    assert "url_private" not in file


async def test_reactions_and_members(slack: SlackServer) -> None:
    """Both name who, where and to what."""
    ada = slack.act_as("ada")
    message = ada.says(CHANNEL, "x")
    async with listening(slack) as app:
        ada.reacts(CHANNEL, message.ts, "eyes")
        ada.invites_bot("general")
        await until(lambda: app.events("reaction_added") and app.events("member_joined_channel"))
    reaction = app.events("reaction_added")[0].payload["event"]
    assert reaction["item"] == {"type": "message", "channel": CHANNEL, "ts": message.ts}
    joined = app.events("member_joined_channel")[0].payload["event"]
    assert (joined["user"], joined["inviter"]) == (slack.world.bot.id, ada.id)


async def test_direct_messages_need_their_scope(clock: HandClock) -> None:
    """Subscribed is not enough: without `im:history` there is no `message.im`."""
    without = AppConfig(scopes=EVERYTHING.scopes - {"im:history"}, events=EVERYTHING.events)
    async with running(app=without, clock=clock) as slack, listening(slack) as app:
        ada = slack.act_as("ada")
        ada.says("@", "psst")
        ada.opens_home()
        await until(lambda: app.events("app_home_opened"))
        assert app.events("message") == []


async def test_an_app_without_a_messages_tab_gets_no_direct_messages(clock: HandClock) -> None:
    """Posting to a person is refused when the app's Messages tab is off."""
    async with running(app=AppConfig(messages_tab=False), clock=clock) as slack:
        posted = bot_client(slack).chat_postMessage(channel="U0ENGINEER", text="x")
        # docs.slack.dev/reference/methods/chat.postMessage
        assert await error(posted) == "messages_tab_disabled"


async def test_turning_socket_mode_off_ends_the_connections(slack: SlackServer) -> None:
    """The last word is `link_disabled` (apis/events-api/using-socket-mode)."""
    async with listening(slack):
        (connection,) = slack.sockets.connections
        await slack.sockets.close("link_disabled")
        assert connection.sent[-1]["reason"] == "link_disabled"
