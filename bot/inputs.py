"""Open what a person names: files, standard input, compressed or not, in the encodings logs have.

A log is bytes; what is certainly none (a folder, a program, an archive) is refused with a sentence
that says what to give instead.
"""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import stat
import sys
import tempfile
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Protocol, cast

from bot.diagnosis import Source
from bot.errors import InputError

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

_HEAD_BYTES = 1 << 16
_CHUNK_BYTES = 1 << 17
_SPOOL_BYTES = 1 << 24

Notice = Callable[[str], None]

#: First bytes of what is no log, and what to say of it.
_NO_LOG = (
    (b"\x7fELF", "a program"),
    (b"MZ\x90", "a Windows program"),
    (b"\xcf\xfa\xed\xfe", "a program"),
    (b"%PDF-", "a PDF; paste its text"),
    (b"\x89PNG", "a picture; paste the text instead of a screenshot"),
    (b"\xff\xd8\xff", "a picture; paste the text instead of a screenshot"),
    (b"GIF8", "a picture; paste the text instead of a screenshot"),
    (b"PK\x03\x04", "a zip archive (or a PyTorch checkpoint); unpack it and name the logs"),
    (b"7z\xbc\xaf\x27\x1c", "a 7z archive; unpack it and name the logs"),
    (b"SQLite format 3\0", "a database"),
    (b"\x80\x02", "a Python pickle"),
    (b"\x80\x04", "a Python pickle"),
)
#: So many UTF-16 code units tell the encoding without a byte order mark.
_ENOUGH_PAIRS = 16
_TAR_MAGIC_AT = 257
#: Share of control characters in the head from which on it is no text.
_BINARY_SHARE = 0.04
_CONTROL = bytes(sorted({*range(32), 127} - {9, 10, 11, 12, 13, 27, 0, 8}))


def sources(names: Sequence[str], *, notice: Notice = lambda _: None) -> list[Source]:
    """Return the sources for file names; `-` is standard input.

    `notice` takes a sentence about what could not be read to its end. Raises InputError for what is
    missing, not readable, a folder, or certainly no log.
    """
    if list(names).count("-") > 1:
        message = "Standard input (-) is named twice; it can be read once."
        raise InputError(message)
    return [_stdin(notice) if name == "-" else _file(name, notice) for name in names]


def size_of(names: Sequence[str]) -> int | None:
    """Return the size of all files together, in bytes, or None where it cannot be known."""
    total = 0
    for name in names:
        if name == "-":
            return None
        total += Path(name).stat().st_size
    return total


def _file(name: str, notice: Notice) -> Source:
    try:
        mode = Path(name).stat().st_mode
        if stat.S_ISDIR(mode):
            message = f"{name} is a folder; name the log files in it, e.g. {name.rstrip('/')}/*.log"
            raise InputError(message)
        if not stat.S_ISREG(mode):
            return stream(name, lambda: Path(name).open("rb", buffering=0), notice=notice)
        with _opened(name, notice) as opened:
            _refuse_binary(name, _head(opened))
    except FileNotFoundError:
        message = (
            f"{name} does not exist; check the path, or paste the log with `nccl-dns diagnose -`"
        )
        raise InputError(message) from None
    except PermissionError:
        message = f"{name} cannot be read: permission denied; copy it, or run as its owner"
        raise InputError(message) from None
    except (OSError, ValueError) as error:
        message = f"{name} cannot be read: {getattr(error, 'strerror', None) or error}"
        raise InputError(message) from error
    return Source(name=name, open=lambda: _opened(name, notice))


@contextmanager
def _opened(name: str, notice: Notice) -> Iterator[io.RawIOBase]:
    with Path(name).open("rb", buffering=0) as raw, _decoded(raw, name, notice) as stream:
        yield stream


@contextmanager
def _decoded(raw: io.RawIOBase, name: str, notice: Notice) -> Iterator[io.RawIOBase]:
    """Yield the plain bytes of a seekable stream: decompressed, and UTF-8 where it was UTF-16."""
    stream = _decompressed(raw, name, notice)
    encoding = _utf16(_head(stream))
    yield stream if encoding is None else _Transcoded(stream, encoding)


def _decompressed(raw: io.RawIOBase, name: str, notice: Notice) -> io.RawIOBase:
    magic = raw.read(6) or b""
    raw.seek(0)
    unpacker = next((make for start, make in _UNPACKERS if magic.startswith(start)), None)
    return raw if unpacker is None else _Forgiving(raw, unpacker, name, notice)


def _zstd(raw: IO[bytes]) -> _Reads:
    import zstandard

    unpacker = zstandard.ZstdDecompressor(max_window_size=1 << 31)
    return unpacker.stream_reader(raw, read_across_frames=True, closefd=False)


class _Reads(Protocol):
    def read1(self, size: int = -1, /) -> bytes: ...


#: First bytes of what is compressed, and what reads it (RFC 1952, RFC 8878, bzip2, xz).
_UNPACKERS: tuple[tuple[bytes, Callable[[IO[bytes]], _Reads]], ...] = (
    (b"\x1f\x8b", lambda raw: gzip.GzipFile(fileobj=raw)),
    (b"\x28\xb5\x2f\xfd", _zstd),
    (b"BZh", bz2.BZ2File),
    (b"\xfd7zXZ\0", lzma.LZMAFile),
)


class _Forgiving(io.RawIOBase):
    """A decompressed stream that ends where its data is cut off, and says so."""

    def __init__(
        self,
        raw: io.RawIOBase,
        unpacker: Callable[[IO[bytes]], _Reads],
        name: str,
        notice: Notice,
    ) -> None:
        self._raw = raw
        self._unpacker = unpacker
        self._stream = unpacker(cast("IO[bytes]", raw))
        self._name = name
        self._notice = notice
        self._position = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def readinto(self, buffer: WriteableBuffer, /) -> int:
        view = memoryview(buffer)
        try:
            data = self._stream.read1(min(len(view), _CHUNK_BYTES))
        except Exception as error:
            if self._position == 0:
                message = f"{self._name} looks compressed but cannot be unpacked: {error}"
                raise InputError(message) from error
            self._notice(
                f"{self._name}: the compressed data is cut off or damaged; read up to there"
            )
            return 0
        view[: len(data)] = data
        self._position += len(data)
        return len(data)

    def seek(self, offset: int, whence: int = 0, /) -> int:
        if whence != 0 or offset < self._position:
            if offset != 0 or whence != 0:
                message = "a compressed stream goes forward, or back to its start"
                raise io.UnsupportedOperation(message)
            self._restart()
        room = memoryview(bytearray(_CHUNK_BYTES))
        while self._position < offset:
            if not self.readinto(room[: min(len(room), offset - self._position)]):
                break
        return self._position

    def _restart(self) -> None:
        if self._position:
            self._raw.seek(0)
            self._stream = self._unpacker(cast("IO[bytes]", self._raw))
            self._position = 0


class _Transcoded(io.RawIOBase):
    """UTF-16 text (what Windows shells redirect) as UTF-8."""

    def __init__(self, stream: io.RawIOBase, encoding: str) -> None:
        self._reader = io.TextIOWrapper(
            io.BufferedReader(stream),
            encoding=encoding,
            errors="replace",
            newline="",
        )
        self._rest = b""
        self._position = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: WriteableBuffer, /) -> int:
        view = memoryview(buffer)
        if not self._rest:
            self._rest = self._reader.read(_CHUNK_BYTES).encode("utf-8", "replace")
        data, self._rest = self._rest[: len(view)], self._rest[len(view) :]
        view[: len(data)] = data
        self._position += len(data)
        return len(data)

    def seek(self, offset: int, whence: int = 0, /) -> int:
        if offset == 0 and whence == 0 and self._position == 0:
            return 0
        room = memoryview(bytearray(_CHUNK_BYTES))
        while self._position < offset:
            if not self.readinto(room[: min(len(room), offset - self._position)]):
                break
        return self._position


def _utf16(head: bytes) -> str | None:
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        return "utf-16"
    low, high = head[:4096:2], head[1:4096:2]
    mostly_ascii = high.count(0) > len(high) * 0.9 and low.count(0) < len(low) * 0.1
    return "utf-16-le" if len(high) >= _ENOUGH_PAIRS and mostly_ascii else None


def _head(stream: io.RawIOBase) -> bytes:
    """Return the first bytes of a stream at its start, and go back there."""
    buffer = bytearray(_HEAD_BYTES)
    filled = 0
    with memoryview(buffer) as view:
        while filled < len(view):
            read = stream.readinto(view[filled:])
            if not read:
                break
            filled += read
    try:
        stream.seek(0)
    except io.UnsupportedOperation:
        return bytes(buffer[:filled])
    return bytes(buffer[:filled])


def _refuse_binary(name: str, head: bytes) -> None:
    for magic, what in _NO_LOG:
        if head.startswith(magic):
            message = f"{name} is no log: it is {what}."
            raise InputError(message)
    if head[_TAR_MAGIC_AT : _TAR_MAGIC_AT + 5] == b"ustar":
        message = f"{name} is a tar archive; unpack it and name the logs."
        raise InputError(message)
    if head and len(head.translate(None, _CONTROL)) < len(head) * (1 - _BINARY_SHARE):
        message = (
            f"{name} is no log: its bytes are not text. Give the job's output, or a .gz/.zst of it."
        )
        raise InputError(message)


def _stdin(notice: Notice) -> Source:
    return stream(None, lambda: sys.stdin.buffer, notice=notice)


def stream(
    name: str | None,
    opening: Callable[[], IO[bytes]],
    *,
    notice: Notice = lambda _: None,
    most_bytes: int | None = None,
) -> Source:
    """Return a source over a stream that can be read once: it is kept, compressed, while read.

    Reading it raises InputError for what is certainly no log, and where it unpacks to more than
    `most_bytes`.
    """
    import zstandard

    spool = tempfile.SpooledTemporaryFile(max_size=_SPOOL_BYTES)  # noqa: SIM115 - outlives a look
    first = True
    shown = name or "standard input"

    @contextmanager
    def opened() -> Iterator[io.RawIOBase]:
        nonlocal first
        if not first:
            spool.seek(0)
            yield _Forgiving(cast("io.RawIOBase", spool), _zstd, shown, notice)
            return
        first = False
        raw = opening()
        joined = _Joined(raw.read(_HEAD_BYTES) or b"", raw)
        plain = _decompressed(joined, shown, notice)
        beginning = joined.head if plain is joined else b""
        _refuse_binary(shown, beginning)
        encoding = _utf16(beginning)
        writer = zstandard.ZstdCompressor(level=-3).stream_writer(
            cast("IO[bytes]", spool), closefd=False
        )
        told = plain if encoding is None else _Transcoded(plain, encoding)
        try:
            yield _Kept(
                told if most_bytes is None else _Bounded(told, shown, most_bytes), writer.write
            )
        finally:
            writer.flush(zstandard.FLUSH_FRAME)

    source = Source(name=name, open=opened)
    weakref.finalize(source, spool.close)
    return source


class _Bounded(io.RawIOBase):
    """A stream that is refused where it goes on after so many bytes."""

    def __init__(self, stream: io.RawIOBase, name: str, most_bytes: int) -> None:
        self._stream = stream
        self._name = name
        self._most = most_bytes
        self._read = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: WriteableBuffer, /) -> int:
        read = self._stream.readinto(buffer) or 0
        self._read += read
        if self._read > self._most:
            message = (
                f"{self._name} unpacks to more than {self._most >> 20:,} MB, so it was not read to "
                "its end: give the part around the failure."
            )
            raise InputError(message)
        return read


class _Joined(io.RawIOBase):
    """A stream whose head was read already; it can go back to its start while in the head."""

    def __init__(self, head: bytes, stream: IO[bytes]) -> None:
        self.head = head
        self._stream = stream
        self._position = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return False

    def readinto(self, buffer: WriteableBuffer, /) -> int:
        view = memoryview(buffer)
        if self._position < len(self.head):
            data = self.head[self._position : self._position + len(view)]
        else:
            data = self._stream.read(len(view)) or b""
        view[: len(data)] = data
        self._position += len(data)
        return len(data)

    def seek(self, offset: int, whence: int = 0, /) -> int:
        if offset != 0 or whence != 0 or self._position > len(self.head):
            message = "this stream cannot go back"
            raise io.UnsupportedOperation(message)
        self._position = 0
        return 0


class _Kept(io.RawIOBase):
    """A stream that hands on a copy of everything that is read from it."""

    def __init__(self, stream: io.RawIOBase, keep: Callable[[bytes], object]) -> None:
        self._stream = stream
        self._keep = keep

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: WriteableBuffer, /) -> int:
        view = memoryview(buffer)
        read = self._stream.readinto(view) or 0
        if read:
            self._keep(bytes(view[:read]))
        return read
