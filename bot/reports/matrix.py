"""Who can resolve whom, for a terminal: a cell a name for few machines, folded lines for many."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from bot.fleet.folding import folded
from bot.hosts.matrix import Matrix, Observer, Seen, host_of, is_full
from bot.hosts.remarks import Blame, headline, remarks

if TYPE_CHECKING:
    from rich.console import Console, Group
    from rich.text import Text

#: Observers up to which each name has a cell of its own.
MOST_ROWS = 32
#: Names that a folded line spells out, and characters of a column's label.
_SPELLED_OUT, _LABEL = 4, 4
_GAP = "  "

#: A cell's sign and colour; the signs alone tell them apart.
SIGNS: Mapping[Seen, tuple[str, str]] = {
    Seen.RESOLVED: ("·", "dim"),
    Seen.NONE: ("n", "bold yellow"),
    Seen.NO_ANSWER: ("x", "bold red"),
    Seen.NOT_ASKED: ("-", "red"),
    Seen.NOT_REACHED: ("?", "magenta"),
}


def show(matrix: Matrix, console: Console | None = None) -> None:
    """Print the matrix in colour, in cells where they fit the terminal's width."""
    from rich.console import Console as NewConsole

    console = console or NewConsole(highlight=False)
    console.print(report(matrix, console.width))


def report(matrix: Matrix, width: int = 80) -> Group:
    """Return the headline, the cells or the folded lines, and what else stands out."""
    from rich.console import Group as NewGroup
    from rich.panel import Panel
    from rich.text import Text as NewText

    colour = "red" if matrix.wrong else "green"
    parts: list[Panel | Text] = [Panel(NewText(headline(matrix)), border_style=colour)]
    if _fits(matrix, width):
        parts.extend(_grid(matrix))
    else:
        parts.extend(NewText(line, style="bold" if bad else "") for line, bad in _lines(matrix))
    parts.extend(NewText(f"– {line}") for line in _others(matrix))
    return NewGroup(*parts)


def text(matrix: Matrix) -> str:
    """Return the matrix for a file or a pipe: folded lines without colour, the last one ended."""
    lines = [headline(matrix), *lines_of(matrix), *(f"– {line}" for line in _others(matrix))]
    return "\n".join(lines) + "\n"


def lines_of(matrix: Matrix) -> tuple[str, ...]:
    """Return a line for all machines that saw the same, the most machines first."""
    return tuple(line for line, _ in _lines(matrix))


def _others(matrix: Matrix) -> list[str]:
    said = headline(matrix)
    return [one.text for one in remarks(matrix) if one.text != said]


def _lines(matrix: Matrix) -> Iterator[tuple[str, bool]]:
    groups: dict[str, list[Observer]] = defaultdict(list)
    for one in matrix.observers:
        groups[_row(matrix, one)].append(one)
    for said, rows in sorted(groups.items(), key=lambda group: -len(group[1])):
        yield f"{folded(one.name for one in rows)}: {said}", not rows[0].clean


def _row(matrix: Matrix, one: Observer) -> str:
    """Say in words what one machine sees."""
    if one.clean:
        return f"all {len(matrix.names)} names"
    if not one.reached:
        return str(Seen.NOT_REACHED)
    found: dict[Seen, list[int]] = defaultdict(list)
    for at in range(len(matrix.names)):
        found[one.seen(at)].append(at)
    failed = len(matrix.names) - len(found[Seen.RESOLVED])
    if failed == len(matrix.names) and not found[Seen.NONE]:
        return "no answer for any"
    parts = [
        _part(matrix, one, seen, found[seen])
        for seen in (Seen.NO_ANSWER, Seen.NONE, Seen.NOT_ASKED)
        if found[seen]
    ]
    return f"{', '.join(parts)}; {len(found[Seen.RESOLVED])} of {len(matrix.names)} resolved"


def _part(matrix: Matrix, one: Observer, seen: Seen, found: Sequence[int]) -> str:
    codes = {code for at in found if (code := one.code(at)) is not None}
    said = f"{seen} ({', '.join(map(str, sorted(codes)))})" if codes else str(seen)
    if len(found) <= _SPELLED_OUT:
        return f"{said}: {folded(matrix.names[at] for at in found)}"
    return f"{said}: {len(found)} names"


# -- cells ---------------------------------------------------------------------------------------


def _fits(matrix: Matrix, width: int) -> bool:
    blocks = sum(len(block) + len(_GAP) for block in _blocks(matrix))
    return 0 < len(matrix.observers) <= MOST_ROWS and _margin(matrix) + blocks <= width


def _blocks(matrix: Matrix) -> tuple[tuple[int, ...], ...]:
    """Return the columns of the short names, then those of the full ones."""
    blocks = (matrix.part(full=False), matrix.part(full=True))
    return tuple(block for block in blocks if block)


def _margin(matrix: Matrix) -> int:
    return max(len(one.name) for one in matrix.observers)


def _grid(matrix: Matrix) -> Iterator[Text]:
    from rich.text import Text as NewText

    margin, blocks = _margin(matrix), _blocks(matrix)
    titles = [
        ("full" if is_full(matrix.names[block[0]]) else "short")[: len(block)].ljust(len(block))
        for block in blocks
    ]
    yield NewText(_GAP.join([" " * margin, *titles]).rstrip(), style="bold")
    labels = [_labels(matrix, block) for block in blocks]
    for line in range(len(labels[0][0])):
        cells = ["".join(label[line] for label in block) for block in labels]
        yield NewText(_GAP.join([" " * margin, *cells]).rstrip(), style="dim")
    for one in matrix.observers:
        row = NewText(one.name.ljust(margin), style="" if one.clean else "bold red")
        for block in blocks:
            row.append(_GAP)
            for at in block:
                row.append(*SIGNS[one.seen(at)])
        yield row
    yield from _foot(matrix, blocks, margin)
    present = [seen for seen in Seen if seen in matrix.tally]
    yield NewText(
        "".join(f"{SIGNS[seen][0]} {seen}{_GAP}" for seen in present).rstrip() + "\n", style="dim"
    )


def _foot(matrix: Matrix, blocks: Sequence[Sequence[int]], margin: int) -> Iterator[Text]:
    """Point at the names that are to blame."""
    from rich.text import Text as NewText

    blamed = {name for one in remarks(matrix) if one.blame is Blame.NAME for name in one.names}
    if blamed:
        marks = ["".join("^" if matrix.names[at] in blamed else " " for at in b) for b in blocks]
        yield NewText(_GAP.join([" " * margin, *marks]).rstrip(), style="bold yellow")


def _labels(matrix: Matrix, block: Sequence[int]) -> list[str]:
    """Return what tells the machines of these columns apart, to be read downwards."""
    hosts = [host_of(matrix.names[at]) for at in block]
    same = 0
    while (
        len(hosts) > 1
        and len({host[: same + 1] for host in hosts}) == 1
        and same < _shortest(hosts)
    ):
        same += 1
    ends = [host[same:][-_LABEL:] for host in hosts]
    return [end.rjust(max(map(len, ends))) for end in ends]


def _shortest(hosts: Sequence[str]) -> int:
    return min(map(len, hosts)) - 1
