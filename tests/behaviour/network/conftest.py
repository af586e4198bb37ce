"""Give each test a server with a certificate of a private authority, and names that fail."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from playground.kubernetes.tls import server_context
from tests.behaviour.network.server import NAME, Secure, secure
from tests.dead_names import break_names
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
    return lambda: break_names(monkeypatch)
