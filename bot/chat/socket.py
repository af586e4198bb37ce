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

_LOG = logging.getLogger(__name__)
PING_EVERY_S = 5.0
#: A connection on which nothing came and no ping was answered for so long is replaced.
SILENT_S = 30.0
_LOOK_EVERY_S = 1.0


class Socket:
    """The app's connection to Slack."""

    def __init__(
        self, token: str, intake: Intake, *, base_url: str = "", silent_s: float = SILENT_S
    ) -> None:
        self._web = _client(token, base_url)
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
        await _asked(self._web, self._token)
        client = SocketModeClient(
            self._token, web_client=self._web, ping_interval=PING_EVERY_S,
        )  # fmt: skip
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


async def allowed(token: str, *, base_url: str = "") -> None:
    """Ask whether a token may connect, without connecting; raises as `Socket.open`."""
    await _asked(_client(token, base_url), token)


def _client(token: str, base_url: str) -> AsyncWebClient:
    return AsyncWebClient(
        token=token, base_url=base_url or AsyncWebClient.BASE_URL, retry_handlers=[]
    )


async def _asked(web: AsyncWebClient, token: str) -> None:
    try:
        await web.apps_connections_open(app_token=token)
    except SlackClientError as error:
        raise _refusal(error) from error
    except Exception as error:
        raise AwayError(f"Slack is not reached ({type(error).__name__}).") from error
