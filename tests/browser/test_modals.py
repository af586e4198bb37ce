"""Prove modals, the Home tab and files on the page."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.async_api import expect

from tests.browser.conftest import Opener
from tests.browser.seeing import PHONE, WIDE

pytestmark = pytest.mark.anyio

LONG = "[c10d] The IPv6 network addresses of (node-0, 29500) cannot be retrieved\n" * 60


@pytest.mark.parametrize("size", [WIDE, PHONE])
async def test_a_modal_is_refused_corrected_and_sent(look: Opener, size: tuple[int, int]) -> None:
    """An empty modal is updated with why, a wrong field says so beside it, typing is kept."""
    tab = await look(size=size)
    await tab.say("/nccl-dns")
    modal = tab.modal
    await expect(modal.get_by_role("heading")).to_have_text("Which VM, and why?")
    await expect(modal.get_by_label("Log lines")).to_be_focused()
    await tab.picture("modal")
    assert await tab.overflows() == []
    await modal.get_by_role("button", name="Check").click()
    await expect(modal.get_by_role("alert").filter(has_text="Fill in one")).to_be_visible()
    await modal.get_by_label("Job ID").fill("nonsense")
    await modal.get_by_role("button", name="Check").click()
    await expect(modal).to_contain_text("No cluster knows «nonsense».")
    await expect(modal.get_by_label("Job ID")).to_be_focused()
    await expect(modal.get_by_label("Job ID")).to_have_value("nonsense")
    await tab.picture("modal-errors")
    await modal.get_by_label("Job ID").fill("48213")
    await modal.get_by_label("Job ID").press("Enter")
    await expect(modal).to_have_count(0)
    await tab.page.goto(tab.page.url.partition("#")[0] + "#as=ada&channel=@")
    await expect(tab.message("given: 48213")).to_be_visible()


async def test_a_modal_takes_a_file_and_a_choice(look: Opener, tmp_path: Path) -> None:
    """A file is sent as it is chosen; one of another kind is refused in the client's words."""
    tab = await look(at="&channel=@")
    log = tmp_path / "run.log"
    log.write_text("gai error: -3")
    binary = tmp_path / "run.bin"
    binary.write_bytes(b"\x00")
    await tab.say("/nccl-dns")
    modal = tab.modal
    await modal.get_by_label("Log file").set_input_files(log)
    await expect(modal.locator(".given")).to_contain_text("run.log")
    await modal.get_by_role("button", name="Pick a job").click()
    await tab.page.get_by_role("option", name="48190").click()
    await expect(modal.get_by_role("button", name="48190")).to_be_visible()
    await modal.get_by_role("button", name="Check").click()
    await expect(tab.message("given: 48190")).to_be_visible()
    await tab.say("/nccl-dns")
    await modal.get_by_label("Log file").set_input_files(log)
    await expect(modal.locator(".given")).to_contain_text("run.log")
    await modal.get_by_role("button", name="Check").click()
    await expect(tab.message("given: run.log")).to_be_visible()


@pytest.mark.refuses("409")
async def test_a_file_of_another_kind_is_refused(look: Opener, tmp_path: Path) -> None:
    """The modal stays open and says what it takes."""
    tab = await look()
    binary = tmp_path / "run.bin"
    binary.write_bytes(b"\x00")
    await tab.say("/nccl-dns")
    await tab.modal.get_by_label("Log file").set_input_files(binary)
    await expect(tab.modal.locator(".given")).to_contain_text("run.bin")
    await tab.modal.get_by_role("button", name="Check").click()
    await expect(tab.modal).to_contain_text("Files here must be one of: log, txt, png.")


async def test_a_modal_closes_by_escape_and_by_button(look: Opener) -> None:
    """Escape and Cancel close it on the server, too."""
    tab = await look()
    await tab.say("/nccl-dns")
    await expect(tab.modal).to_be_visible()
    await tab.page.keyboard.press("Escape")
    await expect(tab.modal).to_have_count(0)
    await tab.say("/nccl-dns")
    await tab.modal.get_by_role("button", name="Cancel").click()
    await expect(tab.modal).to_have_count(0)
    await tab.page.reload()
    await expect(tab.field).to_be_visible()
    await expect(tab.modal).to_have_count(0)


@pytest.mark.parametrize("size", [WIDE, PHONE])
async def test_the_home_tab(look: Opener, size: tuple[int, int]) -> None:
    """The app shows it when it is opened, and its buttons work."""
    tab = await look(size=size, at="&channel=@&tab=home")
    home = tab.page.get_by_label("Home tab")
    await expect(home).to_contain_text("Open incidents")
    await tab.picture("home")
    assert await tab.overflows() == []
    await home.get_by_role("button", name="Check a job or a log").click()
    await expect(tab.modal).to_be_visible()


async def test_a_long_paste_becomes_a_snippet(look: Opener) -> None:
    """What is too long for a message is offered as a file, and shown with its beginning."""
    tab = await look()
    await tab.field.fill("@nccl-dns ")
    await tab.field.evaluate(
        """(field, text) => {
            const data = new DataTransfer();
            data.setData("text", text);
            const paste = new ClipboardEvent("paste", { clipboardData: data, cancelable: true });
            if (field.dispatchEvent(paste)) field.setRangeText(text, 10, 10, "end");
        }""",
        LONG,
    )
    await tab.page.get_by_role("button", name="Create snippet").click()
    shown = tab.message("pasted.log")
    await expect(shown.locator("pre.snippet")).to_contain_text("cannot be retrieved")
    await expect(shown.locator(".mention")).to_have_text("@nccl-dns")
    await expect(tab.field).to_have_value("")
    await tab.picture("snippet")
    await expect(shown).to_contain_text("1 reply")


async def test_a_file_is_shared_and_diagnosed_by_shortcut(look: Opener, tmp_path: Path) -> None:
    """A file goes with its text; a message's menu has the app's shortcut by its name."""
    log = tmp_path / "rank64.log"
    log.write_text("gai error: -3\n" * 500)
    tab = await look()
    await tab.page.locator("#compose input[type=file]").set_input_files(log)
    await expect(tab.page.locator("#compose .given")).to_contain_text("rank64.log")
    await tab.say("what is this?")
    shown = tab.message("what is this?")
    await expect(shown.locator("pre.snippet")).to_contain_text("gai error: -3")
    await tab.act_on(shown, "Diagnose this log")
    await expect(shown).to_contain_text("3 replies")
