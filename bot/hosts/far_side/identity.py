"""Who a machine says that it is. Part of the text that runs on it: Python 3.8, none of ours."""

from __future__ import annotations

import _socket
import os

from bot.hosts.far_side.saying import Out, text_of

PATHS = {"product_uuid": "/sys/class/dmi/id/product_uuid", "machine_id": "/etc/machine-id"}


def identity(out: Out, kind: str, expected: str) -> int:
    """Compare who this machine is with who it should be."""
    if kind == "host_name":
        found = _socket.gethostname().split(".")[0]
    else:
        path = PATHS[kind]
        found = text_of(path).strip()
        if not found:
            why = "no such file" if not os.path.exists(path) else "needs root"
            out.say({"found": "", "why": why})
            return 77
    out.say({"found": found})
    return 0 if found.lower() == expected.lower() else 1
