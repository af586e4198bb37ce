"""What a JSON web token says of itself: for whom it is and when it ends. Pure.

It is read, not checked: whether it counts, slurmrestd says. Claims of Slurm's tokens: `sun` (or
`username`) is the user, `exp` the end (`slurm.conf(5)`, AuthAltTypes; `scontrol(1)`, token).
"""

from __future__ import annotations

import base64
import json
from dataclasses import dataclass
from datetime import UTC, datetime

_PARTS = 3
#: Later than any token means.
_LATEST = 253402300799


@dataclass(frozen=True, kw_only=True, slots=True)
class Token:
    """What stands in a token."""

    #: empty where it names nobody
    user: str = ""
    #: None where it has no end
    ends: datetime | None = None


def read(token: str) -> Token | None:
    """Return what a token says; None for text that is no JSON web token."""
    parts = token.strip().split(".")
    if len(parts) != _PARTS:
        return None
    try:
        claims = json.loads(base64.urlsafe_b64decode(parts[1] + "=" * (-len(parts[1]) % 4)))
        if not isinstance(claims, dict):
            return None
        user = claims.get("sun") or claims.get("username") or ""
        end = claims.get("exp")
        ends = None
        if isinstance(end, int | float) and 0 <= end <= _LATEST:
            ends = datetime.fromtimestamp(end, UTC)
        return Token(user=user if isinstance(user, str) else "", ends=ends)
    except (ValueError, RecursionError):
        return None
