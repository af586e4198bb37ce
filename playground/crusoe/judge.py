"""Check a signature as strictly as the API's own clients make it.

Written apart from the client: the two agree only if both agree with the description.
"""

from __future__ import annotations

import base64
import hmac
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from urllib.parse import parse_qsl, quote, unquote

from playground.crusoe.http1 import Request

_AUTHORIZATION = re.compile(r"Bearer 1\.0:([^:\s]+):([A-Za-z0-9_-]{43})")

#: Whole seconds in UTC. Crusoe's Go clients write Z, its Python one +00:00.
_STAMP = re.compile(r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(Z|\+00:00)")


@dataclass(frozen=True, kw_only=True, slots=True)
class Key:
    """An API key that the server knows, and whose it is."""

    access_key_id: str
    #: base64url without padding
    secret_key: str
    user: str = "ada"


class Unsigned(Exception):  # noqa: N818 - the judge's finding, answered with 401
    """The request carries no good signature; the message says what is wrong, for tests."""


def judge(request: Request, keys: Mapping[str, Key], *, now: datetime, tolerance: timedelta) -> Key:
    """Return the key that signed a request; raises Unsigned.

    How far a clock may be off is not documented by Crusoe; `tolerance` is this server's choice.
    """
    match = _AUTHORIZATION.fullmatch(_one(request, "authorization"))
    if not match:
        raise Unsigned("Authorization is not 'Bearer 1.0:<id>:<43 characters>'")
    stamp = _one(request, "x-crusoe-timestamp")
    told = _STAMP.fullmatch(stamp)
    if not told:
        raise Unsigned("the timestamp is not RFC 3339 in UTC with whole seconds")
    try:
        signed_at = datetime.fromisoformat(f"{told[1]}+00:00")
    except ValueError:
        raise Unsigned("the timestamp is no time") from None
    if abs(now - signed_at) > tolerance:
        raise Unsigned("the timestamp is too far off")
    key = keys.get(match[1])
    if key is None:
        raise Unsigned("no such key")
    raw = base64.b64decode(
        key.secret_key + "=" * (-len(key.secret_key) % 4), altchars=b"-_", validate=True
    )
    expected = base64.b64encode(
        hmac.digest(raw, signed_text(request.method, request.target, stamp), "sha256"),
        altchars=b"-_",
    )
    if not hmac.compare_digest(expected.rstrip(b"="), match[2].encode()):
        raise Unsigned("the signature does not fit")
    return key


def signed_text(method: str, target: str, stamp: str) -> bytes:
    """Return the text that must have been signed for a request target."""
    path, _, query = target.partition("?")
    if ";" in query:
        raise Unsigned("a semicolon in the query")
    pairs = parse_qsl(query, keep_blank_values=True)
    pairs.sort(key=lambda pair: pair[0].encode())
    lines = [
        unquote(path),
        "&".join(f"{_escaped(k)}={_escaped(v)}" for k, v in pairs),
        method,
        stamp,
    ]
    return "".join(f"{line}\n" for line in lines).encode()


def _escaped(text: str) -> str:
    """Escape as Go's QueryEscape does."""
    return quote(text, safe=" ").replace(" ", "+")


def _one(request: Request, name: str) -> str:
    values = request.header(name)
    if len(values) != 1:
        raise Unsigned(f"{len(values)} headers {name}, not one")
    return values[0]
