"""Prove that one can be several people, and what each of them sees."""

from __future__ import annotations

import pytest
from playwright.async_api import expect

from playground.slack.server import SlackServer
from tests.behaviour.slack_playground.asking import bot_client
from tests.browser.conftest import Opener
from tests.browser.seeing import PHONE

pytestmark = pytest.mark.anyio


async def test_who_one_is_decides_what_is_there(look: Opener) -> None:
    """An outsider starts in the one channel that is shared with them, and is marked as one."""
    tab = await look()
    await expect(tab.page.locator("#side")).to_contain_text("incident-room")
    await tab.page.get_by_label("You are").select_option("Sam Stranger")
    await expect(tab.page.locator("#head h1")).to_contain_text("shared-with-vendor")
    await expect(tab.page.locator("#side")).not_to_contain_text("incident-room")
    await tab.say("hello from outside")
    await expect(tab.message("hello from outside")).to_contain_text("OTHER COMPANY")


async def test_becoming_somebody_keeps_the_place(look: Opener, slack: SlackServer) -> None:
    """Who is in the channel, too, sees the same thread, so an approver can decide at once."""
    posted = await bot_client(slack).chat_postMessage(channel="C0TRAINING", text="Approve?")
    tab = await look(at=f"&thread={posted['ts']}")
    await expect(tab.thread).to_contain_text("Approve?")
    await tab.page.get_by_label("You are").select_option("Grace Approver")
    await expect(tab.page.locator("#side")).to_contain_text("secret")
    await expect(tab.thread).to_contain_text("Approve?")
    await tab.page.get_by_label("You are").select_option("Sam Stranger")
    await expect(tab.thread).to_be_hidden()


@pytest.mark.refuses("409")
async def test_what_the_client_refuses_is_said_and_nothing_is_lost(look: Opener) -> None:
    """A command that there is not is refused in a sentence, and the line stays to be mended."""
    tab = await look()
    await tab.say("/nccl 48213")
    await expect(tab.page.locator("#toasts")).to_contain_text("/nccl is not a valid command.")
    await expect(tab.field).to_have_value("/nccl 48213")


async def test_what_comes_elsewhere_marks_its_channel(look: Opener, slack: SlackServer) -> None:
    """A message in another channel puts a mark on it, which goes when it is read."""
    tab = await look()
    await bot_client(slack).chat_postMessage(channel="C0PRIVATE1", text="over here")
    entry = tab.page.get_by_role("button", name="incident-room")
    await expect(entry.get_by_label("unread")).to_be_visible()
    await entry.click()
    await expect(tab.message("over here")).to_be_visible()
    await expect(entry.get_by_label("unread")).to_have_count(0)


async def test_a_deleted_message_goes_by_itself(look: Opener, slack: SlackServer) -> None:
    """Posts and removals of the bot are seen without a look of one's own."""
    tab = await look()
    client = bot_client(slack)
    posted = await client.chat_postMessage(channel="C0TRAINING", text="for a moment")
    await expect(tab.message("for a moment")).to_be_visible()
    await client.chat_delete(channel="C0TRAINING", ts=str(posted["ts"]))
    await expect(tab.log).not_to_contain_text("for a moment")


async def test_an_app_that_is_away_is_said(look: Opener, slack: SlackServer) -> None:
    """The page says that nobody will answer, before somebody waits for it."""
    tab = await look()
    notice = tab.page.locator("#notice")
    await expect(notice).to_be_empty()
    slack.web.outage = type(slack.web.outage).REFUSE
    await slack.sockets.close()
    await expect(notice).to_contain_text("The app is not connected yet")
    await slack.come_back()


async def test_what_begins_is_completed(look: Opener) -> None:
    """Commands and mentions are offered by their beginning, and Tab takes the first."""
    tab = await look()
    await tab.field.fill("/n")
    offered = tab.page.locator("#compose .commands")
    await expect(offered.get_by_role("button")).to_have_text(["/nccl-dns nccl-dns"])
    await tab.field.press("Tab")
    await expect(tab.field).to_have_value("/nccl-dns ")
    await tab.field.fill("ask @gr")
    await tab.picture("mention")
    await tab.field.press("Tab")
    await expect(tab.field).to_have_value("ask @grace ")
    await tab.field.press("Enter")
    await expect(tab.message("ask").locator(".mention")).to_have_text("@Grace Approver")


async def test_the_bot_is_invited(look: Opener, slack: SlackServer) -> None:
    """The client's own command adds the bot to a channel; no app is told of it."""
    tab = await look(at="&channel=general")
    bot = slack.world.bot.id
    assert bot not in slack.channel("general").members
    await tab.say("/invite @nccl-dns")
    await expect(tab.page.locator("#head")).to_contain_text("4 members")
    assert bot in slack.channel("general").members


@pytest.mark.refuses("ERR_INTERNET_DISCONNECTED")
async def test_nothing_typed_is_lost_while_the_workspace_is_away(look: Opener) -> None:
    """What was to be sent is not lost while the workspace cannot be reached."""
    tab = await look()
    await tab.page.context.set_offline(offline=True)
    await tab.say("is anybody there?")
    await expect(tab.page.locator("#toasts")).to_contain_text("The workspace cannot be reached")
    await expect(tab.field).to_have_value("is anybody there?")
    await tab.page.context.set_offline(offline=False)
    await tab.field.press("Enter")
    await expect(tab.message("is anybody there?")).to_be_visible()


async def test_the_skip_link_leads_to_the_field(look: Opener) -> None:
    """The first key of a keyboard's user reaches the message field, where they are."""
    tab = await look(at="&channel=incident-room")
    skip = tab.page.get_by_role("link", name="Skip to the message field")
    await skip.focus()
    await skip.press("Enter")
    await expect(tab.field).to_be_focused()
    await expect(tab.page.locator("#head h1")).to_contain_text("incident-room")


async def test_a_phone_has_the_channels_behind_a_button(look: Opener) -> None:
    """At 375 pixels the column opens over the channel, and closes when one is chosen."""
    tab = await look(size=PHONE, dark=True)
    await tab.page.get_by_role("button", name="Channels and people").click()
    await tab.picture("side-dark")
    await tab.page.get_by_role("button", name="incident-room").click()
    await expect(tab.page.locator("#side")).to_be_hidden()
    await expect(tab.page.locator("#head h1")).to_contain_text("incident-room")


async def test_dark_is_dark(look: Opener) -> None:
    """The page follows the reader's colour scheme."""
    tab = await look(dark=True)
    await tab.field.press("Enter")
    await expect(tab.message("its resolver has failed")).to_contain_text("4 replies")
    await tab.picture("report-dark")
    ground = await tab.page.evaluate("() => getComputedStyle(document.body).backgroundColor")
    assert ground == "rgb(26, 29, 33)"
