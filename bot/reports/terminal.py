"""The report for a person at a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Console, Group
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from bot.reports.sections import Section, headline, sections

if TYPE_CHECKING:
    from bot.diagnosis import Diagnosis

_COLOUR = {"failure": "red", "warning": "yellow", "none": "green"}


def show(found: Diagnosis, console: Console | None = None) -> None:
    """Print the report in colour, wrapped to the terminal's width."""
    (console or Console(highlight=False)).print(report(found))


def report(found: Diagnosis) -> Group:
    """Return the report as rich renderables; foreign text is plain text in it, never markup."""
    colour = _COLOUR[found.severity]
    cause, confidence = headline(found)
    title = Text.assemble((cause, f"bold {colour}"), (f"  {confidence}", "dim"))
    parts: list[Panel | Text | Table] = [
        Panel(Text(found.summary), title=title, border_style=colour)
    ]
    for section in sections(found):
        if section.title:
            parts.append(Text(f"\n{section.title}", style="bold"))
        parts.append(_table(section))
    return Group(*parts)


def _table(section: Section) -> Table:
    table = Table(box=None, pad_edge=False, show_header=bool(section.columns), header_style="bold")
    for number, column in enumerate(section.columns or section.rows[0]):
        first = number == 0
        table.add_column(
            column if section.columns else "",
            style="bold" if section.columns and first else "cyan" if first else "",
            justify="right" if section.numbered and first else "left",
            no_wrap=first and not section.columns,
            overflow="fold",
        )
    for row in section.rows:
        table.add_row(*map(Text, row))
    return table
