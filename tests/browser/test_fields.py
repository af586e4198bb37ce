"""Prove that every kind of block and field is there, and tells the app what was given."""

from __future__ import annotations

import pytest
from playwright.async_api import expect

from playground.slack.kit.blocks import BLOCKS
from playground.slack.kit.elements import ELEMENTS
from playground.slack.kit.richtext import LEAVES, PARTS
from tests.behaviour.slack_playground.asking import until
from tests.browser.bot import Bot
from tests.browser.conftest import Opener

pytestmark = pytest.mark.anyio


async def test_everything_that_the_workspace_takes_is_drawn(look: Opener) -> None:
    """Each kind of block, element and part of rich text that is accepted has its row here."""
    tab = await look()
    drawn = await tab.page.evaluate(
        """async () => {
            const [blocks, elements, rich] = await Promise.all(
                ["blocks", "elements", "richtext"].map((one) => import(`/_page/${one}.js`)));
            return [blocks.BLOCKS, elements.ELEMENTS, rich.PARTS, rich.LEAVES].map(Object.keys);
        }"""
    )
    taken = (
        {kind for surface in BLOCKS.values() for kind in surface.shapes},
        ELEMENTS,
        PARTS,
        LEAVES,
    )
    for kinds, wanted in zip(drawn, taken, strict=True):
        assert set(kinds) == set(wanted)


async def test_fields_give_what_was_put_into_them(look: Opener, bot: Bot) -> None:
    """Dates, times, ticks, numbers and addresses arrive in the form that Slack's payloads have."""
    tab = await look()
    await tab.say("/nccl-dns fields")
    modal = tab.modal
    await modal.get_by_label("Hour").fill("03:04")
    await modal.get_by_label("Moment").fill("2026-11-30T03:04")
    await modal.get_by_label("Two").first.check()
    await modal.get_by_label("Two").last.check()
    await modal.get_by_label("Number").fill("64")
    await modal.get_by_label("Mail").fill("ada@example.com")
    await modal.get_by_label("Address").fill("https://example.com/jobs/48213")
    await modal.get_by_role("button", name="A channel").click()
    await tab.page.locator(".chooser").get_by_role("option", name="#training-oncall").click()
    await tab.picture("fields")
    await modal.get_by_role("button", name="Send").click()
    await expect(modal).to_have_count(0)
    await until(lambda: bot.given)
    assert bot.given["day"]["selected_date"] == "2026-11-30"
    assert bot.given["hour"]["selected_time"] == "03:04"
    assert bot.given["moment"]["selected_date_time"] == 1796007840
    assert [one["value"] for one in bot.given["ticks"]["selected_options"]] == ["one", "two"]
    assert bot.given["radio"]["selected_option"]["value"] == "two"
    assert bot.given["number"]["value"] == "64"
    assert bot.given["mail"]["value"] == "ada@example.com"
    assert bot.given["address"]["value"] == "https://example.com/jobs/48213"
    assert bot.given["room"]["selected_channel"] == "C0TRAINING"


async def test_what_is_wrong_is_said_before_anything_is_sent(look: Opener, bot: Bot) -> None:
    """Slack's own checks stand under their fields, the first of them has the focus."""
    tab = await look()
    await tab.say("/nccl-dns fields")
    modal = tab.modal
    await modal.get_by_label("Number").fill("257")
    await modal.get_by_label("Mail").fill("nobody")
    await modal.get_by_role("button", name="Send").click()
    await expect(modal.locator(".error").filter(has_text="at most 256")).to_be_visible()
    await expect(modal.locator(".error").filter(has_text="valid email")).to_be_visible()
    await expect(modal.get_by_label("Number")).to_be_focused()
    assert await modal.get_by_label("Number").get_attribute("aria-invalid") == "true"
    assert bot.given == {}


async def test_a_field_that_tells_at_once(look: Opener, bot: Bot) -> None:
    """Enter in a dispatching field tells the app, along with what stands in the others."""
    tab = await look()
    await tab.say("/nccl-dns fields")
    await tab.modal.get_by_label("Number").fill("8")
    await tab.modal.get_by_label("Telling").fill("node-8")
    await tab.modal.get_by_label("Telling").press("Enter")
    await until(lambda: bot.told)
    action, values = bot.told[0]
    assert action["value"] == "node-8"
    assert values["number"]["given"]["value"] == "8"
    await expect(tab.modal).to_be_visible()
