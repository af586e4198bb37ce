"""A stream that delivers its bytes in pieces of given sizes."""

from __future__ import annotations

import io


class Trickle(io.RawIOBase):
    """Reads end wherever the sizes say, as on a slow pipe."""

    def __init__(self, data: bytes, sizes: list[int]) -> None:
        """Deliver `data` in pieces of `sizes`, again and again."""
        self._rest = memoryview(data)
        self._data = data
        self._sizes = sizes or [1 << 20]
        self._turn = 0

    def readable(self) -> bool:
        """Tell that it can be read."""
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        """Deliver the next piece."""
        size = min(len(buffer), self._sizes[self._turn % len(self._sizes)], len(self._rest))
        self._turn += 1
        buffer[:size] = self._rest[:size]
        self._rest = self._rest[size:]
        return size

    def seek(self, offset: int, _whence: int = 0) -> int:
        """Go to an offset."""
        self._rest = memoryview(self._data)[offset:]
        return offset
