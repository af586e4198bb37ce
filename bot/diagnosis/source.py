"""What a diagnosis reads: named sources of bytes that can be opened more than once."""

from __future__ import annotations

import io
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass

from bot.diagnosis.scan import Readable


@dataclass(frozen=True, kw_only=True)
class Source:
    """One file or paste."""

    #: as a person would name it; None for a paste
    name: str | None
    #: opens it at its start; each call gives an independent stream
    open: Callable[[], AbstractContextManager[Readable]]


def of_bytes(data: bytes, name: str | None = None) -> Source:
    """Return a source over bytes in memory."""
    return Source(name=name, open=lambda: io.BytesIO(data))
