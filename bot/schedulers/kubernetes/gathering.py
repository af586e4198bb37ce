"""Keep of a stream of log lines what the diagnosis can use, in bounded memory. Pure.

The API cannot search a log where it lies, so it is searched as it comes: the lines that hold a
literal of the signature table, with context, and the first and last kilobytes whatever they hold.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from bot.diagnosis.scan import Literals
from bot.schedulers.model import Limits

#: A longer line is kept up to here.
_LONGEST_LINE = 64 << 10
#: A line whose end does not come is searched in pieces of this size.
_LONGEST_SEARCHED = 1 << 20
#: What is kept of it around a literal, and carried on from piece to piece.
_AROUND = 4 << 10
_OVERLAP = 256
_LINE = re.compile(rb"[^\n]*\n|[^\n]+")


@dataclass(frozen=True, kw_only=True, slots=True)
class Gathered:
    """What was kept of a stream."""

    #: lines in order, their ends included, and the number of each (from 1)
    text: bytes
    numbers: tuple[int, ...]
    size_bytes: int
    line_count: int
    #: more was selected than is kept
    cut: bool


@dataclass(kw_only=True)
class Gathering:
    """Takes the pieces of a stream as they come."""

    literals: Literals
    limits: Limits
    size_bytes: int = 0
    _line_count: int = 0
    _head_bytes: int = 0
    _picked_bytes: int = 0
    #: how many of the next lines are context
    _after: int = 0
    _cut: bool = False
    _picked: dict[int, bytes] = field(default_factory=dict)
    #: the last blocks, each with the number of its first line
    _tail: deque[tuple[int, bytes]] = field(default_factory=deque)
    _tail_bytes: int = 0
    #: the last lines, as many as are context
    _recent: list[tuple[int, bytes]] = field(default_factory=list)
    #: a line whose end has not come yet
    _carried: bytearray = field(default_factory=bytearray)

    def feed(self, piece: bytes) -> None:
        """Take the next bytes."""
        self.size_bytes += len(piece)
        end = piece.rfind(b"\n") + 1
        if not end:
            self._carried += piece
            if len(self._carried) > _LONGEST_SEARCHED:
                self._collapse()
            return
        block = bytes(self._carried) + piece[:end]
        self._carried[:] = piece[end:]
        self._take(block)

    def done(self) -> Gathered:
        """Return what was kept; nothing may be fed after it."""
        if self._carried:
            self._take(bytes(self._carried))
            self._carried.clear()
        kept = dict(self._last_lines()) | self._picked
        numbers = sorted(kept)
        return Gathered(
            text=b"".join(kept[number] for number in numbers),
            numbers=tuple(numbers),
            size_bytes=self.size_bytes,
            line_count=self._line_count,
            cut=self._cut,
        )

    def _collapse(self) -> None:
        """Leave of a line without an end its beginning, what is around a literal, and its end."""
        line = bytes(self._carried)
        hits = self.literals.find(line)
        around = b""
        if hits:
            middle = hits[0][0]
            around = line[max(middle - _AROUND, _LONGEST_LINE // 2) : middle + _AROUND]
        self._carried[:] = line[: _LONGEST_LINE // 2] + around + line[-_OVERLAP:]
        self._cut = True

    def _take(self, block: bytes) -> None:
        """Take whole lines; only blocks with something in them are looked at line by line."""
        hits = [end for end, _ in self.literals.find(block)]
        if hits or self._after or self._head_bytes < self.limits.head_bytes:
            self._pick_lines(block, hits)
        self._tail.append((self._line_count + 1, block))
        self._tail_bytes += len(block)
        wanted = self.limits.tail_bytes
        while len(self._tail) > 1 and self._tail_bytes - len(self._tail[0][1]) >= wanted:
            self._tail_bytes -= len(self._tail.popleft()[1])
        self._line_count += block.count(b"\n") + (not block.endswith(b"\n"))
        self._remember(block)

    def _pick_lines(self, block: bytes, hits: Sequence[int]) -> None:
        before = deque(self._recent, maxlen=self.limits.before)
        stop, hit = 0, 0
        for number, line in enumerate(_LINE.findall(block), self._line_count + 1):
            stop += len(line)
            if self._head_bytes < self.limits.head_bytes:
                self._head_bytes += len(line)
                self._pick(number, line)
            if hit < len(hits) and hits[hit] <= stop:
                hit = bisect_right(hits, stop, hit)
                for earlier in before:
                    self._pick(*earlier)
                self._after = self.limits.after + 1
            if self._after:
                self._after -= 1
                self._pick(number, line)
            before.append((number, line))

    def _remember(self, block: bytes) -> None:
        """Keep the last lines, which are context of what the next block may begin with."""
        if not self.limits.before:
            return
        start, count = len(block), 0
        while start > 0 and count < self.limits.before:
            start = block.rfind(b"\n", 0, start - 1) + 1
            count += 1
        first = self._line_count - count + 1
        self._recent += enumerate(_LINE.findall(block, start), first)
        del self._recent[: -self.limits.before]

    def _pick(self, number: int, line: bytes) -> None:
        if number in self._picked:
            return
        line = self._shortened(line)
        if self._picked_bytes + len(line) > self.limits.file_bytes:
            self._cut = True
            return
        self._picked_bytes += len(line)
        self._picked[number] = line

    def _last_lines(self) -> list[tuple[int, bytes]]:
        """Return the lines of the last bytes; one that begins before them is left out."""
        lines = [
            pair for first, block in self._tail for pair in enumerate(_LINE.findall(block), first)
        ]
        kept: list[tuple[int, bytes]] = []
        room = self.limits.tail_bytes
        for number, line in reversed(lines):
            short = self._shortened(line)
            room -= len(short)
            if room < 0:
                break
            kept.append((number, short))
        return kept

    def _shortened(self, line: bytes) -> bytes:
        if len(line) <= _LONGEST_LINE:
            return line
        self._cut = True
        return line[: _LONGEST_LINE - 1] + b"\n"


def gathered(pieces: Iterable[bytes], literals: Literals, limits: Limits) -> Gathered:
    """Return what is kept of a whole log in memory."""
    one = Gathering(literals=literals, limits=limits)
    for piece in pieces:
        one.feed(piece)
    return one.done()
