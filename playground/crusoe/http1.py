"""HTTP/1.1 on a loopback socket, around one function from request to reply."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from email.utils import format_datetime

import h11

from bot.clouds.timing import Timing

#: Bytes of one read.
CHUNK = 64 * 1024

#: Bytes of a request's body that are taken.
MAX_BODY = 1 << 20


@dataclass(frozen=True, kw_only=True, slots=True)
class Request:
    """One request as it came over the wire."""

    method: str
    #: undecoded, with the query
    target: str
    #: names in lower case, in order, repeated where they came repeated
    headers: tuple[tuple[str, str], ...]
    body: bytes

    def header(self, name: str) -> list[str]:
        """Return every value of a header."""
        return [value for key, value in self.headers if key == name.lower()]


@dataclass(frozen=True, kw_only=True, slots=True)
class Reply:
    """What is sent back; `Date` and `Content-Length` are added."""

    status: int
    body: bytes = b""
    headers: tuple[tuple[str, str], ...] = ()


class DropConnection(Exception):  # noqa: N818 - not an error, an order to hang up
    """Raised by a handler to hang up without an answer."""


Handler = Callable[[Request], Awaitable[Reply]]


@dataclass(kw_only=True)
class _Server:
    handler: Handler
    timing: Timing
    open: set[asyncio.Task[None]] = field(default_factory=set)

    async def connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None  # noqa: S101 - asyncio runs this in a task
        self.open.add(task)
        try:
            await self._talk(reader, writer)
        except (DropConnection, ConnectionError, h11.RemoteProtocolError):
            pass
        finally:
            self.open.discard(task)
            writer.close()
            with suppress(ConnectionError):
                await writer.wait_closed()

    async def _talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        connection = h11.Connection(h11.SERVER)
        while True:
            request = await _receive(connection, reader)
            if request is None:
                return
            reply = await self.handler(request)
            writer.write(self._written(connection, reply))
            await writer.drain()
            if connection.our_state is not h11.DONE:
                return
            connection.start_next_cycle()

    def _written(self, connection: h11.Connection, reply: Reply) -> bytes:
        headers = [
            ("Date", format_datetime(self.timing.now(), usegmt=True)),
            ("Content-Length", str(len(reply.body))),
        ]
        replaced = {name.lower() for name, _ in reply.headers}
        headers = [pair for pair in headers if pair[0].lower() not in replaced]
        # A header that is replaced by nothing is left out.
        headers += [pair for pair in reply.headers if pair[1]]
        parts = (
            h11.Response(status_code=reply.status, headers=headers),
            h11.Data(data=reply.body),
            h11.EndOfMessage(),
        )
        return b"".join(connection.send(part) or b"" for part in parts)


async def _receive(connection: h11.Connection, reader: asyncio.StreamReader) -> Request | None:
    """Read one whole request; None where the other side has hung up."""
    head: h11.Request | None = None
    body = bytearray()
    while True:
        event = connection.next_event()
        if event is h11.NEED_DATA:
            connection.receive_data(await reader.read(CHUNK))
        elif isinstance(event, h11.Request):
            head = event
        elif isinstance(event, h11.Data):
            body += event.data
            if len(body) > MAX_BODY:
                raise DropConnection
        elif isinstance(event, h11.EndOfMessage) and head is not None:
            return Request(
                method=head.method.decode("ascii"),
                target=head.target.decode("ascii"),
                headers=tuple((k.decode("ascii"), v.decode("latin-1")) for k, v in head.headers),
                body=bytes(body),
            )
        else:
            return None


@asynccontextmanager
async def serving(handler: Handler, *, timing: Timing, port: int = 0) -> AsyncIterator[int]:
    """Serve on 127.0.0.1 and yield the port; 0 lets the kernel choose one."""
    server = _Server(handler=handler, timing=timing)
    listening = await asyncio.start_server(server.connected, "127.0.0.1", port)
    try:
        yield listening.sockets[0].getsockname()[1]
    finally:
        listening.close()
        for task in list(server.open):
            task.cancel()
        await asyncio.gather(*server.open, return_exceptions=True)
        await listening.wait_closed()
