"""Shared files as logs: read by the engine while they come, never whole in memory."""

from __future__ import annotations

import asyncio
import io
import tempfile
import zipfile
from collections.abc import AsyncIterator, Callable
from concurrent.futures import CancelledError
from contextlib import asynccontextmanager, suppress
from typing import IO, TYPE_CHECKING, cast

from bot.chat.errors import DownloadError
from bot.chat.port import SharedFile
from bot.diagnosis import Source
from bot.errors import InputError
from bot.inputs import Notice, stream

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

#: What a file may unpack to: logs shrink to a tenth or a thirtieth, bombs to a thousandth.
MOST_UNPACKED = 8 << 30
_LEAST_UNPACKED = 64 << 20
_USUAL_RATIO = 200
_MOST_IN_ZIP = 100
_ZIP = b"PK\x03\x04"
_SPOOL_BYTES = 16 << 20


@asynccontextmanager
async def reading(
    file: SharedFile, parts: AsyncIterator[bytes], *, notice: Notice = lambda _: None
) -> AsyncIterator[tuple[Source, ...]]:
    """Yield a shared file as sources that are read, in another thread, while it comes.

    Raises DownloadError for an empty file, one that Slack does not give, and a zip archive that
    holds nothing to read. What is no log raises InputError when it is read.
    """
    head = await anext(parts, b"")
    if not head:
        raise DownloadError(f"{file.name} is empty: share the log once something is in it.")
    most = max(_LEAST_UNPACKED, min(MOST_UNPACKED, file.size_bytes * _USUAL_RATIO))
    if head.startswith(_ZIP):
        with tempfile.SpooledTemporaryFile(max_size=_SPOOL_BYTES) as kept:
            await _keep(head, parts, kept)
            yield _members(file.name, kept, notice, most)
        return
    pipe = _Pipe(head, parts, asyncio.get_running_loop())
    try:
        opened = cast("IO[bytes]", pipe)
        yield (stream(file.name, lambda: opened, notice=notice, most_bytes=most),)
    finally:
        pipe.close()
        with suppress(RuntimeError):
            # still being read where the one who asked was stopped
            await cast("_Closes", parts).aclose()


class _Closes:
    """What an asynchronous generator has beside an iterator."""

    async def aclose(self) -> None:
        """Close it."""


class _Pipe(io.RawIOBase):
    """The parts of a download as a stream for the thread of the engine."""

    def __init__(
        self, head: bytes, parts: AsyncIterator[bytes], loop: asyncio.AbstractEventLoop
    ) -> None:
        self._rest = head
        self._parts = parts
        self._loop = loop

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: WriteableBuffer, /) -> int:
        if not self._rest and not self.closed:
            self._rest = self._next()
        view = memoryview(buffer)
        part, self._rest = self._rest[: len(view)], self._rest[len(view) :]
        view[: len(part)] = part
        return len(part)

    def _next(self) -> bytes:
        try:
            return asyncio.run_coroutine_threadsafe(self._part(), self._loop).result()
        except CancelledError:
            raise DownloadError("The download was stopped.") from None

    async def _part(self) -> bytes:
        return await anext(self._parts, b"")


async def _keep(head: bytes, parts: AsyncIterator[bytes], kept: IO[bytes]) -> None:
    kept.write(head)
    async for part in parts:
        await asyncio.to_thread(kept.write, part)
    kept.seek(0)


def _members(name: str, kept: IO[bytes], notice: Notice, most: int) -> tuple[Source, ...]:
    """Return the files of a zip archive; all together may unpack to `most` bytes."""
    try:
        archive = zipfile.ZipFile(kept)
        files = [one for one in archive.infolist() if not one.is_dir()]
    except zipfile.BadZipFile as error:
        raise DownloadError(f"{name} is a damaged zip archive: share it again.") from error
    if not files:
        raise DownloadError(f"{name} holds no file: share the log itself.")
    if len(files) > _MOST_IN_ZIP:
        raise DownloadError(f"{name} holds {len(files):,} files; {_MOST_IN_ZIP} are read at most.")
    if any(one.flag_bits & 1 for one in files):
        raise DownloadError(f"{name} is locked by a password: share the log without one.")
    if sum(one.file_size for one in files) > most:
        raise DownloadError(
            f"{name} unpacks to more than {most >> 20:,} MB, so nothing of it was read: share the "
            "log of the failing rank."
        )
    share = most // len(files)
    return tuple(
        stream(
            one.filename, _opens(archive, one), notice=notice, most_bytes=max(share, one.file_size)
        )
        for one in files
    )


def _opens(archive: zipfile.ZipFile, one: zipfile.ZipInfo) -> Callable[[], IO[bytes]]:
    def opened() -> IO[bytes]:
        try:
            return archive.open(one)
        except (zipfile.BadZipFile, NotImplementedError) as error:
            raise InputError(f"{one.filename} cannot be unpacked: {error}") from error

    return opened
