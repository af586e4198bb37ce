"""The report for a person at a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Console, Group
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from bot.reports.foreign import made_printable

if TYPE_CHECKING:
    from bot.reports.sections import Report, Section

#: What an outcome looks like in a first column that holds them.
_TONES = {"OK": "green", "WARN": "bold yellow", "FAIL": "bold red", "SKIP": "dim"}
_COLOUR = {"failure": "red", "warning": "yellow", "none": "green"}


def show(report: Report, console: Console | None = None) -> None:
    """Print the report in colour, wrapped to the terminal's width."""
    (console or Console(highlight=False)).print(drawn(report))


def drawn(report: Report) -> Group:
    """Return the report as rich renderables; foreign text is plain text in it, never markup."""
    report = made_printable(report)
    colour = _COLOUR[report.severity]
    title = Text.assemble((report.title, f"bold {colour}"), (f"  {report.aside}", "dim"))
    parts: list[Panel | Text | Table] = [
        Panel(Text(report.summary), title=title, border_style=colour)
    ]
    for section in report.sections:
        if section.title:
            parts.append(Text(f"\n{section.title}", style="bold"))
        elif section is not report.sections[0]:
            parts.append(Text())
        parts.append(_table(section))
    return Group(*parts)


def _first_style(section: Section) -> str:
    if section.toned:
        return ""
    return "bold" if section.columns else "cyan"


def _table(section: Section) -> Table:
    table = Table(box=None, pad_edge=False, show_header=bool(section.columns), header_style="bold")
    for number, column in enumerate(section.columns or section.rows[0]):
        first = number == 0
        table.add_column(
            column if section.columns else "",
            style=_first_style(section) if first else "",
            justify="right" if section.numbered and first else "left",
            no_wrap=first and (section.toned or not section.columns),
            overflow="fold",
        )
    for row in section.rows:
        tone = _TONES.get(row[0], "") if section.toned else ""
        table.add_row(Text(row[0], style=tone), *map(Text, row[1:]))
    return table
