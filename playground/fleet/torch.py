"""How PyTorch's start-up says what it sees, by version: rows to extend.

Line numbers and texts are those of the released wheels; the ones of 2.13 were measured.
"""

from __future__ import annotations

import socket
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

#: What glibc says of each code.
GAI_TEXTS = {
    socket.EAI_AGAIN: "Temporary failure in name resolution",
    socket.EAI_NONAME: "Name or service not known",
}
_PACKAGES = "/opt/venv/lib/python3.11/site-packages/torch"


@dataclass(frozen=True, kw_only=True, slots=True)
class Torch:
    """The places in the sources that one version logs from, and its wording."""

    #: 2.4 and later put the time into the prefix
    stamped: bool
    #: lines of socket.cpp: a look-up that failed, a connect that ran out of time
    lookup: int
    timed_out: int
    #: lines of TCPStore.cpp: about to try again, given up; None where the store tries only once
    retries: tuple[int, int] | None = None
    #: lines of socket.cpp in waitForInput; None where it says nothing
    waits: tuple[int, int] | None = None

    def line(self, level: str, at: datetime, file: str, number: int, text: str) -> str:
        """Return a line of the C++ logger; month and day are written without padding."""
        stamp = (
            f"{at.month}{at:%d %H:%M:%S.%f}{at.microsecond * 7 % 1000:03} " if self.stamped else " "
        )
        return f"[{level}{stamp}{file}:{number}] [c10d] {text}"

    def span(self, seconds: int) -> str:
        """Return a time-out as this version writes it."""
        return f"{seconds}s" if self.retries is None else f"{seconds}000ms"

    def not_found(self, at: datetime, peer: str, code: int) -> str:
        """Say that a look-up failed."""
        text = (
            f"The IPv6 network addresses of {peer} cannot be retrieved (gai error: {code} - "
            f"{GAI_TEXTS[code]})."
        )
        return self.line("W", at, "socket.cpp", self.lookup, text)

    def too_late(self, seconds: int, peer: str) -> str:
        """Say that a connection did not come about; the exception has the same words."""
        return (
            f"The client socket has timed out after {self.span(seconds)} while trying to connect "
            f"to {peer}."
        )


TORCH: Mapping[str, Torch] = {
    "2.3": Torch(stamped=False, lookup=697, timed_out=957),
    "2.4": Torch(stamped=True, lookup=697, timed_out=957),
    "2.13": Torch(stamped=True, lookup=764, timed_out=1028, retries=(340, 328), waits=(469, 494)),
}


def traceback(frames: Mapping[str, int], error: str) -> list[str]:
    """Return a Python traceback through these files of PyTorch, given with their lines."""
    lines = ["Traceback (most recent call last):", '  File "train.py", line 41, in <module>']
    lines.append('    dist.init_process_group("cpu:gloo,cuda:nccl")')
    for name, number in frames.items():
        path, _, function = name.partition(" ")
        lines.append(f'  File "{_PACKAGES}/distributed/{path}", line {number}, in {function}')
    return [*lines, error]
