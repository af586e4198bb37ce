"""Regular expressions that are compiled when they are first used.

The tables hold some two hundred; compiling them all would cost more than reading a usual paste.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cached_property


class Pattern:
    """A regular expression of one of the tables."""

    def __init__(self, text: str, flags: int = 0) -> None:
        """Keep the expression; errors in it show at first use, and in the tests of the tables."""
        self.text = text
        self._flags = flags

    @cached_property
    def compiled(self) -> re.Pattern[str]:
        """Return the compiled expression."""
        return re.compile(self.text, self._flags)

    def match(self, text: str, start: int = 0) -> re.Match[str] | None:
        """Match at `start`."""
        return self.compiled.match(text, start)

    def fullmatch(self, text: str) -> re.Match[str] | None:
        """Match the whole text."""
        return self.compiled.fullmatch(text)

    def search(self, text: str, start: int = 0, end: int = 1 << 62) -> re.Match[str] | None:
        """Find the first match."""
        return self.compiled.search(text, start, end)

    def finditer(self, text: str) -> Iterator[re.Match[str]]:
        """Find every match."""
        return self.compiled.finditer(text)

    def sub(self, replacement: str | Callable[[re.Match[str]], str], text: str) -> str:
        """Replace every match."""
        return self.compiled.sub(replacement, text)
