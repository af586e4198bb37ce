"""Socket Mode: WebSocket connections, envelopes and their acknowledgements.

Source: docs.slack.dev/apis/events-api/using-socket-mode and …/reference/methods/
apps.connections.open.
"""

from __future__ import annotations

import asyncio
import enum
import json
import random
import secrets
import uuid
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import timedelta

from aiohttp import WSMsgType, web

from playground.slack.clock import Clock
from playground.slack.delivery import ACK_WITHIN, Outcome, Retry, within
from playground.slack.kit.rules import Json
from playground.slack.workspace import APP_ID

#: Connections that one app may have at once.
CONNECTIONS_MOST = 10
#: Between the warning and the end of a connection.
WARNING = timedelta(seconds=10)
#: How long a connection is said to last.
LASTS = timedelta(hours=5)
#: Slack pings its connections, too.
PING_EVERY = timedelta(seconds=30)


class Hearing(enum.Enum):
    """What still works of a connection."""

    OPEN = "everything"
    DEAF = "pings are answered, nothing else comes"
    DEAD = "the connection is open, and that is all"


@dataclass(kw_only=True, eq=False)
class Connection:
    """One open WebSocket."""

    id: str
    socket: web.WebSocketResponse
    hearing: Hearing = Hearing.OPEN
    #: envelopes sent on it, the newest last
    sent: list[Json] = field(default_factory=list)
    #: pings that came, answered or not
    pings: int = 0

    async def tell(self, message: Json) -> None:
        """Send a message, unless the connection only looks open."""
        if self.hearing is Hearing.OPEN and not self.socket.closed:
            self.sent.append(message)
            with suppress(ConnectionError):
                await self.socket.send_str(json.dumps(message))


@dataclass(kw_only=True)
class SocketMode:
    """All connections of the app."""

    clock: Clock
    connections: list[Connection] = field(default_factory=list)
    #: what new connections start as
    hearing: Hearing = Hearing.OPEN
    #: so many of the next acknowledgements get lost, as if the app had never sent them
    lose_acks: int = 0
    #: called when the app has connected or hung up
    changed: Callable[[], None] = field(default=lambda: None)
    _tickets: set[str] = field(default_factory=set)
    _waiting: dict[str, asyncio.Future[Json]] = field(default_factory=dict)
    #: Slack sends each envelope to one connection, no telling which.
    _dice: random.Random = field(default_factory=lambda: random.Random(4))  # noqa: S311

    def address(self, base: str) -> str:
        """Return a URL to connect to once."""
        ticket = secrets.token_urlsafe(24)
        self._tickets.add(ticket)
        return f"{base}/link/?ticket={ticket}&app_id={APP_ID}"

    async def serve(self, request: web.Request) -> web.StreamResponse:
        """Serve one connection until its end."""
        ticket = request.query.get("ticket", "")
        if ticket not in self._tickets:
            return web.Response(status=400, text="invalid ticket")
        self._tickets.discard(ticket)
        socket = web.WebSocketResponse(autoping=False)
        await socket.prepare(request)
        connection = Connection(id=secrets.token_hex(4), socket=socket)
        if len(self.connections) >= CONNECTIONS_MOST:
            await connection.tell(self._goodbye("too_many_websockets"))
            await socket.close()
            return socket
        self.connections.append(connection)
        self.changed()
        pings = asyncio.ensure_future(self._ping(connection))
        try:
            await connection.tell(self._hello())
            connection.hearing = self.hearing
            await self._listen(connection)
        finally:
            pings.cancel()
            self.connections.remove(connection)
            self.changed()
        return socket

    async def _listen(self, connection: Connection) -> None:
        async for message in connection.socket:
            if message.type is WSMsgType.PING:
                connection.pings += 1
                if connection.hearing is not Hearing.DEAD:
                    await connection.socket.pong(message.data)
            elif message.type is WSMsgType.TEXT:
                self._acknowledged(message.data)

    def _acknowledged(self, text: str) -> None:
        try:
            answer = json.loads(text)
            waiting = self._waiting.get(answer["envelope_id"])
        except (ValueError, KeyError, TypeError):
            return
        if waiting and self.lose_acks:
            self.lose_acks -= 1
        elif waiting and not waiting.done():
            waiting.set_result(answer)

    async def _ping(self, connection: Connection) -> None:
        while True:
            await self.clock.sleep(PING_EVERY)
            if connection.hearing is not Hearing.DEAD:
                with suppress(ConnectionError):
                    await connection.socket.ping(b"slack")

    def _hello(self) -> Json:
        return {
            "type": "hello",
            "num_connections": len(self.connections),
            "debug_info": {
                "host": "applink-playground",
                "build_number": 1,
                "approximate_connection_time": int(LASTS.total_seconds()),
            },
            "connection_info": {"app_id": APP_ID},
        }

    @staticmethod
    def _goodbye(reason: str) -> Json:
        return {
            "type": "disconnect",
            "reason": reason,
            "debug_info": {"host": "applink-playground"},
        }

    async def send(self, kind: str, payload: Json, retry: Retry | None = None) -> Outcome:
        """Send an envelope on one connection and wait three seconds for its acknowledgement."""
        if not self.connections:
            return Outcome(failed="connection_failed")
        connection = self._dice.choice(self.connections)
        envelope = {
            "envelope_id": str(uuid.uuid4()),
            "payload": payload,
            "type": kind,
            "accepts_response_payload": kind != "events_api",
        }
        if kind == "events_api":
            envelope["retry_attempt"] = retry.number if retry else 0
            envelope["retry_reason"] = retry.reason if retry else ""
        waiting: asyncio.Future[Json] = asyncio.get_running_loop().create_future()
        self._waiting[str(envelope["envelope_id"])] = waiting
        try:
            await connection.tell(envelope)
            if await within(waiting, self.clock.sleep(ACK_WITHIN)):
                return Outcome(body=waiting.result().get("payload"))
            return Outcome(failed="timeout")
        finally:
            del self._waiting[str(envelope["envelope_id"])]

    def deafen(self, hearing: Hearing = Hearing.DEAF) -> None:
        """Let every connection, open or to come, only look open."""
        self.hearing = hearing
        for connection in self.connections:
            connection.hearing = hearing

    async def refresh(self) -> None:
        """End every connection as Slack does every few hours: a warning, and then the end."""
        old = list(self.connections)
        for connection in old:
            await connection.tell(self._goodbye("warning"))
        await self.clock.sleep(WARNING)
        for connection in old:
            await connection.tell(self._goodbye("refresh_requested"))
            await connection.socket.close()

    async def close(self, reason: str = "") -> None:
        """End every connection now, with a reason such as `link_disabled` or without a word."""
        for connection in list(self.connections):
            if reason:
                await connection.tell(self._goodbye(reason))
            await connection.socket.close()
