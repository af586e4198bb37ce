"""Who can resolve whom as a picture for Slack: a heat map that is read on a phone.

Machines and names that stand out get thick rows and columns and a label; the healthy ones share
what is left. So one sick machine of a thousand is a broad stripe and not a line of one pixel.
"""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby

from bot.fleet.folding import folded
from bot.hosts.matrix import Matrix, Observer, Seen
from bot.hosts.remarks import Blame, headline, remarks
from bot.reports.matrix import lines_of
from bot.reports.pen import SMALL, TEXT, TITLE, Pen, pen_for
from bot.reports.stripes import Stripe, stripes

#: Pixels: the whole, its margin, the space between parts, and the room for machines' labels.
WIDTH = 1600
_MOST_HEIGHT = 2000
_EDGE, _GAP = 40, 28
_LABELS = 330
#: Pixels of the height of all rows: for few machines as many as they need, never more than fit.
_LEAST_ROWS, _MOST_ROWS, _ROW = 320, 1100, 90
_MOST_TITLE_LINES = 4
#: Labels of columns, each in a line of its own below the map.
_MOST_COLUMNS = 5

#: Characters (https://docs.slack.dev/reference/methods/files.getUploadURLExternal).
_MOST_ALT = 1000

_PAPER, _INK, _FAINT = "#ffffff", "#1b1b1b", "#5a5a5a"
_WRONG, _RIGHT = "#9b1c00", "#0b5c3b"
#: Told apart by lightness as well as by hue (Okabe and Ito, "Color Universal Design", 2008), and
#: what is not known by its stripes.
COLOURS: Mapping[Seen, str] = {
    Seen.RESOLVED: "#cfe5f5",
    Seen.NONE: "#e69f00",
    Seen.NO_ANSWER: "#b02a00",
    Seen.NOT_ASKED: "#e07f60",
    Seen.NOT_REACHED: "#4a4a4a",
}
#: Remarks for which a machine's row stands out.
_OF_MACHINES = frozenset(set(Blame) - {Blame.NAME, Blame.SLOW})
_STRIPED = {Seen.NOT_REACHED: "#b0b0b0"}


def png(matrix: Matrix, title: str = "") -> bytes:
    """Return the matrix as a PNG of 1600 × at most 2000 pixels; without a title its headline."""
    from PIL import Image

    page = Image.new("RGB", (WIDTH, _MOST_HEIGHT), _PAPER)
    bottom = _drawn(pen_for(page), matrix, title or headline(matrix))
    out = io.BytesIO()
    page.crop((0, 0, WIDTH, min(bottom + _EDGE, _MOST_HEIGHT))).save(out, "PNG")
    return out.getvalue()


def alt(matrix: Matrix) -> str:
    """Return in words what the picture shows, as long as Slack lets it be."""
    size = f"{len(matrix.observers)} machines by {len(matrix.names)} names"
    lines = [f"{line}." for line in lines_of(matrix)]
    said = " ".join((f"Who resolves whom, {size}.", headline(matrix), *lines))
    return said if len(said) <= _MOST_ALT else f"{said[: _MOST_ALT - 2].rpartition(' ')[0]} …"


def _drawn(pen: Pen, matrix: Matrix, title: str) -> float:
    """Draw all parts from top to bottom; return where they end."""
    y: float = _EDGE
    colour = _WRONG if matrix.wrong else _RIGHT
    for line in _title(pen, title):
        pen.write(_EDGE, y, line, size=TITLE, fill=colour)
        y += TITLE * 1.25
    y = _legend(pen, matrix, y + _GAP / 2)
    return _map(pen, matrix, y + _GAP)


def _title(pen: Pen, title: str) -> list[str]:
    lines = pen.wrapped(title, TITLE, WIDTH - 2 * _EDGE)
    if len(lines) > _MOST_TITLE_LINES:
        lines = [*lines[: _MOST_TITLE_LINES - 1], f"{lines[_MOST_TITLE_LINES - 1]} …"]
    return lines


def _legend(pen: Pen, matrix: Matrix, y: float) -> float:
    x: float = _EDGE
    tally = matrix.tally
    for seen in Seen:
        if seen not in tally:
            continue
        text = f"{seen}: {tally[seen]:,}"
        width = SMALL + 12 + pen.width(text, SMALL) + 36
        if x + width > WIDTH and x > _EDGE:
            x, y = _EDGE, y + SMALL * 1.5
        _cell(pen, seen, (x, y, x + SMALL, y + SMALL))
        pen.write(x + SMALL + 12, y + SMALL / 2, text, size=SMALL, anchor="lm")
        x += width
    return y + SMALL


def _cell(pen: Pen, seen: Seen, box: tuple[float, float, float, float]) -> None:
    left, top, right, bottom = box
    pen.draw.rectangle((left, top, max(right - 1, left), max(bottom - 1, top)), COLOURS[seen])
    stripe = _STRIPED.get(seen)
    if stripe and bottom - top > 4:  # noqa: PLR2004 # thinner, there is no room for stripes
        x = left
        while x < right:
            end = min(x + (bottom - top), right - 1)
            pen.draw.line((x, bottom - 1, end, bottom - 1 - (end - x)), stripe, 2)
            x += 18


def _map(pen: Pen, matrix: Matrix, y: float) -> float:
    """Draw the panels of short and full names side by side, with the machines to their left."""
    blocks = [(title, at) for title, at in _blocks(matrix) if at]
    if not blocks or not matrix.observers:
        return y
    count, said = len(matrix.observers), remarks(matrix)
    names = {name for one in said if one.blame is Blame.NAME for name in one.names}
    machines = {name for one in said if one.blame in _OF_MACHINES for name in one.observers}
    height = min(max(count * _ROW, _LEAST_ROWS), _MOST_ROWS)
    rows = stripes([one.name in machines for one in matrix.observers], height, TEXT + 8)
    left = _EDGE + _LABELS
    width = (WIDTH - _EDGE - left - _GAP * (len(blocks) - 1)) / len(blocks)
    top = y + TEXT * 1.4
    bottom = top + height
    for number, (title, block) in enumerate(blocks):
        x = left + number * (width + _GAP)
        pen.write(x, y, pen.cut(title, TEXT, width), size=TEXT)
        columns = stripes([matrix.names[at] in names for at in block], width, TEXT)
        _panel(pen, matrix, block, rows, columns, x, top)
        bottom = max(bottom, _columns(pen, matrix, block, columns, x, top + height))
    _rows(pen, matrix, rows, top)
    note = f"Each row is a machine that looks names up ({count}), each column a name."
    pen.write(_EDGE, bottom + 18, note, size=SMALL, fill=_FAINT)
    return bottom + 18 + SMALL


def _blocks(matrix: Matrix) -> Iterator[tuple[str, tuple[int, ...]]]:
    short, full = matrix.part(full=False), matrix.part(full=True)
    yield f"{len(short)} short names", short
    yield f"{len(full)} full names", full


def _panel(
    pen: Pen,
    matrix: Matrix,
    block: Sequence[int],
    rows: Sequence[Stripe],
    columns: Sequence[Stripe],
    x: float,
    y: float,
) -> None:
    bottom, right = y + rows[-1].end, x + columns[-1].end
    _cell(pen, Seen.RESOLVED, (x, y, right, bottom))
    for row in rows:
        one = matrix.observers[row.at]
        if one.clean:
            continue
        for seen, start, end in _cells(one, block, columns):
            if seen is not Seen.RESOLVED:
                _cell(pen, seen, (x + start, y + row.start, x + end, y + row.end))
    _lines(pen, rows, columns, x, y)
    pen.draw.rectangle((x, y, right, bottom), outline=_FAINT, width=2)


def _cells(
    one: Observer, block: Sequence[int], columns: Sequence[Stripe]
) -> Iterator[tuple[Seen, float, float]]:
    """Yield what a machine saw from where to where, neighbours of one kind together."""
    for seen, run in groupby(columns, key=lambda column: one.seen(block[column.at])):
        found = list(run)
        yield seen, found[0].start, found[-1].end


def _lines(pen: Pen, rows: Sequence[Stripe], columns: Sequence[Stripe], x: float, y: float) -> None:
    """Part the cells where they are large enough for it."""
    if min(one.end - one.start for one in rows) >= 14:  # noqa: PLR2004
        for row in rows[1:]:
            pen.draw.line((x, y + row.start, x + columns[-1].end, y + row.start), _PAPER, 2)
    if min(one.end - one.start for one in columns) >= 14:  # noqa: PLR2004
        for column in columns[1:]:
            pen.draw.line((x + column.start, y, x + column.start, y + rows[-1].end), _PAPER, 2)


def _rows(pen: Pen, matrix: Matrix, rows: Sequence[Stripe], top: float) -> None:
    """Name the machines: those with failures in any case, neighbours in one label."""
    for run in _runs(rows, room=TEXT):
        bad = run[0].bad
        name = folded(matrix.observers[one.at].name for one in run)
        middle = top + (run[0].start + run[-1].end) / 2
        size = TEXT if bad else SMALL
        text = pen.cut(name, size, _LABELS - 30)
        right = _EDGE + _LABELS - 14
        pen.write(right, middle, text, size=size, fill=_WRONG if bad else _FAINT, anchor="rm")


def _columns(
    pen: Pen,
    matrix: Matrix,
    block: Sequence[int],
    columns: Sequence[Stripe],
    x: float,
    y: float,
) -> float:
    """Point at the names that fail, and name them below; return where that ends."""
    runs = list(_runs([one for one in columns if one.bad], room=0))
    for run in runs:
        middle = x + (run[0].start + run[-1].end) / 2
        pen.draw.polygon([(middle, y + 6), (middle - 16, y + 34), (middle + 16, y + 34)], _WRONG)
    if not runs:
        return y
    bottom = y + 40
    lines = [folded(matrix.names[block[one.at]] for one in run) for run in runs]
    if len(lines) > _MOST_COLUMNS:
        more = f"and {len(lines) - _MOST_COLUMNS + 1} more"
        lines = [*lines[: _MOST_COLUMNS - 1], more]
    for line in lines:
        text = pen.cut(line, TEXT, columns[-1].end)
        pen.write(x, bottom, text, size=TEXT, fill=_WRONG)
        bottom += TEXT * 1.25
    return bottom


def _runs(stripes_: Sequence[Stripe], room: float) -> Iterator[list[Stripe]]:
    """Yield neighbours of one kind together, where each alone has no room for its label."""
    run: list[Stripe] = []
    for one in stripes_:
        fits = one.end - one.start >= room > 0
        joins = run and run[-1].bad == one.bad and run[-1].at + 1 == one.at and not fits
        if run and not joins:
            yield run
            run = []
        run.append(one)
    if run:
        yield run
