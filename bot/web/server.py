"""Serve the addresses on one port."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager

import uvicorn
from starlette.applications import Starlette
from starlette.routing import BaseRoute


class _Server(uvicorn.Server):
    """A server that leaves signals to whoever runs it."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


@asynccontextmanager
async def serving(routes: Sequence[BaseRoute], *, host: str, port: int) -> AsyncIterator[int]:
    """Serve routes until the block ends, and yield the port; 0 lets the kernel choose one.

    Raises OSError where the address cannot be had.
    """
    listening = socket.create_server((host, port))
    config = uvicorn.Config(
        Starlette(routes=list(routes)), log_config=None, access_log=False, lifespan="off",
        timeout_graceful_shutdown=5,
    )  # fmt: skip
    server = _Server(config)
    task = asyncio.create_task(server.serve(sockets=[listening]))
    try:
        yield listening.getsockname()[1]
    finally:
        server.should_exit = True
        await task
        listening.close()
