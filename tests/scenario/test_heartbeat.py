"""A watchdog hears of the bot while Slack is heard and the store answers, and not otherwise."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from datetime import timedelta
from pathlib import Path

import pytest
from aiohttp import web
from pydantic import SecretStr

from bot.settings import HeartbeatSettings, Settings
from playground.slack.server import SlackServer
from tests.scenario.stage import Stage, bot, settings, until

pytestmark = pytest.mark.anyio
_EVERY_S = 0.05


class Watchdog:
    """Counts the calls that it gets."""

    def __init__(self) -> None:
        self.heard = 0
        self.status = 200
        self.url = ""

    async def take(self, request: web.Request) -> web.Response:
        """Count a call."""
        del request
        self.heard += 1
        return web.Response(status=self.status)

    async def hears(self) -> None:
        """Wait for two more calls: one may be under way."""
        wanted = self.heard + 2
        await until(lambda: self.heard >= wanted)


@asynccontextmanager
async def watchdog() -> AsyncIterator[Watchdog]:
    """Run one on loopback."""
    dog = Watchdog()
    app = web.Application()
    app.router.add_get("/ping/secret-id", dog.take)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    dog.url = f"http://127.0.0.1:{runner.addresses[0][1]}/ping/secret-id"
    try:
        yield dog
    finally:
        await runner.cleanup()


def told(slack: SlackServer, folder: Path, url: str) -> Settings:
    """Return settings with a watchdog."""
    given = HeartbeatSettings(url=SecretStr(url), every=timedelta(seconds=_EVERY_S))
    return settings(slack, folder).model_copy(update={"heartbeat": given})


@contextmanager
def deaf(stage: Stage) -> Iterator[None]:
    """Let it be an hour since the bot heard of Slack, without a new connection for that."""
    socket = stage.bot.socket
    assert socket is not None
    assert socket._client is not None
    heard, silent, ping = socket._heard, socket._silent, socket._client.last_ping_pong_time
    socket._silent = 1e9
    socket._heard -= 3600
    socket._client.last_ping_pong_time = None
    yield
    socket._heard, socket._silent, socket._client.last_ping_pong_time = heard, silent, ping


async def refused(caplog: pytest.LogCaptureFixture, words: str) -> None:
    """Wait until the log says three times that no heartbeat was sent."""
    await until(
        lambda: (
            sum(
                "no heartbeat is sent" in one.message and words in one.message
                for one in caplog.records
            )
            >= 3
        )
    )


async def test_it_is_silent_while_slack_is(
    slack: SlackServer, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """It comes again and again, not while the bot is deaf, and again after that."""
    async with watchdog() as dog, bot(slack, told(slack, tmp_path, dog.url)) as stage:
        await dog.hears()
        with caplog.at_level(logging.WARNING), deaf(stage):
            await refused(caplog, "Nothing was heard of Slack")
            before = dog.heard
            caplog.clear()
            await refused(caplog, "Nothing was heard of Slack")
            assert dog.heard == before
        await dog.hears()


async def test_it_is_silent_while_the_store_is(
    slack: SlackServer, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """A bot that cannot keep what it is told is not well."""
    async with watchdog() as dog, bot(slack, told(slack, tmp_path, dog.url)) as stage:
        await dog.hears()
        with caplog.at_level(logging.WARNING):
            store = tmp_path / "bot.db"
            await stage.bot.desk.store.deliveries._database._engine.dispose()
            store.rename(tmp_path / "away.db")
            store.mkdir()
            await refused(caplog, "")
            before = dog.heard
            caplog.clear()
            await refused(caplog, "")
            assert dog.heard == before
            store.rmdir()
            (tmp_path / "away.db").rename(store)
        await dog.hears()


async def test_a_watchdog_that_is_away(
    slack: SlackServer, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """The bot goes on; its log names the setting, and not the address, which is a secret."""
    async with watchdog() as dog:
        dog.status = 500
        with caplog.at_level(logging.WARNING):
            async with bot(slack, told(slack, tmp_path, dog.url)):
                await until(lambda: "status 500 (heartbeat.url)" in caplog.text)
    with caplog.at_level(logging.WARNING):
        async with bot(slack, told(slack, tmp_path, dog.url)):
            await until(lambda: "did not get through (heartbeat.url)" in caplog.text)
            await asyncio.sleep(0)
    assert "secret-id" not in caplog.text
