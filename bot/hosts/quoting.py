"""The one place where words become a command line."""

from __future__ import annotations

import shlex
from collections.abc import Iterable


def quoted(argv: Iterable[str]) -> str:
    """Return a command line that any login shell splits into exactly these words.

    Words with line feeds or NULs are refused with ValueError: no command of ours has any, and
    shells differ in what they make of them.
    """
    words = list(argv)
    if any(char in word for word in words for char in "\n\r\0"):
        raise ValueError("A command's word holds a line feed or NUL.")
    return shlex.join(words)
