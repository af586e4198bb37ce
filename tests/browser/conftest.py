"""Give each test a workspace with a bot in it, and people in a headless Chromium.

Pictures of what was seen go to `tests/browser/pictures/`, which git ignores.
"""

from __future__ import annotations

import shutil
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from pathlib import Path

import pytest
from playwright.async_api import Browser, ConsoleMessage, Request, async_playwright

from playground.slack.page.guide import Guide, Step
from playground.slack.server import SlackServer, running
from tests.browser.bot import Bot, answering
from tests.browser.seeing import PATIENCE_MS, WIDE, Seen, Tab

BROWSER = "chromium-headless-shell"
PICTURES = Path(__file__).parent / "pictures"

GUIDE = Guide(
    line="/nccl-dns 48213",
    steps=(
        Step(text="Press Enter to ask about job 48213, which does not start.", done="said"),
        Step(text="Read which rank, which VM and why; then press Restart.", done="press"),
        Step(text="Open the thread: the evidence is there.", done="thread"),
        Step(text="Become Grace, who may approve.", done="became"),
    ),
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Let every test here need the browser."""
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.needs(BROWSER))


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    """Run on asyncio, in one loop for all tests here: they share the browser."""
    return "asyncio"


@pytest.fixture(scope="session")
async def browser(anyio_backend: str) -> AsyncIterator[Browser]:
    """Return a headless Chromium."""
    del anyio_backend
    async with async_playwright() as playwright:
        found = await playwright.chromium.launch(
            executable_path=shutil.which(BROWSER), args=["--no-sandbox", "--disable-gpu"]
        )
        yield found
        await found.close()


@pytest.fixture
async def slack() -> AsyncIterator[SlackServer]:
    """Return a workspace without the pace of messages."""
    async with running(rates_on=False, guide=GUIDE) as server:
        yield server


@pytest.fixture
async def bot(slack: SlackServer) -> AsyncIterator[Bot]:
    """Return the workspace's bot, which answers as the product does."""
    async with answering(slack) as connected:
        yield connected


Opener = Callable[..., Awaitable[Tab]]


@pytest.fixture
async def look(
    browser: Browser, slack: SlackServer, bot: Bot, request: pytest.FixtureRequest
) -> AsyncIterator[Opener]:
    """Return what opens the page as somebody; at the end nothing may have gone wrong in it."""
    del bot
    seen = Seen(origin=slack.base_url)
    async with AsyncExitStack() as stack:

        async def opened(
            as_: str = "ada", *, size: tuple[int, int] = WIDE, dark: bool = False, at: str = ""
        ) -> Tab:
            context = await browser.new_context(
                viewport={"width": size[0], "height": size[1]},
                color_scheme="dark" if dark else "light",
                locale="en-GB",
                timezone_id="UTC",
            )
            stack.push_async_callback(context.close)
            context.set_default_timeout(PATIENCE_MS)
            page = await context.new_page()

            def console(message: ConsoleMessage) -> None:
                if message.type in ("error", "warning"):
                    seen.problems.append(message.text)

            def asked(one: Request) -> None:
                if not one.url.startswith(slack.base_url):
                    seen.problems.append(f"asked {one.url}")

            page.on("console", console)
            page.on("pageerror", lambda error: seen.problems.append(str(error)))
            page.on("request", asked)
            await page.goto(f"{slack.base_url}/#as={as_}{at}")
            await page.locator("#head h1").wait_for()
            name = request.node.name.partition("[")[0].removeprefix("test_")
            return Tab(page=page, pictures=PICTURES, name=name)

        yield opened
    expected = request.node.get_closest_marker("refuses")
    words = expected.args[0] if expected else None
    assert [one for one in seen.problems if not (words and words in one)] == []
