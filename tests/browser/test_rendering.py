"""Prove how texts are read: mrkdwn, rich text and names, as Slack's pages describe them."""

from __future__ import annotations

import pytest
from playwright.async_api import expect

from playground.slack.server import SlackServer
from tests.behaviour.slack_playground.asking import bot_client, button, plain
from tests.browser.conftest import Opener

pytestmark = pytest.mark.anyio

#: docs.slack.dev/messaging/formatting-message-text
MRKDWN = (
    ("*bold* _it_ ~gone~", "<strong>bold</strong> <em>it</em> <del>gone</del>"),
    ("_*both*_", "<em><strong>both</strong></em>"),
    ("2*3*4 snake_case_name a~b~c", "2*3*4 snake_case_name a~b~c"),
    ("* a * b", "* a * b"),
    ("`a *b* &lt;c&gt;`", "<code>a *b* &lt;c&gt;</code>"),
    ("```\nx *y*\n```\nz", "<pre>x *y*</pre>z"),
    ("&gt; quoted\nnot", "<blockquote>quoted</blockquote>not"),
    ("a\nb", "a<br>b"),
    ("&lt;b&gt; &amp;amp;", "&lt;b&gt; &amp;amp;"),
    ("<b>", "<span>b</span>"),
    ("<javascript:alert(1)|x>", "<span>x</span>"),
    (":warning: :nosuchthing:", "⚠️ :nosuchthing:"),
    ("12:34:56", "12:34:56"),
    ("<!here>", '<span class="mention own">@here</span>'),
    ("<!subteam^S0APPROVER>", '<span class="mention">@approvers</span>'),
    ("<@U0NOBODY00>", '<span class="mention">@U0NOBODY00</span>'),
    ("<!date^0^{date_num} {time}|epoch>",
     '<time datetime="1970-01-01T00:00:00.000Z" title="epoch">1970-01-01 00:00</time>'),
    ("<https://example.com/?a&amp;b|*x*>",
     '<a href="https://example.com/?a&amp;b" target="_blank" rel="noopener noreferrer">*x*</a>'),
)  # fmt: skip


async def test_mrkdwn(look: Opener) -> None:
    """Each text becomes the elements that Slack makes of it, and foreign markup none."""
    tab = await look()
    made = await tab.page.evaluate(
        """async (texts) => {
            const { mrkdwn } = await import("/_page/mrkdwn.js");
            return texts.map((one) => {
                const box = document.createElement("div");
                box.append(...mrkdwn(one));
                return box.innerHTML;
            });
        }""",
        [text for text, _ in MRKDWN],
    )
    assert made == [wanted for _, wanted in MRKDWN]


async def test_rich_text(look: Opener, slack: SlackServer) -> None:
    """Lists, quotes, code and every kind of leaf are shown; a script's address is not linked."""
    leaves = [
        {"type": "text", "text": "bold", "style": {"bold": True}},
        {"type": "user", "user_id": "U0APPROVER"},
        {"type": "usergroup", "usergroup_id": "S0APPROVER"},
        {"type": "channel", "channel_id": "C0TRAINING"},
        {"type": "broadcast", "range": "here"},
        {"type": "emoji", "name": "eyes"},
        {"type": "link", "url": "javascript:alert(1)", "text": "no link"},
        {"type": "link", "url": "https://example.com", "text": "a link"},
    ]
    parts = [
        {"type": "rich_text_section", "elements": leaves},
        {"type": "rich_text_list", "style": "ordered", "elements": [
            {"type": "rich_text_section", "elements": [{"type": "text", "text": "first"}]}]},
        {"type": "rich_text_quote", "elements": [{"type": "text", "text": "quoted"}]},
        {"type": "rich_text_preformatted", "elements": [{"type": "text", "text": "a\n <b>"}]},
    ]  # fmt: skip
    await bot_client(slack).chat_postMessage(
        channel="C0TRAINING", text="rich", blocks=[{"type": "rich_text", "elements": parts}]
    )
    shown = (await look()).message("bold")
    await expect(shown.locator("strong").last).to_have_text("bold")
    await expect(shown.locator(".mention")).to_have_text(
        ["@Grace Approver", "@approvers", "#training-oncall", "@here"]
    )
    await expect(shown.locator(".line").first).to_contain_text("👀")
    await expect(shown.get_by_role("link")).to_have_text(["a link"])
    await expect(shown.locator("ol li")).to_have_text("first")
    await expect(shown.locator("blockquote")).to_have_text("quoted")
    assert await shown.locator("pre").inner_text() == "a\n <b>"


async def test_a_permalink_leads_to_its_thread(look: Opener, slack: SlackServer) -> None:
    """The address of a message in Slack opens its thread here, from a link and from a button."""
    client = bot_client(slack)
    parent = await client.chat_postMessage(channel="C0TRAINING", text="the incident")
    ts = str(parent["ts"])
    await client.chat_postMessage(channel="C0TRAINING", text="its evidence", thread_ts=ts)
    address = (await client.chat_getPermalink(channel="C0TRAINING", message_ts=ts))["permalink"]
    lead = {**button("open_thread"), "text": plain("Open the thread"), "url": address}
    await client.chat_postMessage(
        channel="C0PRIVATE1", text="card",
        blocks=[
            {"type": "section", "text": {"type": "mrkdwn", "text": f"see <{address}|there>"},
             "accessory": lead},
        ],
    )  # fmt: skip
    for role, name in (("link", "there"), ("button", "Open the thread")):
        tab = await look(at="&channel=incident-room")
        await tab.message("see there").get_by_role(role, name=name).click()  # type: ignore[arg-type]
        await expect(tab.thread).to_contain_text("its evidence")
        await expect(tab.page.locator("#head h1")).to_contain_text("training-oncall")


async def test_every_control_has_a_name(look: Opener) -> None:
    """Screen readers can say what each button and field is, in the channel and in a thread."""
    tab = await look()
    await tab.field.press("Enter")
    await expect(tab.message("its resolver has failed")).to_contain_text("4 replies")
    await tab.message("its resolver has failed").get_by_role("button", name="4 replies").click()
    await expect(tab.thread).to_be_visible()
    nameless = await tab.page.evaluate(
        """() => [...document.querySelectorAll("button, input, select, textarea, img, [role=log]")]
            .filter((one) => one.offsetParent && !(one.getAttribute("aria-label") || one.alt
                || one.textContent.trim() || one.labels?.length))
            .map((one) => one.outerHTML)"""
    )
    assert nameless == []
