"""How long a key of ours lets us in: until when the certificate beside it holds."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import asyncssh

#: Later than any certificate with an end: `valid before` is 2^64 - 1 where there is none
#: (PROTOCOL.certkeys of OpenSSH).
_LATEST = 253402300799


def certificate_end(key: Path) -> datetime | None:
    """Return when the certificate beside a key ends; None for no certificate or no end.

    Whether it can be used at all, `bot.hosts.ssh.certificates` says.
    """
    beside = key.with_name(f"{key.name}-cert.pub")
    try:
        certificate = asyncssh.read_certificate(beside)
    except (OSError, asyncssh.KeyImportError):
        return None
    # asyncssh keeps it to itself and tells only whether it has passed
    seconds = getattr(certificate, "_valid_before", None)
    if not isinstance(seconds, int) or seconds > _LATEST:
        return None
    return datetime.fromtimestamp(seconds, UTC)
