"""Find the lines that matter in a stream of any size, at the speed of the pattern engine.

Hyperscan searches whole blocks for all literals at once; Python sees only the lines that hold one,
and those that directly follow where a reader asks for them (the end of a traceback, the rest of a
wrapped message). Blocks are filled to their size whatever the stream delivers, so that how a stream
is split changes nothing.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol, cast

import hyperscan

#: Fits the second-level cache with the scratch space; measured best between 64 KiB and 4 MiB.
BLOCK_BYTES = 1 << 17
#: A longer line is read in pieces of this size.
LONGEST_LINE_BYTES = 1 << 23
#: Overlap of such pieces, longer than any literal.
_OVERLAP_BYTES = 256

_NEWLINE = 10


class Readable(Protocol):
    """A binary stream, as far as a scan needs one."""

    def readinto(self, buffer: memoryview, /) -> int | None:
        """Read into the buffer; return how many bytes, 0 at the end."""

    def seek(self, offset: int, /) -> int:
        """Go forward to an offset; compressed streams read up to it."""


class LineReader(Protocol):
    """Takes the lines that the scanner finds."""

    #: whether the lines that follow are wanted, too
    following: bool

    def matched(self, line: bytes, number: int, offset: int, ids: frozenset[int]) -> None:
        """Take a line (without its line feed) that holds the literals with these ids."""

    def follow(self, line: bytes, number: int) -> None:
        """Take a line that follows one for which `following` was set."""


class Totals(NamedTuple):
    """What a scan went through."""

    #: lines, an unfinished last one included
    lines: int
    size_bytes: int


class Literals:
    """A set of literals compiled for one pass over a block; threads may use it at once."""

    def __init__(self, literals: Sequence[bytes], *, caseless: bool = False) -> None:
        """Compile the literals; each one's index is its id."""
        self._database = hyperscan.Database(mode=hyperscan.HS_MODE_BLOCK)
        flag = hyperscan.HS_FLAG_CASELESS if caseless else 0
        self._database.compile(
            expressions=list(literals),
            ids=list(range(len(literals))),
            elements=len(literals),
            flags=[flag] * len(literals),
            literal=True,
        )
        self._own = threading.local()

    def _scratch(self) -> hyperscan.Scratch:
        """Return this thread's working memory: the engine refuses to share one."""
        found: hyperscan.Scratch | None = getattr(self._own, "scratch", None)
        if found is None:
            found = self._own.scratch = hyperscan.Scratch(self._database)
        return found

    def find(self, block: bytes | bytearray | memoryview) -> list[tuple[int, int]]:
        """Return (end offset, id) of every occurrence in the block, by offset."""
        hits: list[tuple[int, int]] = []
        append = hits.append

        def on_match(literal: int, _start: int, end: int, _flags: int, _context: object) -> None:
            append((end, literal))

        self._database.scan(
            cast("bytes", block), match_event_handler=on_match, scratch=self._scratch()
        )
        hits.sort()
        return hits

    def first(self, block: memoryview) -> int:
        """Return the end offset of the first occurrence in the block, -1 for none."""
        found = -1

        def on_match(_literal: int, _start: int, end: int, _flags: int, _context: object) -> bool:
            nonlocal found
            found = end
            return True

        with contextlib.suppress(hyperscan.ScanTerminated):
            self._database.scan(
                cast("bytes", block), match_event_handler=on_match, scratch=self._scratch()
            )
        return found


class Blocks:
    """Iterates over a stream in blocks that end at a line end.

    Yields (buffer, length): the buffer is reused, so a block is gone with the next one. Every
    block but the last ends with a line feed, or is a piece of a line over `LONGEST_LINE_BYTES`.
    """

    def __init__(self, stream: Readable, *, on_bytes: Callable[[int], None] | None = None) -> None:
        """Read from `stream`; call `on_bytes` with the size of each read."""
        self._stream = stream
        self._on_bytes = on_bytes
        self._buffer = bytearray(BLOCK_BYTES)
        self._carried = 0
        self._pending: tuple[bytearray, int, int] | None = None
        self._overlap = 0
        self._done = False
        #: bytes of the stream that went by
        self.size_bytes = 0
        #: bytes at the start of the current block that the one before had, too
        self.repeated = 0

    def __iter__(self) -> Blocks:
        """Return self."""
        return self

    def __next__(self) -> tuple[bytearray, int]:
        """Return the next block and its length in bytes."""
        if self._done:
            raise StopIteration
        filled = self._fill()
        while True:
            if self._ended():
                if filled == self._overlap:
                    raise StopIteration
                return self._emit(filled, filled, 0)
            cut = self._buffer.rfind(b"\n", 0, filled) + 1
            if cut > 0:
                return self._emit(cut, filled, 0)
            if filled >= LONGEST_LINE_BYTES:
                return self._emit(filled, filled, _OVERLAP_BYTES)
            self._buffer.extend(bytes(len(self._buffer)))
            self._carried = filled
            filled = self._fill(moved=False)

    def _ended(self) -> bool:
        return self._done

    def skip_to(self, offset: int) -> None:
        """Go on at an offset, the start of a line, that lies behind everything read so far."""
        self._stream.seek(offset)
        self._buffer = bytearray(BLOCK_BYTES)
        self._pending = None
        self._carried = self._overlap = 0
        self.size_bytes = offset

    def _fill(self, *, moved: bool = True) -> int:
        """Fill the buffer behind what was carried over; return how much it holds."""
        if moved and self._pending is not None:
            buffer, start, end = self._pending
            kept = end - start
            if len(buffer) > BLOCK_BYTES and kept <= BLOCK_BYTES // 2:
                self._buffer = bytearray(BLOCK_BYTES)
                self._buffer[:kept] = buffer[start:end]
            else:
                buffer[:kept] = buffer[start:end]
            self._carried = kept
        filled = self._carried
        with memoryview(self._buffer) as view:
            while filled < len(view):
                read = self._stream.readinto(view[filled:])
                if not read:
                    self._done = True
                    break
                filled += read
                self.size_bytes += read
                if self._on_bytes is not None:
                    self._on_bytes(read)
        return filled

    def _emit(self, cut: int, filled: int, overlap: int) -> tuple[bytearray, int]:
        self.repeated = self._overlap
        self._overlap = overlap
        self._pending = (self._buffer, cut - overlap, filled)
        return self._buffer, cut


def scan(
    stream: Readable,
    literals: Literals,
    reader: LineReader,
    *,
    on_bytes: Callable[[int], None] | None = None,
) -> Totals:
    """Read a stream to its end and hand the reader every line that holds a literal.

    Memory stays that of one block, or of one line up to `LONGEST_LINE_BYTES`.
    """
    source = Blocks(stream, on_bytes=on_bytes)
    lines = 0
    offset = 0
    unfinished = False
    for buffer, length in source:
        offset -= source.repeated
        with memoryview(buffer) as whole, whole[:length] as view:
            hits = literals.find(view)
        seen = buffer.count(b"\n", 0, source.repeated) if source.repeated else 0
        lines = _read_block(buffer, length, hits, reader, lines - seen, offset)
        unfinished = length > 0 and buffer[length - 1] != _NEWLINE
        offset += length
    return Totals(lines=lines + unfinished, size_bytes=source.size_bytes)


def _read_block(
    buffer: bytearray,
    length: int,
    hits: list[tuple[int, int]],
    reader: LineReader,
    lines: int,
    offset: int,
) -> int:
    """Hand over the lines of one block; return how many lines have ended by its end.

    `lines` and `offset` count what came before the block.
    """
    read = 0  # start of the first line that the reader has not seen
    counted = 0  # line ends before here are in `lines`
    index, last = 0, len(hits)
    while index < last:
        end_of_hit = hits[index][0]
        start = buffer.rfind(b"\n", 0, end_of_hit) + 1
        end = buffer.find(b"\n", end_of_hit, length)
        if end < 0:
            end = length
        ids = set()
        while index < last and hits[index][0] <= end:
            ids.add(hits[index][1])
            index += 1
        if reader.following:
            lines, counted = _follow(buffer, read, start, reader, (lines, counted))
        lines += buffer.count(b"\n", counted, start)
        counted = start
        reader.matched(bytes(buffer[start:end]), lines + 1, offset + start, frozenset(ids))
        read = end + 1
    if reader.following and read < length:
        lines, counted = _follow(buffer, read, length, reader, (lines, counted))
    return lines + buffer.count(b"\n", counted, length)


def _follow(
    buffer: bytearray, start: int, stop: int, reader: LineReader, done: tuple[int, int]
) -> tuple[int, int]:
    """Hand over the lines between two offsets as long as the reader wants them.

    `done` is (line ends counted, up to which offset), and so is what is returned.
    """
    lines, counted = done
    lines += buffer.count(b"\n", counted, start)
    counted = start
    while start < stop and reader.following:
        end = buffer.find(b"\n", start, stop)
        if end < 0:
            end = stop
        reader.follow(bytes(buffer[start:end]), lines + 1)
        if end < stop:
            lines += 1
        start = counted = min(end + 1, stop)
    return lines, counted
