"""Socket Mode: envelopes come in, are kept, and are acknowledged; deaf connections are replaced."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from slack_sdk.errors import SlackClientError
from slack_sdk.socket_mode.aiohttp import SocketModeClient
from slack_sdk.socket_mode.async_client import AsyncBaseSocketModeClient
from slack_sdk.socket_mode.request import SocketModeRequest
from slack_sdk.socket_mode.response import SocketModeResponse
from slack_sdk.web.async_client import AsyncWebClient

from bot.chat.errors import AwayError, ChatError, TokenError, of_slack
from bot.chat.intake import Intake, NotKeptError
from bot.network.telling import why
from bot.network.way import Network
from bot.network.with_aiohttp import session

_LOG = logging.getLogger(__name__)
PING_EVERY_S = 5.0
#: A connection on which nothing came and no ping was answered for so long is replaced.
SILENT_S = 30.0
_LOOK_EVERY_S = 1.0


class Socket:
    """The app's connection to Slack."""

    def __init__(
        self,
        token: str,
        intake: Intake,
        *,
        base_url: str = "",
        network: Network | None = None,
        silent_s: float = SILENT_S,
    ) -> None:
        self._network = network or Network()
        self._web = _client(token, base_url, self._network)
        self._token = token
        self._intake = intake
        self._silent = silent_s
        self._client: SocketModeClient | None = None
        self._heard = time.time()
        self._answering: set[asyncio.Task[Any]] = set()

    @property
    def silent_s(self) -> float:
        """Return for how long nothing has come and no ping was answered."""
        ping = (self._client.last_ping_pong_time if self._client else None) or 0.0
        return time.time() - max(self._heard, ping)

    async def open(self) -> None:
        """Connect; raises TokenError for a token that Slack does not take, AwayError."""
        made = _Connection(self._token, web_client=self._web, ping_interval=PING_EVERY_S)
        await made.use(self._network)
        client: SocketModeClient = made
        self._web.session = client.aiohttp_client_session
        try:
            await _asked(self._web, self._token)
        except ChatError:
            await client.close()
            raise
        client.socket_mode_request_listeners.append(self._take)
        self._client = client
        self._heard = time.time()
        await client.connect()

    async def keep_open(self) -> None:
        """Replace the connection whenever it has been silent for too long, for ever."""
        while True:
            await asyncio.sleep(_LOOK_EVERY_S)
            if self.silent_s < self._silent:
                continue
            _LOG.warning("nothing was heard of Slack for %.0f s: connecting anew", self.silent_s)
            self._heard = time.time()
            await self.hang_up()
            try:
                await self.open()
            except ChatError as error:
                _LOG.error("no connection to Slack: %s", error)

    async def close(self) -> None:
        """Finish the acknowledgements that were begun, then hang up."""
        if self._answering:
            await asyncio.wait(self._answering)
        await self.hang_up()

    async def hang_up(self) -> None:
        """Close the connection."""
        client, self._client = self._client, None
        if client is not None:
            with suppress(Exception):
                await client.close()

    async def _take(self, client: AsyncBaseSocketModeClient, request: SocketModeRequest) -> None:
        """Keep an envelope's payload, and acknowledge it if it is kept."""
        self._heard = time.time()
        me = asyncio.current_task()
        if me is not None:
            self._answering.add(me)
            me.add_done_callback(self._answering.discard)
        try:
            payload: Mapping[str, Any] = request.payload
            body = await self._intake.receive(request.type, payload)
            answer = SocketModeResponse(
                envelope_id=request.envelope_id, payload=dict(body) if body else None
            )
            await client.send_socket_mode_response(answer)
        except NotKeptError:
            return
        except ConnectionError as error:
            _LOG.warning("an acknowledgement was not sent, the delivery comes again: %s", error)


def _refusal(error: SlackClientError) -> ChatError:
    response = getattr(error, "response", None)
    told = getattr(response, "data", None)
    data: Mapping[str, Any] = told if isinstance(told, dict) else {}
    word = str(data.get("error", ""))
    if not word:
        return AwayError("Slack does not open a connection now; it is tried again.")
    found = of_slack("apps.connections.open", word, needed=str(data.get("needed", "")))
    if isinstance(found, TokenError):
        return TokenError(f"The app-level token (xapp-…, slack.app_token): {found}")
    return found


async def allowed(token: str, *, base_url: str = "", network: Network | None = None) -> None:
    """Ask whether a token may connect, without connecting; raises as `Socket.open`."""
    way = network or Network()
    web = _client(token, base_url, way)
    async with session(way) as web.session:
        await _asked(web, token)


class _Connection(SocketModeClient):
    """The library's client, on the product's network."""

    _network: Network

    async def use(self, network: Network) -> None:
        """Put the session of the network into the place of the library's own."""
        await self.aiohttp_client_session.close()
        self._network = network
        self.aiohttp_client_session = session(network)

    async def issue_new_wss_url(self) -> str:
        """Return where to connect, and choose the proxy for it."""
        url = await super().issue_new_wss_url()
        self.proxy = self._network.proxy_for(url)
        return url


def _client(token: str, base_url: str, network: Network) -> AsyncWebClient:
    made = AsyncWebClient(
        token=token,
        base_url=base_url or AsyncWebClient.BASE_URL,
        retry_handlers=[],
        ssl=network.trust,
    )
    # given to the constructor, none would mean the variable HTTPS_PROXY without NO_PROXY
    made.proxy = network.proxy_for(made.base_url)
    return made


async def _asked(web: AsyncWebClient, token: str) -> None:
    try:
        await web.apps_connections_open(app_token=token)
    except SlackClientError as error:
        raise _refusal(error) from error
    except Exception as error:
        said = why(error) or type(error).__name__
        raise AwayError(f"Slack is not reached ({said}).") from error
