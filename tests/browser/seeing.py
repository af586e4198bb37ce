"""What tests do with a tab of the page."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

from playwright.async_api import Locator, Page, expect

#: What a loaded machine may need for something that takes milliseconds.
PATIENCE_MS = 20_000

WIDE = (1280, 800)
PHONE = (375, 740)

expect.set_options(timeout=PATIENCE_MS)


@dataclass(kw_only=True)
class Seen:
    """What went wrong in the tabs of a test."""

    origin: str
    problems: list[str] = field(default_factory=list)


@dataclass(frozen=True, kw_only=True, slots=True)
class Tab:
    """One person's tab."""

    page: Page
    pictures: Path
    name: str

    @property
    def log(self) -> Locator:
        """Return the channel's messages."""
        return self.page.locator("#log")

    @property
    def thread(self) -> Locator:
        """Return the thread beside them."""
        return self.page.locator("#thread")

    @property
    def modal(self) -> Locator:
        """Return the modal."""
        return self.page.locator("#modal")

    @property
    def field(self) -> Locator:
        """Return the field that messages to the channel are written in."""
        return self.page.locator("#compose textarea")

    def message(self, text: str | re.Pattern[str]) -> Locator:
        """Return the channel's newest message with a text."""
        return self.log.locator(".message").filter(has_text=text).last

    async def say(self, text: str) -> None:
        """Write a message or a command and send it."""
        await self.field.fill(text)
        await self.field.press("Enter")

    async def act_on(self, message: Locator, entry: str) -> None:
        """Choose from the menu of a message's actions."""
        await message.hover()
        await message.get_by_role("button", name="More actions on this message").click()
        await self.page.get_by_role("menuitem", name=entry).click()

    async def picture(self, of: str) -> Path:
        """Keep a picture of what is seen."""
        width = (self.page.viewport_size or {"width": 0})["width"]
        path = self.pictures / f"{of}-{width}.png"
        # Transitions and carets would make two pictures of one thing differ.
        await self.page.screenshot(path=path, animations="disabled", caret="hide")
        return path

    async def overflows(self) -> list[str]:
        """Return what is wider than the window, or cut off at its side."""
        script = """() => [...document.querySelectorAll('body *')].filter((one) => {
            const at = one.getBoundingClientRect();
            const free = one.closest('.scroll, pre, .carousel, .skip');
            return at.width && !free && (at.right > innerWidth + 1 || at.left < -1);
        }).map((one) => `${one.tagName}.${one.className}`)"""
        found: list[str] = await self.page.evaluate(script)
        return found
