"""Prove the pace that Slack allows (docs.slack.dev/apis/web-api/rate-limits)."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator
from datetime import timedelta

import pytest
from slack_sdk.errors import SlackApiError
from slack_sdk.http_retry.builtin_async_handlers import AsyncRateLimitErrorRetryHandler
from slack_sdk.web.async_client import AsyncWebClient

from playground.slack.clock import HandClock
from playground.slack.server import SlackServer, running
from tests.behaviour.slack_playground.asking import bot_client, error

pytestmark = pytest.mark.anyio

CHANNEL = "C0TRAINING"


@pytest.fixture
async def slack(clock: HandClock) -> AsyncIterator[SlackServer]:
    """Return a workspace that keeps the pace."""
    async with running(clock=clock) as server:
        yield server


async def post(client: AsyncWebClient, channel: str = CHANNEL) -> str:
    """Post once; return the error, empty if it was taken."""
    try:
        await client.chat_postMessage(channel=channel, text="x")
    except SlackApiError as refused:
        return str(refused.response["error"])
    return ""


async def test_one_message_a_second_after_a_short_burst(
    client: AsyncWebClient, slack: SlackServer, clock: HandClock
) -> None:
    """A channel takes a few at once and then one a second; others are not held up."""
    for _ in range(slack.rates.burst):
        assert await post(client) == ""
    assert await post(client) == "ratelimited"
    assert await post(client, "C0PRIVATE1") == ""
    await clock.advance(timedelta(milliseconds=999))
    assert await post(client) == "ratelimited"
    await clock.advance(timedelta(milliseconds=1))
    assert await post(client) == ""
    assert await post(client) == "ratelimited"


async def test_a_refused_message_is_not_posted(client: AsyncWebClient, slack: SlackServer) -> None:
    """What was answered with 429 is nowhere."""
    slack.rates.burst = 1
    assert await post(client) == ""
    assert await post(client) == "ratelimited"
    assert len(slack.channel(CHANNEL).messages) == 1


async def test_a_method_has_its_tier(client: AsyncWebClient, clock: HandClock) -> None:
    """Tier 2 allows twenty calls a minute, and then one every three seconds."""
    for _ in range(20):
        await client.usergroups_list()
    assert await error(client.usergroups_list()) == "ratelimited"
    await clock.advance(timedelta(seconds=3))
    assert (await client.usergroups_list())["ok"]
    assert await error(client.usergroups_list()) == "ratelimited"


async def test_the_sdk_waits_as_long_as_it_is_told() -> None:
    """Slack's own handler for status 429 gets a message through in the end."""
    async with running() as slack:
        slack.rates.burst = 1
        client = bot_client(slack)
        client.retry_handlers.append(AsyncRateLimitErrorRetryHandler(max_retry_count=3))
        await client.chat_postMessage(channel=CHANNEL, text="first")
        began = time.monotonic()
        await client.chat_postMessage(channel=CHANNEL, text="second")
        assert time.monotonic() - began >= 1
        assert [one.error for one in slack.calls("chat.postMessage")][:2] == ["", "ratelimited"]
        texts = [one.text for one in slack.channel(CHANNEL).messages.values()]
        assert texts == ["first", "second"]
