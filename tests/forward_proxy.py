"""A forward proxy that tunnels (CONNECT), as companies put before the Internet."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field

_PART = 1 << 16


@dataclass(kw_only=True)
class ForwardProxy:
    """Knows every name: all of them are this machine."""

    port: int = 0
    #: `user:password` that it asks for; empty for none
    wants: str = ""
    #: what it was asked to connect to, such as `slack.test:443`
    asked: list[str] = field(default_factory=list)

    @property
    def url(self) -> str:
        """Return its address, with what it asks for."""
        return f"http://{f'{self.wants}@' if self.wants else ''}127.0.0.1:{self.port}"

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Tunnel one connection."""
        with suppress(OSError, asyncio.IncompleteReadError):
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
            method, target, *_ = head.split()
            self.asked.append(target if method == "CONNECT" else f"{method} {target}")
            token = base64.b64encode(self.wants.encode()).decode()
            if self.wants and f"Basic {token}" not in head:
                writer.write(b"HTTP/1.1 407 Proxy Authentication Required\r\n\r\n")
            elif method != "CONNECT":
                writer.write(b"HTTP/1.1 405 Method Not Allowed\r\n\r\n")
            else:
                await self._tunnel(reader, writer, int(target.rpartition(":")[2]))
        with suppress(OSError):
            writer.close()

    async def _tunnel(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, port: int
    ) -> None:
        far_reader, far_writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
        await asyncio.gather(pour(reader, far_writer), pour(far_reader, writer))


async def pour(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Move bytes until their source ends."""
    with suppress(OSError):
        while part := await reader.read(_PART):
            writer.write(part)
            await writer.drain()
    with suppress(OSError):
        writer.close()


@asynccontextmanager
async def forward_proxy(wants: str = "") -> AsyncIterator[ForwardProxy]:
    """Run one on loopback."""
    proxy = ForwardProxy(wants=wants)
    serving: set[asyncio.Task[None]] = set()

    async def taken(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        me = asyncio.current_task()
        if me is not None:
            serving.add(me)
            me.add_done_callback(serving.discard)
        await proxy.serve(reader, writer)

    server = await asyncio.start_server(taken, "127.0.0.1", 0)
    proxy.port = server.sockets[0].getsockname()[1]
    try:
        yield proxy
    finally:
        server.close()
        for task in serving:
            task.cancel()
        await asyncio.gather(*serving, return_exceptions=True)
