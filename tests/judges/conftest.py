"""Start the emulator once for all tests of this folder, and a proxy before it for uploads."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from urllib.parse import parse_qsl

import aiohttp
import pytest
from aiohttp import web

from bot.chat.slack import SlackChat
from tests.judges.emulator import TOKEN, Judge, running


@pytest.fixture
def anyio_backend() -> str:
    """Run on asyncio, as the product does."""
    return "asyncio"


@pytest.fixture(scope="session")
def judge(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Judge]:
    """Run the pinned emulator."""
    with running(tmp_path_factory.mktemp("emulate")) as started:
        yield started


@pytest.fixture
def chat(judge: Judge) -> SlackChat:
    """Return the bot's client, at the emulator."""
    return SlackChat(TOKEN, base_url=judge.api_url)


@pytest.fixture
async def proxied(judge: Judge) -> AsyncIterator[Judge]:
    """Return the emulator behind a proxy that moves query arguments into the body."""

    async def forward(request: web.Request) -> web.Response:
        given = {**dict(request.query), **dict(parse_qsl(await request.text()))}
        headers = {"Authorization": request.headers.get("Authorization", "")}
        async with (
            aiohttp.ClientSession(headers=headers) as session,
            session.post(f"{judge.url}{request.path}", data=given) as answer,
        ):
            return web.Response(
                status=answer.status, body=await answer.read(), content_type="application/json"
            )

    app = web.Application()
    app.router.add_route("*", "/api/{method}", forward)
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    try:
        yield replace(judge, url=f"http://127.0.0.1:{runner.addresses[0][1]}")
    finally:
        await runner.cleanup()
