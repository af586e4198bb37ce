"""Prove that the page shows each of the product's own views, at both widths."""

from __future__ import annotations

from functools import partial

import pytest
from playwright.async_api import expect

from bot.reports.slack.message import Message, View
from playground.slack.server import SlackServer
from tests.behaviour.slack_playground.asking import bot_client
from tests.browser.bot import Bot
from tests.browser.conftest import Opener
from tests.browser.seeing import PHONE, WIDE, Tab
from tests.unit.reports.hostile import BITS
from tests.unit.reports.made import views

pytestmark = pytest.mark.anyio

VIEWS = views()
MODALS = {name: one for name, one in VIEWS.items() if isinstance(one, View) and one.type == "modal"}


async def nothing_is_cut(tab: Tab) -> None:
    """Nothing is wider than the window, and no block is unknown to the page."""
    assert await tab.overflows() == []
    await expect(tab.page.get_by_text("(a block «")).to_have_count(0)


@pytest.mark.parametrize("size", [WIDE, PHONE])
async def test_messages(look: Opener, slack: SlackServer, size: tuple[int, int]) -> None:
    """Each message is drawn with all its blocks."""
    tab = await look(size=size)
    client = bot_client(slack)
    for name, one in VIEWS.items():
        if not isinstance(one, Message):
            continue
        posted = await client.chat_postMessage(channel="C0TRAINING", **one.to_post())
        shown = tab.log.locator(f"[data-ts='{posted['ts']}']")
        await expect(shown.locator(".block")).to_have_count(len(one.blocks))
        await shown.screenshot(path=tab.pictures / f"view-{name}-{size[0]}.png".replace(" ", "-"))
        await nothing_is_cut(tab)


@pytest.mark.parametrize("size", [WIDE, PHONE])
@pytest.mark.parametrize("name", sorted(MODALS))
async def test_modals(look: Opener, bot: Bot, name: str, size: tuple[int, int]) -> None:
    """Each modal opens with all its fields."""
    bot.modal = MODALS[name].to_view()
    tab = await look(size=size)
    await tab.say("/nccl-dns modal")
    await expect(tab.modal.locator(".block")).to_have_count(len(MODALS[name].blocks))
    await tab.picture(f"view-{name}".replace(" ", "-"))
    await nothing_is_cut(tab)


@pytest.mark.parametrize("size", [WIDE, PHONE])
async def test_home(look: Opener, slack: SlackServer, size: tuple[int, int]) -> None:
    """The Home tab has what is open, what was, and what waits for the reader."""
    home = VIEWS["home"]
    assert isinstance(home, View)
    tab = await look(size=size, at="&channel=@&tab=home")
    await expect(tab.page.get_by_label("Home tab")).to_contain_text("Open incidents")
    await bot_client(slack).views_publish(user_id="U0ENGINEER", view=home.to_view())
    await expect(tab.page.locator("#home .block")).to_have_count(len(home.blocks))
    await tab.picture("view-home")
    await nothing_is_cut(tab)


def _with(foreign: str, _field: str, text: str) -> str:
    return f"{text} {foreign}"


#: So many bits at once: all of them would be cut short before the last.
CHUNK = 21


async def test_hostile_texts_make_nothing(look: Opener, slack: SlackServer) -> None:
    """Whatever a log, a scheduler or a machine says, no link, mention or picture comes of it."""
    tab = await look()
    client = bot_client(slack)

    async def made_of(given: Message | View) -> dict[str, int]:
        """Return what the page makes of a message that a reader could be led or called by."""
        assert isinstance(given, Message)
        posted = await client.chat_postMessage(channel="C0TRAINING", **given.to_post())
        shown = tab.log.locator(f"[data-ts='{posted['ts']}']")
        await expect(shown.locator(".block")).to_have_count(len(given.blocks))
        kinds = (".block a", ".mention", ".block img", ".block script", ".block iframe")
        return {kind: await shown.locator(kind).count() for kind in kinds}

    for at in range(0, len(BITS), CHUNK):
        foreign = " ".join(BITS[at : at + CHUNK])
        hostile = views(partial(_with, foreign))
        for name in ("report", "evidence", "probes", "summary", "approval, waiting", "error"):
            assert await made_of(hostile[name]) == await made_of(VIEWS[name]), (name, foreign)
