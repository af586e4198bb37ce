"""Open a TCP connection, and do not take our own slowness for a machine's silence."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from datetime import timedelta


async def connected(host: str, port: int, limit: timedelta) -> socket.socket:
    """Return a connected socket; raises TimeoutError or OSError.

    The kernel connects whether we have time to look or not, so a connection that stands when the
    time is up counts.
    """
    loop = asyncio.get_running_loop()
    async with asyncio.timeout(limit.total_seconds()):
        found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    family, kind, protocol, _, address = found[0]
    sock = socket.socket(family, kind, protocol)
    sock.setblocking(False)  # noqa: FBT003 # the method's own form
    try:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(limit.total_seconds()):
                await loop.sock_connect(sock, address)
        try:
            sock.getpeername()
        except OSError:
            raise TimeoutError from None
    except BaseException:
        sock.close()
        raise
    return sock
