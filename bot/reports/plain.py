"""The report for a file or a pipe: no colour, no wrapping, a line of a log stays one line."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.reports.foreign import made_printable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bot.reports.sections import Report, Section

_GAP = "  "


def text(report: Report) -> str:
    """Return the report as lines of text, the last one ended."""
    report = made_printable(report)
    parts = [": ".join(filter(None, (report.title, report.aside))), report.summary]
    for section in report.sections:
        parts += ["", *([section.title] if section.title else []), *_lines(section)]
    return "\n".join(parts) + "\n"


def _lines(section: Section) -> Iterator[str]:
    rows = (*([section.columns] if section.columns else []), *section.rows)
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        first = row[0].rjust(widths[0]) if section.numbered else row[0].ljust(widths[0])
        rest = [cell.ljust(width) for cell, width in zip(row[1:], widths[1:], strict=True)]
        yield _GAP.join((first, *rest)).rstrip()
