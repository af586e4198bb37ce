"""JSON web tokens as `scontrol token` makes them: HS256, the user's name in `sun` (auth/jwt)."""

from __future__ import annotations

import base64
import hmac
import json
from datetime import datetime, timedelta

#: Who may speak for anybody: root and SlurmUser.
_FOR_ANYBODY = frozenset({"root", "slurm"})


def make(key: bytes, user: str, now: datetime, lifespan: timedelta) -> str:
    """Return a token of a user."""
    issued = int(now.timestamp())
    expires = issued + int(lifespan.total_seconds())
    claims = {"exp": expires, "iat": issued, "sun": user}
    signed = f"{_written({'alg': 'HS256', 'typ': 'JWT'})}.{_written(claims)}"
    return f"{signed}.{_signature(key, signed)}"


def holds(key: bytes, token: str, user: str, now: datetime) -> bool:
    """Tell whether a token is signed, not expired and speaks for this user."""
    head, _, rest = token.partition(".")
    body, _, signature = rest.partition(".")
    if not hmac.compare_digest(_signature(key, f"{head}.{body}").encode(), signature.encode()):
        return False
    try:
        kind, claims = _read(head), _read(body)
        return (
            kind["alg"] == "HS256"
            and now.timestamp() < float(str(claims["exp"]))
            and claims["sun"] in {user, *_FOR_ANYBODY}
        )
    except (ValueError, KeyError, TypeError):
        return False


def _signature(key: bytes, signed: str) -> str:
    return _encoded(hmac.digest(key, signed.encode(), "sha256"))


def _written(value: dict[str, object]) -> str:
    return _encoded(json.dumps(value, separators=(",", ":")).encode())


def _encoded(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def _read(part: str) -> dict[str, object]:
    found = json.loads(base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)))
    if not isinstance(found, dict):
        raise TypeError
    return found
