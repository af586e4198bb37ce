"""The scanner: every matching line once, with its number, whatever the stream looks like."""

from __future__ import annotations

import io
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

from hypothesis import given
from hypothesis import strategies as st

from bot.diagnosis.scan import BLOCK_BYTES, LONGEST_LINE_BYTES, Blocks, Literals, Totals, scan


@dataclass
class Notes:
    """A reader that writes down what it is given, and follows so many lines after each match."""

    follow_for: int = 0
    following: bool = False
    lines: list[tuple[int, bytes]] = field(default_factory=list)
    followed: list[tuple[int, bytes]] = field(default_factory=list)
    _left: int = 0

    def matched(self, line: bytes, number: int, _offset: int, _ids: frozenset[int]) -> None:
        """Note a matching line."""
        self.lines.append((number, line))
        self._left = self.follow_for
        self.following = self._left > 0

    def follow(self, line: bytes, number: int) -> None:
        """Note a line that follows one."""
        self.followed.append((number, line))
        self._left -= 1
        self.following = self._left > 0


LITERALS = Literals([b"needle", b"pin"])


def scanned(data: bytes, follow_for: int = 0) -> tuple[Notes, Totals]:
    """Scan bytes."""
    notes = Notes(follow_for=follow_for)
    return notes, scan(io.BytesIO(data), LITERALS, notes)


_LINES = st.lists(
    st.one_of(st.binary(max_size=30), st.sampled_from([b"a needle", b"pin needle", b""])).map(
        lambda line: line.replace(b"\n", b" ")
    ),
    max_size=60,
)


@given(_LINES, st.booleans())
def test_each_matching_line_comes_once_with_its_number(lines: list[bytes], ended: bool) -> None:  # noqa: FBT001 - hypothesis calls it
    """As a plain loop over the lines finds them."""
    data = b"\n".join(lines) + (b"\n" if ended and lines else b"")
    notes, totals = scanned(data)
    split = data.split(b"\n")
    expected = [
        (number, line)
        for number, line in enumerate(split, 1)
        if b"needle" in line or b"pin" in line
    ]
    assert notes.lines == expected
    assert totals == Totals(lines=len(split) - (split[-1] == b""), size_bytes=len(data))


@given(_LINES, st.integers(1, 5))
def test_following_lines_keep_their_numbers(lines: list[bytes], follow_for: int) -> None:
    """What follows a match is handed over in order, with the numbers of the file."""
    notes, _ = scanned(b"\n".join(lines), follow_for)
    numbered = dict(enumerate(lines, 1))
    for number, line in notes.followed:
        assert numbered[number] == line


def test_a_line_over_a_block_border_is_found() -> None:
    """A message may stand where one block ends and the next begins."""
    for before in range(BLOCK_BYTES - 12, BLOCK_BYTES + 4):
        data = b"x" * (before - 1) + b"\n" + b"a needle here\n" + b"y" * 100 + b"\n"
        notes, totals = scanned(data)
        assert notes.lines == [(2, b"a needle here")]
        assert totals.lines == 3


def test_one_endless_line_is_read_in_pieces() -> None:
    """Memory stays bounded, and what stands at the border of two pieces is found."""
    for at in (10, LONGEST_LINE_BYTES - 3, LONGEST_LINE_BYTES + 100, 2 * LONGEST_LINE_BYTES - 260):
        data = bytearray(b"x" * (2 * LONGEST_LINE_BYTES + 1000))
        data[at : at + 6] = b"needle"
        notes, totals = scanned(bytes(data))
        assert {number for number, _ in notes.lines} == {1}
        assert totals == Totals(lines=1, size_bytes=len(data))


def test_blocks_can_be_skipped() -> None:
    """Going forward to an offset gives the lines from there on."""
    data = b"".join(b"line %d\n" % number for number in range(100_000))
    source = Blocks(io.BytesIO(data))
    next(source)
    at = data.index(b"line 90000\n")
    source.skip_to(at)
    buffer, length = next(source)
    assert bytes(buffer[:11]) == b"line 90000\n"
    assert length > 11


def test_threads_scan_at_once() -> None:
    """One set of literals serves many threads: each finds what is in its own block."""
    literals = Literals([b"gai error", b"clients joined"])
    blocks = [
        (b"x" * n + b" gai error: -3\n") * 2000 if n % 2 else b"nothing\n" * 9000 for n in range(16)
    ]
    with ThreadPoolExecutor(8) as pool:
        for _ in range(20):
            found = list(pool.map(lambda block: len(literals.find(block)), blocks))
            assert found == [2000 if n % 2 else 0 for n in range(16)]
