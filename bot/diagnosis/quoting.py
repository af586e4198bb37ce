"""Foreign text made fit to be shown: no control characters, not too long, no secrets."""

from __future__ import annotations

from collections.abc import Sequence

from bot.diagnosis.patterns import Pattern
from bot.diagnosis.peeling import strip_ansi
from bot.diagnosis.redact import redact

_LONGEST_QUOTE = 600
#: C0 and C1 controls, and the marks that reorder text (Unicode Standard Annex 9).
_CONTROL = Pattern(r"[\x00-\x08\x0a-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")


def shown(text: str) -> str:
    """Return a text in one line, without control characters, cut at a length fit to be read."""
    plain = _CONTROL.sub(" ", strip_ansi(text)).strip()
    return plain if len(plain) <= _LONGEST_QUOTE else plain[:_LONGEST_QUOTE] + " …"


def quoted(texts: Sequence[str]) -> list[str]:
    """Return texts as they may leave the core; redacted together, since a key has several lines."""
    if not texts:
        return []
    return redact("\n".join(shown(text) for text in texts)).text.split("\n")
