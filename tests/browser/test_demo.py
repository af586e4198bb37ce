"""Prove that somebody new to the demo sees what is wrong, and can press a button."""

from __future__ import annotations

import asyncio
import signal
import sys
import time
from collections.abc import AsyncIterator
from pathlib import Path

import aiohttp
import pytest
from playwright.async_api import Locator, expect

from playground import demo_page
from playground.slack.server import SlackServer
from tests.browser.bot import Bot
from tests.browser.conftest import Opener
from tests.browser.seeing import PHONE, WIDE, Tab

pytestmark = pytest.mark.anyio

#: From the page's opening on.
WITHIN_S = 30.0


@pytest.fixture
async def slack(tmp_path: Path) -> AsyncIterator[SlackServer]:
    """Return the demo's workspace, with the product in it."""
    async with demo_page.running(tmp_path) as server:
        yield server


@pytest.fixture
async def bot() -> Bot | None:
    """Leave the small bot out: the product itself answers."""
    return None


@pytest.mark.parametrize("size", [WIDE, PHONE])
async def test_the_demo_is_understood_in_half_a_minute(
    look: Opener, slack: SlackServer, size: tuple[int, int]
) -> None:
    """Enter brings rank, VM, state and cause, and a button answers, within 30 seconds."""
    tab = await look(size=size)
    opened = time.monotonic()
    await expect(tab.field).to_have_value("/nccl-dns 48213")
    await tab.field.press("Enter")
    report = tab.message("node-8").filter(has_text="Confidence")
    for said in ("64", "of 256", "RUNNING", "resolver", "systemd-resolved"):
        await expect(report).to_contain_text(said)
    seen = time.monotonic() - opened
    await tab.picture("demo-report")
    assert await tab.overflows() == []
    await report.get_by_role("button", name="Restart").click()
    await expect(tab.modal).to_contain_text("Recommended: 1. Restart systemd-resolved")
    shown = time.monotonic() - opened
    await tab.picture("demo-restart")
    assert await tab.overflows() == []
    await tab.modal.get_by_role("button", name="Ask for it").click()
    await expect(tab.modal).to_have_count(0)
    await expect(report).to_contain_text("repl")
    await expect(tab.page.locator(".guide .next")).to_contain_text("Open the thread")
    print(f"report after {seen:.1f} s, rungs after {shown:.1f} s")
    assert shown < WITHIN_S
    await report.locator(".replies").click()
    await expect(tab.thread).to_contain_text("Approve")
    await tab.picture("demo-thread")
    assert slack.calls("chat.postMessage")


async def test_an_approver_decides_and_both_see_it(look: Opener, slack: SlackServer) -> None:
    """What the engineer asks for, the approver decides; it is done, and both read its proof."""
    tab = await look()
    await tab.field.press("Enter")
    report = tab.message("node-8").filter(has_text="Confidence")
    await report.get_by_role("button", name="Restart").click()
    await tab.modal.get_by_role("button", name="Ask for it").click()
    await report.locator(".replies").click()
    await tab.thread.get_by_role("button", name="Approve").click()
    await expect(tab.page.locator(".message.ephemeral")).to_be_visible()
    parent = next(one.ts for one in slack.channel("training-oncall").messages.values())
    grace = await look("grace", at=f"&thread={parent}")
    await grace.thread.get_by_role("button", name="Approve").click()
    for one in (grace, tab):
        await expect(one.thread).to_contain_text("Approved")
        await expect(one.thread).to_contain_text("Done and proven: node-8")
        await expect(one.thread).to_contain_text("systemctl status systemd-resolved on node-8")
        await expect(one.thread.get_by_role("button", name="Approve")).to_have_count(0)
    await grace.picture("demo-decided")


@pytest.mark.parametrize("size", [WIDE, PHONE])
async def test_who_resolves_whom_is_seen(look: Opener, size: tuple[int, int]) -> None:
    """The menu's pre-flight shows how far it is, then words and a picture; an end is summed up."""
    tab = await look(size=size)
    await tab.field.press("Enter")
    report = tab.message("node-8").filter(has_text="Confidence")
    await report.locator(".replies").click()
    await expect(tab.thread.locator("img.picture")).to_have_count(1)
    shown = tab.thread.locator("img.picture").last
    assert str(await shown.get_attribute("alt")).startswith("Who resolves whom, 2 machines")
    if size == PHONE:
        await tab.page.locator("#thread").get_by_role("button", name="Close").click()
    await choose(tab, report, "Pre-flight all VMs")
    if size == PHONE:
        await report.locator(".replies").click()
    await expect(tab.thread).to_contain_text("node-[0-7,9-31]: all 64 names")
    await expect(tab.thread.locator("img.picture")).to_have_count(2)
    await tab.thread.locator("img.picture").last.scroll_into_view_if_needed()
    await tab.picture("demo-preflight")
    if size == PHONE:
        await tab.page.locator("#thread").get_by_role("button", name="Close").click()
    await choose(tab, report, "Dismiss")
    await expect(tab.message("Dismissed")).to_be_visible()
    if size == PHONE:
        await tab.message("Dismissed").locator(".replies").click()
    await expect(tab.thread).to_contain_text("Summary: demo:48213")
    await tab.thread.get_by_text("Timeline").scroll_into_view_if_needed()
    await tab.picture("demo-summary")
    assert await tab.overflows() == []


async def choose(tab: Tab, report: Locator, entry: str) -> None:
    """Choose from what is behind the report's own menu."""
    await report.get_by_role("button", name="More actions", exact=True).click()
    await tab.page.get_by_role("menuitem", name=entry).click()


async def test_it_is_started_by_hand() -> None:
    """The command prints the address of a page that is there."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "playground.demo_page", "--no-open", stdout=asyncio.subprocess.PIPE
    )
    assert process.stdout is not None
    try:
        while not (line := (await process.stdout.readline()).decode().strip()).startswith("http"):
            assert not process.stdout.at_eof()
        async with aiohttp.ClientSession() as session, session.get(line) as answer:
            assert "<title>Local workspace</title>" in await answer.text()
    finally:
        process.send_signal(signal.SIGINT)
        assert await process.wait() == 0
