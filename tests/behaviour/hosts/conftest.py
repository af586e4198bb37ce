"""Give each test a fleet: in memory and over SSH for the port's rules, over SSH for its own."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.behaviour.hosts.fleet import Fleet, in_memory, over_ssh, small


@pytest.fixture
def anyio_backend() -> str:
    """Run on asyncio, as the product does."""
    return "asyncio"


@pytest.fixture(params=["memory", "ssh"])
async def fleet(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Fleet]:
    """Return the same four machines by each way."""
    if request.param == "memory":
        yield in_memory(small())
        return
    async with over_ssh(small(), tmp_path) as reached:
        yield reached


@pytest.fixture
async def ssh_fleet(tmp_path: Path) -> AsyncIterator[Fleet]:
    """Return four machines over SSH."""
    async with over_ssh(small(), tmp_path) as reached:
        yield reached
