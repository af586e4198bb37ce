"""Prove that a stream is cut down to the same lines however it is split, in bounded memory."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from bot.diagnosis.scan import Literals
from bot.schedulers.kubernetes.gathering import Gathering, gathered
from bot.schedulers.model import Limits

WORD = b"gai error"
LITERALS = Literals([WORD, b"c10d"])
TINY = Limits(before=2, after=1, head_bytes=0, tail_bytes=0)
LINES = st.lists(
    st.sampled_from([b"", b"step", b"x gai error y", b"[c10d] z", b"a\rb", b"\xff\x00", b"q" * 50])
)


def expected(data: bytes, limits: Limits) -> set[int]:
    """Return the numbers of the lines that hold a literal, with context."""
    lines = re.findall(rb"[^\n]*\n|[^\n]+", data)
    hits = [place for place, line in enumerate(lines) if WORD in line or b"c10d" in line]
    return {
        one + 1
        for hit in hits
        for one in range(max(hit - limits.before, 0), hit + limits.after + 1)
        if one < len(lines)
    }


@given(LINES, st.booleans(), st.lists(st.integers(1, 9), min_size=1))
def test_the_lines_are_those_of_grep(lines: list[bytes], ends: bool, sizes: list[int]) -> None:  # noqa: FBT001
    """Selected lines and context come with their numbers, wherever the pieces are cut."""
    data = b"\n".join(lines) + (b"\n" if ends and lines else b"")
    pieces: list[bytes] = []
    rest = data
    while rest:
        size = sizes[len(pieces) % len(sizes)]
        pieces.append(rest[:size])
        rest = rest[size:]

    found = gathered(pieces, LITERALS, TINY)

    whole = re.findall(rb"[^\n]*\n|[^\n]+", data)
    assert set(found.numbers) == expected(data, TINY)
    assert found.text == b"".join(whole[number - 1] for number in found.numbers)
    assert (found.line_count, found.size_bytes, found.cut) == (len(whole), len(data), False)


def test_beginning_and_end_are_kept_whatever_they_hold() -> None:
    """The first and the last bytes come along, in whole lines."""
    log = b"".join(b"line %04d\n" % number for number in range(1, 1001))
    limits = Limits(head_bytes=25, tail_bytes=35)

    found = gathered([log[at : at + 700] for at in range(0, len(log), 700)], LITERALS, limits)

    assert found.numbers == (1, 2, 3, 998, 999, 1000)


def test_many_selected_lines_are_cut_and_said_to_be() -> None:
    """Over the limit the first ones stay, and the end of the log."""
    log = b"gai error\n" * 1000
    limits = Limits(before=0, after=0, head_bytes=0, tail_bytes=20, file_bytes=100)

    found = gathered([log], LITERALS, limits)

    assert found.cut
    assert found.numbers == (*range(1, 11), 999, 1000)


def test_a_line_without_an_end_is_searched_and_does_not_grow() -> None:
    """Of 64 MiB without a line feed some kilobytes are held, and a literal in them is found."""
    gathering = Gathering(literals=LITERALS, limits=Limits())
    for place in range(256):
        gathering.feed(b"x" * (1 << 18) if place != 77 else b"y" * 5000 + WORD + b"y" * 5000)
        assert len(gathering._carried) < 2 << 20

    found = gathering.done()

    assert found.cut
    assert found.line_count == 1
    assert WORD in found.text
    assert len(found.text) <= 64 << 10


def test_memory_stays_bounded_over_a_long_log() -> None:
    """Of 32 MiB of lines little more is held than what will be given back."""
    gathering = Gathering(literals=LITERALS, limits=Limits())
    block = b"some line of a progress bar\n" * 5000
    for _ in range(240):
        gathering.feed(block)
        assert gathering._tail_bytes <= gathering.limits.tail_bytes + len(block)

    assert gathering.done().line_count == 240 * 5000
