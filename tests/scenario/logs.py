"""Logs that people paste and share."""

from __future__ import annotations

from pathlib import Path

EXAMPLE = Path(__file__).parents[2] / "bot" / "examples" / "resolver-failed.log"

#: What a person copies out of it: short enough for a message.
PASTE = "\n".join(
    (
        "node-8: [W1130 03:10:07.577 socket.cpp:767] [c10d] The IPv6 network addresses of "
        "(node-0.fleet.internal, 29500) cannot be retrieved (gai error: -3 - Temporary failure in "
        "name resolution).",
        "node-8: [W1130 03:10:09.577 socket.cpp:767] [c10d] The IPv6 network addresses of "
        "(node-0.fleet.internal, 29500) cannot be retrieved (gai error: -3 - Temporary failure in "
        "name resolution).",
        "node-0: torch.distributed.DistStoreError: Timed out after 1801 seconds waiting for "
        "clients. 6/8 clients joined.",
    )
)


def example() -> bytes:
    """Return a whole log, of many ranks."""
    return EXAMPLE.read_bytes()
