"""Prove that people can do on the page what they do in Slack, and see what they would see."""

from __future__ import annotations

import re

import pytest
from playwright.async_api import expect

from playground.slack.page.serving import POLICY
from playground.slack.server import SlackServer
from tests.browser import report
from tests.browser.conftest import Opener
from tests.browser.seeing import PHONE, WIDE, Tab

pytestmark = pytest.mark.anyio

REPORT = "node-8: its resolver has failed"


async def reported(tab: Tab) -> None:
    """Ask about the job with what stands ready in the field, and wait for the whole thread."""
    await expect(tab.field).to_have_value("/nccl-dns 48213")
    await tab.field.press("Enter")
    await expect(tab.message(REPORT)).to_contain_text("4 replies")


@pytest.mark.parametrize("size", [WIDE, PHONE])
async def test_a_first_timer_sees_rank_vm_state_and_cause(
    look: Opener, size: tuple[int, int]
) -> None:
    """Enter alone brings the report, which can be read and pressed at either width."""
    tab = await look(size=size)
    await expect(tab.page.locator(".guide .next")).to_contain_text("Press Enter")
    await tab.picture("first")
    await reported(tab)
    shown = tab.message(REPORT)
    for said in ("ranks 64 to 71 of 256", "node-8", "RUNNING", "is failed, and no name resolves"):
        await expect(shown).to_contain_text(said)
    await expect(shown).to_contain_text("(edited)")
    await expect(tab.page.locator(".guide .next")).to_contain_text("press Restart")
    await tab.picture("report")
    assert await tab.overflows() == []
    await shown.get_by_role("button", name="Back up").click()
    await expect(shown).to_contain_text("«back_up» by @Ada Engineer")


@pytest.mark.parametrize("size", [WIDE, PHONE])
async def test_a_thread_opens_with_evidence_table_and_files(
    look: Opener, size: tuple[int, int]
) -> None:
    """The thread has the quoted lines, the table, the plan, a snippet and a picture."""
    tab = await look(size=size)
    await reported(tab)
    await tab.message(REPORT).get_by_role("button", name=re.compile("4 replies")).click()
    thread = tab.thread
    await expect(thread.get_by_role("columnheader")).to_have_text(["Probe", "node-8", "node-9"])
    await expect(thread).to_contain_text("gai error: -3")
    await expect(thread.get_by_role("img", name="in progress")).to_be_visible()
    await expect(thread.locator("pre.snippet")).to_contain_text("cannot be retrieved")
    picture = thread.get_by_alt_text("who can resolve whom")
    await picture.scroll_into_view_if_needed()
    await expect(picture).to_have_js_property("naturalWidth", 384)
    await tab.picture("thread-end")
    await thread.locator(".log").evaluate("one => one.scrollTop = 0")
    await tab.picture("thread")
    assert await tab.overflows() == []
    reply = thread.get_by_label("Reply", exact=True)
    await reply.fill("thanks")
    await reply.press("Enter")
    await expect(thread.locator(".message").last).to_contain_text("thanks")
    await expect(tab.log).not_to_contain_text("thanks")
    await reply.press("Escape")
    await expect(thread).to_be_hidden()


async def test_foreign_text_stays_text(look: Opener) -> None:
    """Markup, mentions and links in quoted lines and in markdown are shown, never made."""
    tab = await look()
    await reported(tab)
    await tab.message(REPORT).get_by_role("button", name="Draft ticket").click()
    await tab.message(REPORT).get_by_role("button", name=re.compile("5 replies")).click()
    for line in report.HOSTILE:
        await expect(tab.thread.locator("pre").filter(has_text=line)).to_be_visible()
    draft = tab.thread.locator(".markdown")
    await expect(draft.get_by_role("heading")).to_have_text("Ticket draft")
    await expect(draft.locator("blockquote")).to_contain_text("<script>alert(4)</script>")
    await expect(draft.get_by_role("link")).to_have_text(["a link"])
    await expect(draft.locator("table td").last).to_have_text("EAI_AGAIN")
    made = tab.page.locator("#thread script, #thread img[onerror], a[href^='javascript']")
    await expect(made).to_have_count(0)


async def test_what_people_type_cannot_be_markup(look: Opener) -> None:
    """Tags stay text, while styles, mentions and links are what Slack makes of them."""
    tab = await look()
    await tab.say(
        "<b>x</b> *bold* _it_ `a <c>` @grace #training-oncall https://example.com/x?a=1&b=2"
    )
    shown = tab.message("<b>x</b>")
    await expect(shown.locator(".text strong")).to_have_text("bold")
    await expect(shown.locator(".text b")).to_have_count(0)
    await expect(shown.locator(".text code")).to_have_text("a <c>")
    await expect(shown.locator(".mention")).to_have_text(["@Grace Approver", "#training-oncall"])
    await expect(shown.get_by_role("link")).to_have_attribute(
        "href", "https://example.com/x?a=1&b=2"
    )


async def test_a_dangerous_button_asks_first(look: Opener, slack: SlackServer) -> None:
    """A confirmation is answered before anything is sent; an outsider is told why not, alone."""
    tab = await look()
    await reported(tab)
    grace = await look("grace")
    await tab.message(REPORT).get_by_role("button", name="Restart").click()
    dialog = tab.page.get_by_role("alertdialog")
    await expect(dialog).to_contain_text("Nothing is lost: the job goes on by itself.")
    await tab.picture("confirm")
    await dialog.get_by_role("button", name="Leave it").click()
    await expect(dialog).to_have_count(0)
    assert slack.calls("chat.postEphemeral") == []
    await tab.message(REPORT).get_by_role("button", name="Restart").click()
    await dialog.get_by_role("button", name="Propose it").click()
    await expect(tab.message("Only approvers may restart")).to_contain_text("Only visible to you")
    await tab.picture("ephemeral")
    await grace.message(REPORT).get_by_role("button", name="Restart").click()
    await grace.page.get_by_role("alertdialog").get_by_role("button", name="Propose it").click()
    # Both see what became of it, without a look of their own.
    for one in (grace, tab):
        await expect(one.message(REPORT)).to_contain_text("«restart» by @Grace Approver")
    await expect(grace.log).not_to_contain_text("Only approvers may restart")


async def test_an_overflow_menu_by_keyboard(look: Opener) -> None:
    """The menu opens, moves and chooses by keys alone; Escape gives the focus back."""
    tab = await look()
    await reported(tab)
    more = tab.message(REPORT).get_by_role("button", name="More actions", exact=True)
    await more.focus()
    await more.press("Enter")
    await expect(tab.page.get_by_role("menuitem").first).to_be_focused()
    await tab.picture("menu")
    await tab.page.keyboard.press("Escape")
    await expect(tab.page.get_by_role("menu")).to_have_count(0)
    await expect(more).to_be_focused()
    await more.press("Enter")
    await tab.page.keyboard.press("ArrowDown")
    await tab.page.keyboard.press("Enter")
    await expect(tab.message(REPORT)).to_contain_text("«preflight» by @Ada Engineer")


async def test_menus_of_messages(look: Opener) -> None:
    """Static, external and people menus are searched, chosen from, and tell the app."""
    tab = await look()
    await tab.say("/nccl-dns choose")
    shown = tab.message("Which VM is it?")
    await shown.get_by_role("button", name="Pick the VM").click()
    search = tab.page.get_by_role("combobox", name="Search: Pick the VM")
    await search.fill("node-1")
    await expect(tab.page.locator(".chooser").get_by_role("option")).to_have_count(2)
    await tab.picture("select")
    await search.press("ArrowDown")
    await search.press("Enter")
    await expect(tab.message("chosen: vm-11")).to_be_visible()
    await expect(shown.get_by_role("button", name="node-11")).to_be_visible()
    await shown.get_by_role("button", name="Find a job").click()
    await tab.page.get_by_role("combobox", name="Search: Find a job").fill("4819")
    await tab.page.get_by_role("option", name="48190 llama-64").click()
    await expect(tab.message("chosen: 48190")).to_be_visible()
    await shown.get_by_role("button", name="Who knows?").click()
    await tab.page.locator(".chooser").get_by_role("option", name="Grace").click()
    await expect(tab.message("chosen: U0APPROVER")).to_be_visible()


@pytest.mark.refuses("TrustedHTML")
async def test_the_page_asks_no_other_server(look: Opener, slack: SlackServer) -> None:
    """A picture from elsewhere is a link; the policy forbids the rest."""
    tab = await look()
    response = await tab.page.request.get(slack.base_url)
    assert response.headers["content-security-policy"] == POLICY
    await reported(tab)
    file = slack.world.files[list(slack.world.files)[-1]]
    by_bot = {"channel": "C0TRAINING", "text": "matrix", "blocks": report.matrix(file.id)}
    answer = await tab.page.request.post(
        f"{slack.api_url}chat.postMessage",
        headers={"Authorization": f"Bearer {slack.bot_token}"}, data=by_bot,
    )  # fmt: skip
    assert (await answer.json())["ok"]
    shown = tab.message("Pre-flight: 1 of 32")
    await expect(shown.get_by_alt_text("node-8 resolves nobody")).to_have_js_property(
        "naturalWidth", 384
    )
    await expect(shown.get_by_role("link", name="a picture on another server")).to_be_visible()
    await tab.picture("picture")
    # What the policy is for: neither markup nor a script of somebody else's.
    refused = await tab.page.evaluate(
        """() => {
            try { document.body.innerHTML = "<b>x</b>"; } catch (error) { return error.name; }
            return "";
        }"""
    )
    assert refused == "TypeError"
