"""Logs that people paste and share."""

from __future__ import annotations

from pathlib import Path

EXAMPLE = Path(__file__).parents[2] / "bot" / "examples" / "resolver-failed.log"

_WARNING = (
    "node-8: [W1130 03:10:0{}.577 socket.cpp:767] [c10d] The IPv6 network addresses of "
    "(node-0.fleet.internal, 29500) cannot be retrieved (gai error: -3 - Temporary failure in "
    "name resolution).\n"
)
_END = (
    "node-0: torch.distributed.DistStoreError: Timed out after 1801 seconds waiting for clients. "
    "6/8 clients joined."
)
#: What a person copies out of a log: short enough for a message.
PASTE = _WARNING.format(7) + _WARNING.format(9) + _END


def example() -> bytes:
    """Return a whole log, of many ranks."""
    return EXAMPLE.read_bytes()
