"""Read logs beside the event loop: small ones are handed over whole, others while they come."""

from __future__ import annotations

import io
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

from bot.diagnosis import Diagnosis, Launch, Source, diagnose, of_bytes
from bot.diagnosis.leaks import Leaks
from bot.diagnosis.scan import Readable
from bot.triage.aside import Threads

#: All logs of a job together up to this are copied to where they are read.
_SMALL_BYTES = 4 << 20
_PART_BYTES = 1 << 17


async def read(
    aside: Threads,
    sources: Sequence[Source],
    *,
    launch: Launch | None,
    believe_names: bool,
    on_bytes: Callable[[int], None] | None = None,
) -> Diagnosis:
    """Diagnose one job from its logs; errors of opening or unpacking one pass through."""
    if aside.apart:
        small, sources = await Threads().run(_whole, sources, on_bytes)
        if small is not None:
            kept = _Small(logs=small, launch=launch, believe_names=believe_names)
            return await aside.run(kept.diagnosed)

    def diagnosed() -> Diagnosis:
        return diagnose(sources, launch=launch, believe_names=believe_names, on_bytes=on_bytes)

    return await Threads().run(diagnosed)


async def counted(aside: Threads, leaks: Sequence[Leaks]) -> Mapping[str, int]:
    """Return how many secrets of each kind went by in logs that were read."""
    return await aside.run(_counted, tuple(leaks))


def _counted(leaks: Sequence[Leaks]) -> Mapping[str, int]:
    total: Counter[str] = Counter()
    for one in leaks:
        total.update(one.counts)
    return total


@dataclass(frozen=True, kw_only=True)
class _Small:
    """Logs as they are handed over: names and bytes."""

    logs: Sequence[tuple[str | None, bytes]]
    launch: Launch | None
    believe_names: bool

    def diagnosed(self) -> Diagnosis:
        sources = [of_bytes(data, name) for name, data in self.logs]
        return diagnose(sources, launch=self.launch, believe_names=self.believe_names)


def _whole(
    sources: Sequence[Source], on_bytes: Callable[[int], None] | None
) -> tuple[list[tuple[str | None, bytes]] | None, Sequence[Source]]:
    """Return the logs' bytes where they are small; else sources that have lost nothing."""
    whole: list[tuple[str | None, bytes]] = []
    room = _SMALL_BYTES
    for number, source in enumerate(sources):
        with ExitStack() as stack:
            stream = stack.enter_context(source.open())
            data = _read(stream, room)
            if len(data) > room:
                begun = _begun(source, data, stream, stack.pop_all())
                before = (of_bytes(text, name) for name, text in whole)
                return None, (*before, begun, *sources[number + 1 :])
        whole.append((source.name, data))
        room -= len(data)
    if on_bytes is not None:
        on_bytes(_SMALL_BYTES - room)
    return whole, sources


def _read(stream: Readable, most: int) -> bytes:
    """Return all that comes, or a little more than `most` bytes of it."""
    data, part = bytearray(), memoryview(bytearray(_PART_BYTES))
    while len(data) <= most and (read := stream.readinto(part)):
        data += part[:read]
    return bytes(data)


def _begun(source: Source, head: bytes, stream: Readable, held: ExitStack) -> Source:
    """Return a source whose first look goes on where it was left; the next ones open it anew."""
    first = True

    @contextmanager
    def opened() -> Iterator[Readable]:
        nonlocal first
        if not first:
            with source.open() as again:
                yield again
            return
        first = False
        with held:
            yield _Rest(head, stream)

    return Source(name=source.name, open=opened)


class _Rest:
    """The bytes that were read already, and then the stream that they are of."""

    def __init__(self, head: bytes, stream: Readable) -> None:
        self._head = io.BytesIO(head)
        self._stream = stream

    def readinto(self, buffer: memoryview, /) -> int | None:
        """Read into the buffer."""
        return self._head.readinto(buffer) or self._stream.readinto(buffer)

    def seek(self, offset: int, /) -> int:
        """Refuse: a first look goes forward, byte by byte."""
        raise io.UnsupportedOperation(f"The first look does not go to {offset}.")
