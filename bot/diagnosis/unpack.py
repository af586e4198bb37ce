"""Take a line apart: colours, records in records, prefixes, down to what was logged."""

from __future__ import annotations

from collections.abc import Iterator

from bot.diagnosis.origin import Origin
from bot.diagnosis.peeling import Peeled, peel, strip_ansi
from bot.diagnosis.records import records_of

#: A collector's record in a shipper's record in a container's record.
_DEEPEST = 4


def unpack(line: bytes, outer: Origin) -> Iterator[tuple[Peeled, str]]:
    """Yield what a raw line says: each text without its prefixes, and that text with them."""
    text = line.decode("utf-8", "replace").rstrip("\r")
    if "\0" in text:
        text = text.replace("\0", "")
    text = text.removeprefix("\ufeff")
    if "\r" not in text:
        yield from _texts(text, outer, None, 0)
        return
    for part in text.split("\r"):
        if part:
            yield from _texts(part, outer, None, 0)


def _texts(text: str, outer: Origin, time: str | None, depth: int) -> Iterator[tuple[Peeled, str]]:
    text = strip_ansi(text)
    if depth < _DEEPEST and ("{" in text or '="' in text):
        records = records_of(text, outer)
        if records is not None:
            for record in records:
                yield from _texts(record.text, record.origin, record.time or time, depth + 1)
            return
    peeled = peel(text, outer)
    if peeled.text.startswith(("{", "[{")) and depth < _DEEPEST and len(peeled.text) < len(text):
        records = records_of(peeled.text, peeled.origin)
        if records is not None:
            for record in records:
                yield from _texts(record.text, record.origin, record.time or time, depth + 1)
            return
    yield (peeled if time is None else peeled._replace(time=time)), text
