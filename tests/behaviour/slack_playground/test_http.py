"""Prove the other way to an app: requests over HTTP with a signature.

Source: docs.slack.dev/authentication/verifying-requests-from-slack and docs.slack.dev/apis/
events-api.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer
from slack_bolt.adapter.aiohttp import to_aiohttp_response, to_bolt_request
from slack_bolt.async_app import AsyncAck, AsyncApp

from playground.slack.app import AppConfig
from playground.slack.clock import HandClock
from playground.slack.http_out import HttpTransport
from playground.slack.seed import BOT_TOKEN
from playground.slack.server import SIGNING_SECRET, SlackServer, running
from tests.behaviour.slack_playground.asking import Json, bot_client, until

pytestmark = pytest.mark.anyio

CHANNEL = "C0TRAINING"
#: What the pages say, not what the workspace was built with.
ACK_WITHIN = timedelta(seconds=3)
RETRIES = (timedelta(0), timedelta(minutes=1), timedelta(minutes=5))
OVER_HTTP = AppConfig(socket_mode=False)

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


@asynccontextmanager
async def app_at(handler: Handler, clock: HandClock | None = None) -> AsyncIterator[SlackServer]:
    """Serve an app and run a workspace that sends to it."""
    served = web.Application()
    served.router.add_post("/slack/events", handler)
    async with TestServer(served) as server:
        url = str(server.make_url("/slack/events"))
        async with running(app=OVER_HTTP, clock=clock, request_url=url) as slack:
            yield slack


def transport(slack: SlackServer) -> HttpTransport:
    """Return the workspace's way to the app."""
    assert slack.http is not None
    return slack.http


def bolt_handler(app: AsyncApp) -> Handler:
    """Return a handler that hands requests to bolt, which checks their signatures."""

    async def handler(request: web.Request) -> web.StreamResponse:
        answer = await app.async_dispatch(await to_bolt_request(request))
        return await to_aiohttp_response(answer)

    return handler


@dataclass(kw_only=True)
class Endpoint:
    """An app that notes requests and answers with the next of some statuses."""

    statuses: list[int] = field(default_factory=list)
    headers: dict[str, str] = field(default_factory=dict)
    got: list[web.Request] = field(default_factory=list)
    bodies: list[bytes] = field(default_factory=list)
    #: answers wait for this
    open: asyncio.Event = field(default_factory=asyncio.Event)

    async def take(self, request: web.Request) -> web.StreamResponse:
        """Take a request."""
        self.got.append(request)
        self.bodies.append(await request.read())
        await self.open.wait()
        status = self.statuses.pop(0) if self.statuses else 200
        return web.Response(status=status, headers=self.headers)

    def header(self, name: str) -> list[str]:
        """Return one header of every request."""
        return [one.headers.get(name, "") for one in self.got]


async def test_bolt_takes_what_is_signed_and_refuses_the_rest() -> None:
    """A right signature passes; a forged, an old and an early one do not."""
    events: list[Json] = []
    app = AsyncApp(signing_secret=SIGNING_SECRET, token=BOT_TOKEN)

    @app.event("app_mention")
    async def mentioned(event: Json) -> None:
        events.append(event)

    async with app_at(bolt_handler(app)) as slack:
        app.client.base_url = slack.api_url
        sender = transport(slack)
        slack.act_as("ada").says(CHANNEL, "@nccl-dns look")
        await until(lambda: events)
        (taken,) = sender.sent

        taken.headers["X-Slack-Signature"] = "v0=" + "0" * 64
        assert (await sender.post(taken)).failed == "http_error"
        for minutes in (-6, 6):
            sender.skew = timedelta(minutes=minutes)
            outcome = await sender.send("events_api", {"type": "event_callback"})
            assert outcome.failed == "http_error"
        sender.secret = "another"  # noqa: S105
        sender.skew = timedelta(0)
        assert not await sender.verify()
        sender.secret = SIGNING_SECRET
        assert await sender.verify()
    assert len(events) == 1


async def test_commands_and_interactions_are_forms() -> None:
    """A command's fields and an interaction's payload arrive, and the answer's body is read."""
    app = AsyncApp(signing_secret=SIGNING_SECRET, token=BOT_TOKEN)
    shortcuts: list[Json] = []

    @app.command("/nccl-dns")
    async def command(ack: AsyncAck, body: Json) -> None:
        await ack(f"You said {body['text']}")

    @app.shortcut("diagnose_log")
    async def shortcut(ack: AsyncAck, body: Json) -> None:
        await ack()
        shortcuts.append(body)

    async with app_at(bolt_handler(app)) as slack:
        app.client.base_url = slack.api_url
        ada = slack.act_as("ada")
        await ada.commands(CHANNEL, "/nccl-dns <48213> & more")
        (said,) = slack.channel(CHANNEL).ephemeral
        assert said.text == "You said <48213> & more"
        message = ada.says(CHANNEL, "log")
        await ada.takes_shortcut("diagnose_log", channel=CHANNEL, ts=message.ts)
    assert shortcuts[0]["message"]["text"] == "log"


async def test_an_event_comes_again_with_number_and_reason(clock: HandClock) -> None:
    """An error, then silence, then an error again: each retry says why it comes."""
    app = Endpoint(statuses=[500, 200, 500, 200])
    app.open.set()
    async with app_at(app.take, clock) as slack:
        slack.act_as("ada").says(CHANNEL, "@nccl-dns look")
        await until(lambda: len(app.got) == 2)
        app.open.clear()
        slack.act_as("ada").says(CHANNEL, "@nccl-dns again")
        await until(lambda: len(app.got) == 3 and ACK_WITHIN in clock.waits())
        await clock.advance(ACK_WITHIN)
        await until(lambda: len(app.got) == 4 and ACK_WITHIN in clock.waits())
        await clock.advance(ACK_WITHIN)
        app.open.set()
        await until(lambda: RETRIES[1] in clock.waits())
        await clock.advance(RETRIES[1])
        await until(lambda: len(app.got) == 5)
    assert app.header("X-Slack-Retry-Num") == ["", "1", "", "1", "2"]
    reasons = ["", "http_error", "", "http_timeout", "http_timeout"]
    assert app.header("X-Slack-Retry-Reason") == reasons


async def test_an_app_can_ask_not_to_be_told_again(clock: HandClock) -> None:
    """`X-Slack-No-Retry: 1` with an error ends it (apis/events-api, «Turning retries off»)."""
    app = Endpoint(statuses=[500], headers={"X-Slack-No-Retry": "1"})
    app.open.set()
    async with app_at(app.take, clock) as slack:
        slack.act_as("ada").says(CHANNEL, "@nccl-dns look")
        await until(lambda: app.got)
        await clock.advance(timedelta(hours=1))
        await until(lambda: not clock.waits())
    assert len(app.got) == 1


async def test_nobody_at_the_address_is_a_failed_connection(clock: HandClock) -> None:
    """An app that is down is told later, and its person at once."""
    app = Endpoint()
    # A port that is taken, where nobody listens.
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        await unreachable(app, clock, f"http://127.0.0.1:{taken.getsockname()[1]}/")


async def unreachable(app: Endpoint, clock: HandClock, url: str) -> None:
    """Send to an address where nobody is."""
    async with app_at(app.take, clock) as slack:
        sender = transport(slack)
        sender.url = url
        outcome = await slack.act_as("ada").commands(CHANNEL, "/nccl-dns x")
        assert outcome.failed == "connection_failed"
        assert not await sender.verify()
        client = bot_client(slack)
        assert (await client.auth_test())["ok"]


async def test_a_request_can_be_replayed_as_it_was(clock: HandClock) -> None:
    """What was sent is kept with its headers, so that a test may send it again."""
    app = Endpoint()
    app.open.set()
    async with app_at(app.take, clock) as slack:
        slack.act_as("ada").says(CHANNEL, "@nccl-dns look")
        await until(lambda: app.got)
        await transport(slack).post(transport(slack).sent[0])
    assert app.bodies[0] == app.bodies[1]
    assert len(set(app.header("X-Slack-Signature"))) == 1
