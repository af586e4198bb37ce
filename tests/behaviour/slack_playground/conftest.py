"""Give each test a workspace, and a client of it as the product has one."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
from slack_sdk.web.async_client import AsyncWebClient

from playground.slack.acting import Acting
from playground.slack.clock import HandClock
from playground.slack.server import SlackServer, running
from tests.behaviour.slack_playground.asking import bot_client


@pytest.fixture
def anyio_backend() -> str:
    """Run on asyncio, as the product does."""
    return "asyncio"


@pytest.fixture
def clock() -> HandClock:
    """Return the workspace's clock, which stands still."""
    return HandClock()


@pytest.fixture
async def slack(clock: HandClock) -> AsyncIterator[SlackServer]:
    """Return a workspace whose time the test moves, without the pace of messages."""
    async with running(clock=clock, rates_on=False) as server:
        yield server


@pytest.fixture
def client(slack: SlackServer) -> AsyncWebClient:
    """Return a client with the bot's token and no retries of its own."""
    return bot_client(slack)


@pytest.fixture
def ada(slack: SlackServer) -> Acting:
    """Return the engineer."""
    return slack.act_as("ada")
