"""Give each test a server with a certificate of a private authority, and names that fail."""

from __future__ import annotations

import socket
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest

from playground.kubernetes.tls import server_context
from tests.behaviour.network.server import NAME, Secure, secure
from tests.forward_proxy import ForwardProxy, forward_proxy


@pytest.fixture
def anyio_backend() -> str:
    """Run on asyncio, as the product does."""
    return "asyncio"


@pytest.fixture
async def server(tmp_path: Path) -> AsyncIterator[Secure]:
    """Return a server whose certificate is for a name that no resolver knows."""
    folder = tmp_path / "authority"
    folder.mkdir()
    async with secure(server_context(folder, (NAME,)), folder / "ca.crt") as running:
        yield running


@pytest.fixture
async def proxy() -> AsyncIterator[ForwardProxy]:
    """Return a forward proxy."""
    async with forward_proxy() as running:
        yield running


@pytest.fixture
def nobody_answers(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Return what breaks every lookup of a name in this process, as a dead resolver does."""
    real = socket.getaddrinfo

    def broken(host: Any, *args: Any, **more: Any) -> Any:  # noqa: ANN401 - the library's own
        if isinstance(host, str) and host.endswith(".test"):
            raise socket.gaierror(socket.EAI_AGAIN, "Temporary failure in name resolution")
        return real(host, *args, **more)

    return lambda: monkeypatch.setattr(socket, "getaddrinfo", broken)
