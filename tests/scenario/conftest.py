"""Give each test a workspace, and the bot in it as `nccl-dns serve` runs it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from playground.slack.acting import Acting
from playground.slack.server import SlackServer, running
from tests.scenario.stage import Stage, app, bot, settings


@pytest.fixture
def anyio_backend() -> str:
    """Run on asyncio, as the product does."""
    return "asyncio"


@pytest.fixture
async def slack() -> AsyncIterator[SlackServer]:
    """Return a workspace with the app of the manifest, in real time, its rates left out."""
    async with running(app=app(), rates_on=False) as server:
        yield server


@pytest.fixture
def ada(slack: SlackServer) -> Acting:
    """Return the engineer."""
    return slack.act_as("ada")


@pytest.fixture
async def stage(slack: SlackServer, tmp_path: Path) -> AsyncIterator[Stage]:
    """Return the bot in the workspace, at the level of pastes alone."""
    async with bot(slack, settings(slack, tmp_path)) as running_bot:
        yield running_bot
