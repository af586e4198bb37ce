"""Write on a picture: letters in a few sizes, wrapped and cut to the room there is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from PIL.Image import Image
    from PIL.ImageDraw import ImageDraw
    from PIL.ImageFont import FreeTypeFont, ImageFont

#: Pixels of letters: on a phone a quarter of this.
TITLE, TEXT, SMALL = 52, 44, 36


def pen_for(page: Image) -> Pen:
    """Return a pen for a page, with the letters that come with the library."""
    from PIL import ImageDraw, ImageFont

    sizes = (TITLE, TEXT, SMALL)
    fonts = {size: ImageFont.load_default(size) for size in sizes}
    return Pen(draw=ImageDraw.Draw(page), fonts=fonts)


@dataclass(frozen=True)
class Pen:
    """What draws and writes on one page; lengths are pixels."""

    draw: ImageDraw
    fonts: Mapping[int, FreeTypeFont | ImageFont]

    def width(self, text: str, size: int) -> float:
        """Return how many pixels a text is wide."""
        return self.draw.textlength(text, self.fonts[size])

    def write(
        self, x: float, y: float, text: str, *, size: int, fill: str = "#1b1b1b", anchor: str = "la"
    ) -> None:
        """Write one line of text."""
        self.draw.text((x, y), text, font=self.fonts[size], fill=fill, anchor=anchor)

    def cut(self, text: str, size: int, room: float) -> str:
        """Return a text, its middle left out where it is too wide."""
        if self.width(text, size) <= room:
            return text
        keep = len(text) - 1
        while keep > 1 and self.width(_middle_out(text, keep), size) > room:
            keep -= 1
        return _middle_out(text, keep)

    def wrapped(self, text: str, size: int, room: float) -> list[str]:
        """Return a text in lines that fit."""
        lines = [""]
        for word in text.split():
            longer = f"{lines[-1]} {word}".strip()
            if self.width(longer, size) <= room or not lines[-1]:
                lines[-1] = longer
            else:
                lines.append(word)
        return [self.cut(line, size, room) for line in lines]


def _middle_out(text: str, keep: int) -> str:
    return f"{text[: (keep + 1) // 2]}…{text[len(text) - keep // 2 :]}"
