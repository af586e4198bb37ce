"""Sign a request the way Crusoe's own clients do, version `1.0`.

Source: client-go `auth/v1/auth.go` and terraform-provider-crusoe `internal/common/auth.go`. Body,
host and headers are not part of what is signed.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import re
from datetime import UTC, datetime
from urllib.parse import quote_plus, unquote_to_bytes

VERSION = "1.0"
TIMESTAMP_HEADER = "X-Crusoe-Timestamp"

_BASE64URL = re.compile(r"[A-Za-z0-9_-]+")
_BAD_ESCAPE = re.compile(r"%(?![0-9A-Fa-f]{2})")


def decode_secret(secret: str) -> bytes:
    """Return the raw key of a secret as issued: base64url without padding.

    Raises ValueError without repeating the secret. Python's own decoder would drop what is foreign
    to its alphabet and return another key.
    """
    if not _BASE64URL.fullmatch(secret):
        raise ValueError("it is not base64url without padding: letters, digits, - and _ only")
    try:
        return base64.urlsafe_b64decode(secret + "=" * (-len(secret) % 4))
    except binascii.Error:
        raise ValueError("its length is not that of a whole secret; was it cut?") from None


def canonical_query(query: str) -> str:
    """Return a raw query with keys in byte order, each side decoded and encoded anew.

    Values of one key keep their order; `=` is always written. Equals Go's `url.QueryUnescape` and
    `url.QueryEscape` on every piece. Raises ValueError for `;` and for a broken percent escape.
    """
    values: dict[bytes, list[bytes]] = {}
    for piece in query.split("&"):
        if ";" in piece:
            raise ValueError("a query must not hold a semicolon: write it as %3B")
        if not piece:
            continue
        key, _, value = piece.partition("=")
        values.setdefault(_decoded(key), []).append(_decoded(value))
    return "&".join(
        f"{quote_plus(key)}={quote_plus(value)}" for key in sorted(values) for value in values[key]
    )


def _decoded(side: str) -> bytes:
    if broken := _BAD_ESCAPE.search(side):
        raise ValueError(f"a query holds a broken percent escape at {broken.start()}")
    return unquote_to_bytes(side.replace("+", " "))


def timestamp(at: datetime) -> str:
    """Write a time as RFC 3339 in UTC with whole seconds and `Z`, as Go's clients do."""
    return at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def payload(*, method: str, path: str, query: str, stamp: str) -> bytes:
    r"""Return the four lines that are signed, each ended by `\n`.

    `path` is decoded and begins with the version prefix; `query` is raw and may be empty.
    """
    return f"{path}\n{canonical_query(query)}\n{method.upper()}\n{stamp}\n".encode()


def signature(key: bytes, message: bytes) -> str:
    """Return HMAC-SHA256 as base64url without padding, 43 characters."""
    mac = hmac.new(key, message, hashlib.sha256).digest()
    return base64.urlsafe_b64encode(mac).decode("ascii").rstrip("=")


def authorization(access_key_id: str, signed: str) -> str:
    """Return the value of the Authorization header."""
    return f"Bearer {VERSION}:{access_key_id}:{signed}"
