"""Foreign text made fit for a terminal: job names, states and reasons are other people's words."""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bot.reports.sections import Report

#: Controls, what reorders text unseen, and what ends a line without being a line's end.
_UNSEEN = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})


def printable(text: str) -> str:
    """Return a text whose control characters and reordering marks are spelled out."""
    if text.isprintable():
        return text
    return "".join(
        char if char in "\n\t" or unicodedata.category(char) not in _UNSEEN else ascii(char)[1:-1]
        for char in text
    )


def made_printable(report: Report) -> Report:
    """Return a report of which nothing acts on a terminal."""
    return report._replace(
        summary=printable(report.summary),
        sections=tuple(
            section._replace(
                title=printable(section.title),
                rows=tuple(tuple(map(printable, row)) for row in section.rows),
            )
            for section in report.sections
        ),
    )
