"""Count the secrets in the beginning of a log while it is read, for whoever has posted it.

Lines that may hold one are found in one pass of the pattern engine, as the diagnosis finds its own;
the redactor sees only those.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from contextlib import AbstractContextManager, contextmanager
from functools import cache
from typing import TYPE_CHECKING

from bot.diagnosis.redact import RULES, redact
from bot.diagnosis.scan import BLOCK_BYTES, Literals, Readable
from bot.diagnosis.source import Source

if TYPE_CHECKING:
    from collections.abc import Iterator

#: What nobody can take back by rotating it.
_NO_SECRETS = frozenset({"email"})
#: A longer line is looked at in pieces of this size.
_LONGEST_LINE_BYTES = 1 << 20
#: So much of each log is looked through: environments are printed at its beginning, and a report
#: must not wait a minute for the rest.
MOST_BYTES = 64 << 20
_KEY_BLOCK = "PRIVATE KEY"


@cache
def _words() -> tuple[str, ...]:
    """Return what every secret's line holds at least one of."""
    told = {text for one in RULES if one.kind not in _NO_SECRETS for text in one.literals}
    return tuple(sorted({*told, _KEY_BLOCK}))


@cache
def _literals() -> Literals:
    return Literals([text.encode() for text in _words()], caseless=True)


def secrets_in(text: str) -> Mapping[str, int]:
    """Return how many secrets of each kind a text holds; e-mail addresses are none."""
    return _rotatable(redact(text).counts)


def _rotatable(counts: Mapping[str, int]) -> Mapping[str, int]:
    return {kind: count for kind, count in counts.items() if kind not in _NO_SECRETS}


class Leaks:
    """Counts secrets in what goes by."""

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()
        self._rest = bytearray()
        #: lines that may hold a secret: redacted together, since a key has several
        self._suspects: list[bytes] = []
        self._size = 0
        #: which of the words are in them
        self._held: set[int] = set()

    @property
    def counts(self) -> Mapping[str, int]:
        """Return how many secrets of each kind went by, an unfinished last line included."""
        self._look(bytes(self._rest))
        self._rest.clear()
        self._settle()
        return dict(sorted(self._counts.items()))

    def of(self, source: Source) -> Source:
        """Return a source whose first `MOST_BYTES` are counted when it is first read."""
        opened = False

        def counted() -> AbstractContextManager[Readable]:
            nonlocal opened
            if opened:
                return source.open()
            opened = True
            return self._watching(source)

        return Source(name=source.name, open=counted)

    @contextmanager
    def _watching(self, source: Source) -> Iterator[Readable]:
        with source.open() as stream:
            yield _Watched(stream, self)

    def take(self, data: bytes) -> None:
        """Look at the next bytes."""
        self._rest += data
        if len(self._rest) < BLOCK_BYTES:
            return
        cut = self._rest.rfind(b"\n") + 1
        if not cut and len(self._rest) < _LONGEST_LINE_BYTES:
            return
        block = bytes(self._rest[: cut or len(self._rest)])
        del self._rest[: len(block)]
        self._look(block)

    def _look(self, block: bytes) -> None:
        end = 0
        for hit, word in _literals().find(block) if block else ():
            self._held.add(word)
            if hit <= end:
                continue
            start = block.rfind(b"\n", 0, hit) + 1
            found = block.find(b"\n", hit)
            end = found if found >= 0 else len(block)
            self._suspects.append(block[start:end])
            self._size += end - start
        if self._size >= BLOCK_BYTES:
            self._settle()

    def _settle(self) -> None:
        if self._suspects:
            text = b"\n".join(self._suspects).decode("utf-8", "replace")
            words = _words()
            # most lines that hold a word hold no secret, and the same few words: "tokens/s"
            found = redact(text, held=frozenset(words[one] for one in self._held))
            self._counts.update(_rotatable(found.counts))
        self._held.clear()
        self._suspects.clear()
        self._size = 0


class _Watched:
    """A stream of which everything that is read is counted."""

    def __init__(self, stream: Readable, leaks: Leaks) -> None:
        self._stream = stream
        self._leaks = leaks
        self._left = MOST_BYTES

    def readinto(self, buffer: memoryview, /) -> int | None:
        """Read into the buffer, and count."""
        read = self._stream.readinto(buffer)
        if read and self._left > 0:
            self._leaks.take(bytes(buffer[:read]))
            self._left -= read
        return read

    def seek(self, offset: int, /) -> int:
        """Go forward to an offset."""
        return self._stream.seek(offset)
