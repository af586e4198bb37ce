"""Prove that Socket Mode behaves as docs.slack.dev/apis/events-api/using-socket-mode says."""

from __future__ import annotations

import asyncio
import json
from contextlib import AsyncExitStack
from datetime import timedelta
from functools import partial

import aiohttp
import pytest
from slack_sdk.web.async_client import AsyncWebClient

from playground.slack.clock import HandClock
from playground.slack.server import SlackServer
from playground.slack.socket_mode import PING_EVERY, Hearing
from tests.behaviour.slack_playground.apps import Listener, listening
from tests.behaviour.slack_playground.asking import Json, bot_client, error, until

pytestmark = pytest.mark.anyio

CHANNEL = "C0TRAINING"
#: What the pages say, not what the workspace was built with.
ACK_WITHIN = timedelta(seconds=3)
RETRIES = (timedelta(0), timedelta(minutes=1), timedelta(minutes=5))
WARNING = timedelta(seconds=10)
MENTION = "@nccl-dns look"


async def address(slack: SlackServer) -> str:
    """Ask for the URL of a connection."""
    client = bot_client(slack, slack.app_token)
    return str((await client.apps_connections_open(app_token=slack.app_token))["url"])


async def test_a_connection_begins_with_hello(slack: SlackServer) -> None:
    """The first message says how many connections there are and how long this one lasts."""
    async with (
        aiohttp.ClientSession() as session,
        session.ws_connect(await address(slack)) as socket,
    ):
        hello = await socket.receive_json()
    assert hello["type"] == "hello"
    assert hello["num_connections"] == 1
    assert hello["debug_info"]["approximate_connection_time"] > 0


async def test_an_address_is_good_once(slack: SlackServer) -> None:
    """The URL of a connection cannot be used a second time."""
    url = await address(slack)
    async with aiohttp.ClientSession() as session:
        async with session.ws_connect(url):
            pass
        with pytest.raises(aiohttp.WSServerHandshakeError):
            await session.ws_connect(url)


async def test_an_event_is_an_envelope_and_comes_once_when_acknowledged(
    slack: SlackServer, clock: HandClock
) -> None:
    """A mention comes with its event id, is acknowledged, and never comes again."""
    async with listening(slack) as app:
        slack.act_as("ada").says(CHANNEL, MENTION)
        await until(lambda: app.events("app_mention"))
        await clock.advance(timedelta(minutes=10))
        (got,) = app.events("app_mention")
    assert got.payload["type"] == "event_callback"
    assert got.payload["event"]["text"] == f"<@{slack.world.bot.id}> look"
    assert got.payload["event_id"].startswith("Ev")
    assert (got.retry_attempt, got.retry_reason) == (0, "")


async def passed(clock: HandClock, wait: timedelta) -> None:
    """Let somebody's wait pass once they wait so long."""
    if wait:
        await until(lambda: wait in clock.waits())
        await clock.advance(wait)


def counts(app: Listener, number: int) -> bool:
    """Tell whether so many envelopes have come."""
    return len(app.got) == number


async def test_an_event_that_is_not_acknowledged_comes_three_times_more(
    slack: SlackServer, clock: HandClock
) -> None:
    """At once, after a minute and after five, numbered, with the reason, and then no more."""
    async with listening(slack, acks=False) as app:
        slack.act_as("ada").says(CHANNEL, MENTION)
        for number, wait in enumerate((timedelta(0), *RETRIES), start=1):
            await passed(clock, wait)
            await until(lambda: ACK_WITHIN in clock.waits())
            await until(partial(counts, app, number))
            await clock.advance(ACK_WITHIN)
        await clock.advance(timedelta(hours=1))
    assert [one.retry_attempt for one in app.got] == [0, 1, 2, 3]
    assert [one.retry_reason for one in app.got] == ["", "timeout", "timeout", "timeout"]
    assert len({one.payload["event_id"] for one in app.got}) == 1
    assert len({one.envelope_id for one in app.got}) == 4


async def test_a_late_acknowledgement_does_not_count(slack: SlackServer, clock: HandClock) -> None:
    """Three seconds are three seconds: what is acknowledged afterwards comes again."""
    async with listening(slack, acks=False) as app:
        slack.act_as("ada").says(CHANNEL, MENTION)
        await until(lambda: ACK_WITHIN in clock.waits())
        await clock.advance(ACK_WITHIN)
        app.acks = True
        await until(lambda: len(app.got) == 2)
    assert app.got[1].retry_attempt == 1


async def test_an_acknowledgement_can_get_lost(slack: SlackServer, clock: HandClock) -> None:
    """The app did everything right and gets the event once more, with the same event id."""
    slack.sockets.lose_acks = 1
    async with listening(slack) as app:
        slack.act_as("ada").says(CHANNEL, MENTION)
        await until(lambda: not slack.sockets.lose_acks)
        await clock.advance(ACK_WITHIN)
        await until(partial(counts, app, 2))
    assert app.got[0].payload["event_id"] == app.got[1].payload["event_id"]
    assert app.got[1].retry_attempt == 1


async def test_a_command_comes_once_and_is_answered_in_its_acknowledgement(
    slack: SlackServer,
) -> None:
    """The acknowledgement of a command may carry a message."""
    async with listening(slack) as app:
        app.payload = {"text": "on it", "response_type": "ephemeral"}
        outcome = await slack.act_as("ada").commands(CHANNEL, "/nccl-dns 48213")
    assert outcome.failed == ""
    assert app.got[0].type == "slash_commands"
    assert app.got[0].accepts_response_payload
    assert app.got[0].payload["text"] == "48213"
    assert [one.text for one in slack.channel(CHANNEL).ephemeral] == ["on it"]


async def test_a_command_that_nobody_acknowledges_fails_for_its_person(
    slack: SlackServer, clock: HandClock
) -> None:
    """Slack shows `operation_timeout` after three seconds and does not send it again."""
    async with listening(slack, acks=False) as app:
        asked = asyncio.ensure_future(slack.act_as("ada").commands(CHANNEL, "/nccl-dns x"))
        await until(lambda: app.got and ACK_WITHIN in clock.waits())
        await clock.advance(ACK_WITHIN)
        assert (await asked).failed == "timeout"
        await clock.advance(timedelta(minutes=10))
        assert len(app.got) == 1
    said = [one.text for one in slack.channel(CHANNEL).ephemeral]
    assert said == ['/nccl-dns failed with the error "operation_timeout"']


async def test_without_any_connection_a_command_fails_at_once(slack: SlackServer) -> None:
    """An app that is not running answers nothing, and the person sees it."""
    outcome = await slack.act_as("ada").commands(CHANNEL, "/nccl-dns x")
    assert outcome.failed == "connection_failed"
    said = [one.text for one in slack.channel(CHANNEL).ephemeral]
    assert said == ['/nccl-dns failed with the error "dispatch_failed"']


async def test_events_wait_for_an_app_that_comes_back(slack: SlackServer, clock: HandClock) -> None:
    """What happened while nobody was connected comes with the retry a minute later."""
    slack.act_as("ada").says(CHANNEL, MENTION)
    await until(lambda: timedelta(minutes=1) in clock.waits())
    async with listening(slack) as app:
        await clock.advance(timedelta(minutes=1))
        await until(lambda: app.events("app_mention"))
    assert app.got[0].retry_attempt == 2
    assert app.got[0].retry_reason == "connection_failed"


async def test_each_envelope_goes_to_one_of_several_connections(slack: SlackServer) -> None:
    """Two processes share the envelopes; none comes to both."""
    async with listening(slack) as one, listening(slack) as other:
        for number in range(20):
            slack.act_as("ada").says(CHANNEL, f"{MENTION} {number}")
        await until(lambda: len(one.got) + len(other.got) == 20)
        ids = [got.envelope_id for got in (*one.got, *other.got)]
    assert len(set(ids)) == 20
    assert one.got
    assert other.got


async def test_ten_connections_are_the_most(slack: SlackServer) -> None:
    """The eleventh is told `too_many_websockets` and closed."""
    async with AsyncExitStack() as stack:
        session = await stack.enter_async_context(aiohttp.ClientSession())
        for _ in range(10):
            await stack.enter_async_context(session.ws_connect(await address(slack)))
        await until(lambda: len(slack.sockets.connections) == 10)
        async with session.ws_connect(await address(slack)) as socket:
            goodbye = await socket.receive_json()
            assert (await socket.receive()).type is aiohttp.WSMsgType.CLOSE
    assert (goodbye["type"], goodbye["reason"]) == ("disconnect", "too_many_websockets")


async def test_a_connection_is_renewed_after_a_warning(
    slack: SlackServer, clock: HandClock
) -> None:
    """The client reconnects when it is warned, and goes on to get what comes."""
    async with listening(slack) as app:
        (old,) = slack.sockets.connections
        refresh = asyncio.ensure_future(slack.sockets.refresh())
        await until(lambda: WARNING in clock.waits())
        await until(lambda: [one for one in slack.sockets.connections if one is not old])
        await clock.advance(WARNING)
        await refresh
        assert [one["reason"] for one in old.sent if one["type"] == "disconnect"] == ["warning"]
        await until(lambda: slack.sockets.connections and old not in slack.sockets.connections)
        slack.act_as("ada").says(CHANNEL, MENTION)
        await until(lambda: app.events("app_mention"))


async def test_a_client_that_does_not_listen_to_warnings_is_cut_off(
    slack: SlackServer, clock: HandClock
) -> None:
    """Ten seconds after the warning the connection ends, with the reason."""
    async with (
        aiohttp.ClientSession() as session,
        session.ws_connect(await address(slack)) as socket,
    ):
        await socket.receive_json()
        refresh = asyncio.ensure_future(slack.sockets.refresh())
        await until(lambda: WARNING in clock.waits())
        await clock.advance(WARNING)
        reasons = [(await socket.receive_json())["reason"] for _ in range(2)]
        assert (await socket.receive()).type is aiohttp.WSMsgType.CLOSE
        await refresh
    assert reasons == ["warning", "refresh_requested"]


async def test_a_deaf_connection_answers_pings_and_nothing_else(
    slack: SlackServer, clock: HandClock
) -> None:
    """The worst fault of Socket Mode: it looks alive, and no envelope ever comes."""
    async with listening(slack) as app:
        await until(lambda: app.client.last_ping_pong_time)
        slack.sockets.deafen()
        before = app.client.last_ping_pong_time
        socket = app.client.current_session
        assert socket is not None
        await socket.ping(b"sdk-ping-pong:9999999999")
        await until(lambda: app.client.last_ping_pong_time != before)
        slack.act_as("ada").says(CHANNEL, MENTION)
        await until(lambda: ACK_WITHIN in clock.waits())
        await clock.advance(ACK_WITHIN)
        assert app.got == []
        slack.sockets.deafen(Hearing.OPEN)
        await until(lambda: app.events("app_mention") or ACK_WITHIN in clock.waits())
        await clock.advance(timedelta(minutes=2))
        await until(lambda: app.events("app_mention"))
        assert app.got[0].retry_reason == "timeout"


async def test_a_dead_connection_answers_no_ping(slack: SlackServer) -> None:
    """Pings tell a dead connection from a deaf one."""
    async with (
        aiohttp.ClientSession() as session,
        session.ws_connect(await address(slack), autoping=False) as socket,
    ):
        await socket.receive_json()
        await socket.ping(b"one")
        assert (await socket.receive()).data == b"one"
        slack.sockets.deafen(Hearing.DEAD)
        await socket.ping(b"two")
        await until(lambda: slack.sockets.connections[0].pings == 2)
        slack.sockets.deafen(Hearing.OPEN)
        await socket.ping(b"three")
        assert (await socket.receive()).data == b"three"


async def test_slack_pings_too(slack: SlackServer, clock: HandClock) -> None:
    """Every now and then the server asks whether the client is there."""
    async with (
        aiohttp.ClientSession() as session,
        session.ws_connect(await address(slack), autoping=False) as socket,
    ):
        await socket.receive_json()
        await until(lambda: PING_EVERY in clock.waits())
        await clock.advance(PING_EVERY)
        assert (await socket.receive()).type is aiohttp.WSMsgType.PING


async def test_what_is_no_acknowledgement_is_passed_over(
    slack: SlackServer, clock: HandClock
) -> None:
    """Nonsense from a client neither ends the connection nor counts as an answer."""
    async with (
        aiohttp.ClientSession() as session,
        session.ws_connect(await address(slack)) as socket,
    ):
        await socket.receive_json()
        asked = asyncio.ensure_future(slack.act_as("ada").commands(CHANNEL, "/nccl-dns x"))
        envelope: Json = await socket.receive_json()
        for nonsense in ("{", "[]", "{}", json.dumps({"envelope_id": "other"})):
            await socket.send_str(nonsense)
        await socket.send_json({"envelope_id": envelope["envelope_id"]})
        assert (await asked).failed == ""
        assert clock.waits() == [PING_EVERY]


async def test_an_app_gets_only_what_it_asked_for_and_may_have(slack: SlackServer) -> None:
    """No subscription, no scope, not in the channel: no event."""
    async with listening(slack) as app:
        ada = slack.act_as("ada")
        ada.says(CHANNEL, "message.channels is not subscribed to")
        ada.says("general", MENTION)
        ada.reacts(CHANNEL, ada.says(CHANNEL, "not subscribed to, either").ts, "eyes")
        ada.says("@", "hello")
        await until(lambda: app.events("message"))
        assert [one.payload["event"]["channel_type"] for one in app.got] == ["im"]


async def test_during_an_outage_nothing_is_answered_and_sockets_end(
    slack: SlackServer,
) -> None:
    """Slack itself can be away; afterwards the client finds its way back by itself."""
    async with listening(slack, ping_interval=0.5):
        await slack.go_away()
        with pytest.raises(aiohttp.ClientError):
            await bot_client(slack).auth_test()
        await slack.come_back()
        await until(lambda: slack.sockets.connections)


async def test_a_token_without_connections_write_gets_no_address(slack: SlackServer) -> None:
    """The app-level token, too, has scopes (methods/apps.connections.open)."""
    slack.narrow("connections:write", token=slack.app_token)
    client = AsyncWebClient(base_url=slack.api_url, retry_handlers=[])
    asked = client.apps_connections_open(app_token=slack.app_token)
    assert await error(asked) == "missing_scope"
