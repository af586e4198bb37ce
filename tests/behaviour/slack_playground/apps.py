"""Connect real clients of Slack's to a workspace."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from slack_bolt.adapter.socket_mode.aiohttp import AsyncSocketModeHandler
from slack_bolt.async_app import AsyncApp
from slack_sdk.socket_mode.aiohttp import SocketModeClient
from slack_sdk.socket_mode.async_client import AsyncBaseSocketModeClient
from slack_sdk.socket_mode.request import SocketModeRequest
from slack_sdk.socket_mode.response import SocketModeResponse
from slack_sdk.web.async_client import AsyncWebClient

from playground.slack.server import SlackServer
from tests.behaviour.slack_playground.asking import bot_client, until


@dataclass(kw_only=True)
class Listener:
    """An app that only notes what it gets, and acknowledges it unless told not to."""

    client: SocketModeClient
    acks: bool = True
    #: what to acknowledge with
    payload: dict[str, object] | None = None
    got: list[SocketModeRequest] = field(default_factory=list)

    async def take(self, client: AsyncBaseSocketModeClient, request: SocketModeRequest) -> None:
        """Note an envelope."""
        self.got.append(request)
        if self.acks:
            answer = SocketModeResponse(envelope_id=request.envelope_id, payload=self.payload)
            await client.send_socket_mode_response(answer)

    def events(self, kind: str) -> list[SocketModeRequest]:
        """Return the events of a kind."""
        return [
            one
            for one in self.got
            if one.type == "events_api" and one.payload["event"]["type"] == kind
        ]


@asynccontextmanager
async def listening(
    slack: SlackServer, *, acks: bool = True, ping_interval: float = 5
) -> AsyncIterator[Listener]:
    """Connect a client that notes what it gets."""
    connected = len(slack.sockets.connections)
    web = AsyncWebClient(base_url=slack.api_url, retry_handlers=[])
    client = SocketModeClient(
        app_token=slack.app_token, web_client=web, ping_interval=ping_interval
    )
    listener = Listener(client=client, acks=acks)
    client.socket_mode_request_listeners.append(listener.take)
    await client.connect()
    try:
        await until(lambda: len(slack.sockets.connections) > connected)
        yield listener
    finally:
        await client.close()


@asynccontextmanager
async def bolt(slack: SlackServer) -> AsyncIterator[AsyncApp]:
    """Connect a bolt app by Socket Mode; its listeners may be added afterwards."""
    app = AsyncApp(client=bot_client(slack), raise_error_for_unhandled_request=False)
    handler = AsyncSocketModeHandler(app, slack.app_token)
    await handler.connect_async()
    try:
        await until(lambda: slack.sockets.connections)
        yield app
    finally:
        await handler.close_async()
