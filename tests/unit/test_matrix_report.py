"""Prove that the matrix says the same in cells, in folded lines and as a picture."""

from __future__ import annotations

import io
import re
from collections import Counter
from itertools import pairwise

import pytest
from PIL import Image, ImageChops
from rich.console import Console

from bot.hosts.matrix import Matrix, Seen
from bot.hosts.remarks import headline
from bot.reports.matrix import MOST_ROWS, SIGNS, lines_of, show, text
from bot.reports.picture import COLOURS, WIDTH, alt, png
from bot.reports.stripes import stripes
from tests.fabric import AGAIN, DOMAIN, LATE, NONE, NOT_ASKED, matrix

#: Pixels on a page that a phone shows at a quarter: a stripe that a person sees.
_BROAD = 24


def _shown(found: Matrix, width: int = 80) -> str:
    console = Console(width=width, highlight=False)
    with console.capture() as said:
        show(found, console)
    return said.get()


def test_few_machines_have_a_cell_a_name() -> None:
    """Each row of the terminal holds the sign of each of its cells, short names then full ones."""
    found = matrix(32, sick={8: AGAIN}, short=[3], lost=[30])
    rows = dict(re.findall(r"(?m)^(node-\d+) +([·nx?-].*)$", _shown(found)))

    for one in found.observers:
        order = (*found.part(full=False), *found.part(full=True))
        assert rows[one.name].replace("  ", "") == "".join(SIGNS[one.seen(at)][0] for at in order)


def test_the_signs_differ() -> None:
    """Without colours, the cells are told apart still."""
    assert len({sign for sign, _ in SIGNS.values()}) == len(Seen) == len(set(COLOURS.values()))


def test_names_to_blame_are_pointed_at() -> None:
    """Below the cells stands a mark under the column of a name that fails everywhere."""
    shown = _shown(matrix(16, bad_names={f"node-7.{DOMAIN}": NONE})).splitlines()
    row = next(line for line in shown if line.startswith("node-0 "))
    mark = next(line for line in shown if line.strip() == "^")

    assert row[mark.index("^")] == "n"


@pytest.mark.parametrize(("machines", "width"), [(MOST_ROWS + 1, 200), (32, 60)])
def test_many_machines_are_folded(machines: int, width: int) -> None:
    """More rows than a screen has, or wider ones, become a line for all that saw the same."""
    found = matrix(machines, sick={8: LATE})

    shown = _shown(found, width)

    assert f"node-[0-7,9-{machines - 1}]: all {2 * machines} names" in shown
    assert f"node-8: no answer: {2 * machines - 2} names" in shown
    assert "·" not in shown


def test_folded_lines_hold_every_machine_once() -> None:
    """Each machine is in one line, with what fails there by name where that is little."""
    found = matrix(64, bad_names={"node-7": NONE}, sick={9: NOT_ASKED}, lost=[60])

    assert lines_of(found) == (
        "node-[0-8,10-59,61-63]: told there is none (-2): node-7; 127 of 128 resolved",
        "node-9: told there is none (-2): node-7, not asked: 125 names; 2 of 128 resolved",
        "node-60: not reached",
    )


def test_a_pipe_gets_plain_lines() -> None:
    """The text for a pipe begins with the verdict and has no colour."""
    found = matrix(8, sick={3: AGAIN}, lost=[4])
    said = text(found)

    assert said.startswith(headline(found) + "\nnode-[0-2,5-7]: all 16 names\n")
    assert "\x1b" not in said
    assert "nothing is known of it: node-4" in said
    assert text(matrix(3)).splitlines()[0].startswith("All 3 machines resolve all 6 names")


def test_no_name_at_all_fits_any_width() -> None:
    """A machine that answered nothing for any name is a line of its own."""
    found = matrix(40, observers=2)
    rows = tuple(
        type(one)(name=one.name, cells=bytes([LATE]) * len(one.cells)) for one in found.observers
    )

    assert lines_of(Matrix(names=found.names, observers=rows)) == (
        "node-0, node-1: no answer for any",
    )


# -- the picture ---------------------------------------------------------------------------------


def _pixels(found: Matrix) -> Image.Image:
    page = Image.open(io.BytesIO(png(found)))
    assert page.format == "PNG"
    assert page.width == WIDTH
    assert page.height <= 2000
    return page.convert("RGB")


def _share(page: Image.Image, seen: Seen) -> Counter[str]:
    """Count the rows and columns of the page in which a colour covers a fifth or more."""
    plain = Image.new("RGB", page.size, COLOURS[seen])
    red, green, blue = ImageChops.difference(page, plain).split()
    apart = ImageChops.lighter(ImageChops.lighter(red, green), blue)
    flat = apart.point([255] + [0] * 255)
    rows = flat.resize((1, page.height), Image.Resampling.BOX).tobytes()
    columns = flat.resize((page.width, 1), Image.Resampling.BOX).tobytes()
    fifth = 255 / 5
    return Counter(
        rows=sum(value > fifth for value in rows), columns=sum(value > fifth for value in columns)
    )


@pytest.mark.parametrize("machines", [4, 32, 250, 1024])
def test_one_sick_machine_is_a_broad_stripe(machines: int) -> None:
    """However many machines there are, the row of a sick one is seen on a phone."""
    page = _pixels(matrix(machines, observers=machines, sick={machines // 2: AGAIN}))

    assert _share(page, Seen.NO_ANSWER)["rows"] >= _BROAD


@pytest.mark.parametrize("machines", [4, 32, 250])
def test_one_bad_name_is_a_broad_stripe(machines: int) -> None:
    """A name that fails everywhere is a column that is seen on a phone, in its panel."""
    page = _pixels(matrix(machines, bad_names={"node-2": NONE}))

    assert _share(page, Seen.NONE)["columns"] >= _BROAD


def test_a_good_picture_has_no_bad_colour() -> None:
    """Where all is well nothing looks as if it were not."""
    page = _pixels(matrix(32))

    assert _share(page, Seen.RESOLVED)["rows"] > page.height / 2
    for seen in set(Seen) - {Seen.RESOLVED}:
        assert not any(_share(page, seen).values())


@pytest.mark.parametrize(
    "found",
    [
        Matrix(names=(), observers=()),
        matrix(1),
        matrix(2, lost=[0, 1]),
        matrix(64, sick=dict.fromkeys(range(0, 64, 2), LATE)),
        matrix(64, bad_names={f"node-{at}": NONE for at in range(0, 64, 3)}),
    ],
)
def test_every_matrix_has_a_picture(found: Matrix) -> None:
    """Nothing, one, all and every second are drawn, too, and told in words that Slack takes."""
    _pixels(found)
    assert alt(found).startswith("Who resolves whom, ")
    assert headline(found)[:80] in alt(found)
    assert len(alt(found)) <= 1000


@pytest.mark.parametrize("bad", [[], [0], [5], list(range(50)), list(range(0, 100, 2)), range(100)])
def test_stripes_fill_the_length(bad: list[int]) -> None:
    """Neighbours touch, the last ends at the length, and none that is bad is a thin one."""
    marks = [at in bad for at in range(100)]
    found = stripes(marks, 700, 40)

    assert found[0].start == 0
    assert found[-1].end == pytest.approx(700)
    assert all(a.end == b.start for a, b in pairwise(found))
    thick = [one.end - one.start for one in found if one.bad]
    thin = [one.end - one.start for one in found if not one.bad]
    assert not (thick and thin) or min(thick) >= max(thin) - 1e-9
