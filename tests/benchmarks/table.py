"""Print the rows of the benchmark as one table of plain text."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

_HEADINGS = ("", "best", "median", "cpu", "MB/s", "peak MB", "result", "goal", "met")
_MB = 10**6
_SMALL_SECONDS = 1.0


@dataclass(frozen=True, kw_only=True)
class Row:
    """One row: something measured, or the comparison of two such."""

    name: str
    #: Seconds.
    best: float | None = None
    median: float | None = None
    #: Least seconds on the core.
    cpu: float | None = None
    #: Bytes that the best run went through.
    size_bytes: int | None = None
    peak_bytes: int | None = None
    #: What is compared with the goal, or a note.
    result: str = ""
    goal: str = ""
    met: bool | None = None


def ratio_row(
    name: str, value: float, *, cpu: float | None = None, at_most: float | None = None
) -> Row:
    """Make the row of a ratio, with that of the seconds on the core; no ``at_most``, no goal."""
    result = f"{value:.2f}x" if cpu is None else f"{value:.2f}x (cpu {cpu:.2f}x)"
    if at_most is None:
        return Row(name=name, result=result)
    return Row(name=name, result=result, goal=f"<= {at_most:.2f}x", met=value <= at_most)


def _duration(seconds: float | None) -> str:
    if seconds is None:
        return ""
    if seconds < _SMALL_SECONDS:
        return f"{seconds * 1000:.1f} ms"
    return f"{seconds:.2f} s"


def _cells(row: Row) -> tuple[str, ...]:
    speed = ""
    if row.best and row.size_bytes is not None:
        speed = f"{row.size_bytes / row.best / _MB:.0f}"
    peak = "" if row.peak_bytes is None else f"{row.peak_bytes / _MB:.0f}"
    met = {None: "", True: "yes", False: "NO"}[row.met]
    return (
        row.name,
        _duration(row.best),
        _duration(row.median),
        _duration(row.cpu),
        speed,
        peak,
        row.result,
        row.goal,
        met,
    )


def render(rows: Iterable[Row]) -> str:
    """Lay out the rows under their headings; numbers to the right, the rest to the left."""
    table = [_HEADINGS, *(_cells(row) for row in rows)]
    widths = [max(len(cells[column]) for cells in table) for column in range(len(_HEADINGS))]
    left = {0, *range(_HEADINGS.index("result"), len(_HEADINGS))}
    table.insert(1, tuple("-" * width for width in widths))
    lines = (
        "  ".join(
            cell.ljust(width) if column in left else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(cells, widths, strict=True))
        ).rstrip()
        for cells in table
    )
    return "\n".join(lines) + "\n"
