"""The port that apps come by; closed, their connections are refused."""

from __future__ import annotations

import socket
import ssl

from aiohttp import web


class Door:
    """One port on loopback that can be closed and opened again."""

    def __init__(self, port: int, tls: ssl.SSLContext | None) -> None:
        self._listening: socket.socket | None = socket.create_server(("127.0.0.1", port))
        #: stays the same when it is opened again
        self.port: int = self._listening.getsockname()[1]
        self._tls = tls
        self._runner: web.AppRunner | None = None
        self._site: web.SockSite | None = None

    async def serve(self, runner: web.AppRunner) -> None:
        """Let in who comes, to this application from now on."""
        self._runner = runner
        await self.open()

    async def open(self) -> None:
        """Listen, if nobody does."""
        if self._site is not None or self._runner is None:
            return
        listening, self._listening = self._listening, None
        listening = listening or socket.create_server(("127.0.0.1", self.port))
        self._site = web.SockSite(self._runner, listening, ssl_context=self._tls)
        await self._site.start()

    async def close(self) -> None:
        """Stop listening; connections that are open stay."""
        site, self._site = self._site, None
        if site is not None:
            await site.stop()
