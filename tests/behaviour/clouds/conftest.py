"""Give each test a cloud: every adapter for the port's rules, the client for its own."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from tests.behaviour.clouds.lab import CrusoeLab, Lab, MemoryLab, crusoe_lab


@pytest.fixture
def anyio_backend() -> str:
    """Run on asyncio, as the product does."""
    return "asyncio"


@pytest.fixture(params=["memory", "crusoe"])
async def lab(request: pytest.FixtureRequest) -> AsyncIterator[Lab]:
    """Return each adapter of the port in turn."""
    if request.param == "memory":
        yield MemoryLab()
        return
    async with crusoe_lab() as crusoe:
        yield crusoe


@pytest.fixture
async def crusoe() -> AsyncIterator[CrusoeLab]:
    """Return the client with its local server."""
    async with crusoe_lab() as lab:
        yield lab
