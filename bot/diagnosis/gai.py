"""Codes of getaddrinfo, whatever platform printed them."""

from __future__ import annotations

import re

from bot.diagnosis.model import Observation
from bot.diagnosis.patterns import Pattern

_LONGEST_NUMBER = 9

#: getaddrinfo's codes by the words that go with them, for platforms whose numbers differ
#: (glibc netdb.h, macOS netdb.h, Windows winsock2.h).
_CODE_BY_TEXT = (
    (Pattern(r"Temporary failure|try again|EAI_AGAIN", re.IGNORECASE), -3),
    (Pattern(r"not known|nodename nor servname|No such host|NXDOMAIN", re.IGNORECASE), -2),
    (Pattern(r"No address associated", re.IGNORECASE), -5),
    (Pattern(r"Address family", re.IGNORECASE), -9),
    (Pattern(r"Non-recoverable", re.IGNORECASE), -4),
    (Pattern(r"System error", re.IGNORECASE), -11),
)
_CODE_BY_NUMBER = {8: -2, 11001: -2, 11002: -3, 11003: -4, 11004: -5, 2: -3, 4: -4, 7: -5}


def code_of(seen: Observation) -> int | None:
    """Return the code of a failing look-up as the log gives it, else glibc's for its words."""
    code = number(seen.fields.get("code"))
    if code is not None:
        return code
    return code_of_text(seen.fields.get("text", ""))


def code_of_text(text: str) -> int | None:
    """Return glibc's getaddrinfo code for an error's words, or None where they say nothing."""
    return next((code for words, code in _CODE_BY_TEXT if words.search(text)), None)


def glibc_code(code: int, text: str) -> int:
    """Return glibc's code for one of any platform: by its words, then by its number."""
    return code_of_text(text) or (_CODE_BY_NUMBER.get(code, code) if code > 0 else code)


def number(text: str | None) -> int | None:
    """Return a number from a log, or None where it is none or absurdly long."""
    if text is None or len(text) > _LONGEST_NUMBER:
        return None
    try:
        return int(text)
    except ValueError:
        return None
