"""Slack over HTTP: signatures and their age are checked before anything is read."""

from __future__ import annotations

import json
import logging
from collections.abc import Awaitable, Callable, Mapping
from typing import Any
from urllib.parse import parse_qsl

from slack_sdk.signature import Clock, SignatureVerifier
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response

from bot.errors import StoreError

_LOG = logging.getLogger(__name__)
#: Slack's largest payloads are far smaller.
_MOST_BYTES = 4 << 20

Json = Mapping[str, Any]
Receive = Callable[[str, Json], Awaitable[Json | None]]


def endpoint(
    secret: str, receive: Receive, *, clock: Clock | None = None
) -> Callable[[Request], Awaitable[Response]]:
    """Return what answers `/slack/events`: 401 unless signed, 503 unless kept, else the ack."""
    verifier = SignatureVerifier(secret, clock or Clock())

    async def events(request: Request) -> Response:
        body = await request.body()
        if len(body) > _MOST_BYTES:
            return PlainTextResponse("That is too large.", status_code=413)
        if not verifier.is_valid_request(body, dict(request.headers)):
            _LOG.warning("a request with a wrong or old signature was refused (clocks differ?)")
            return PlainTextResponse(
                "The signature is wrong, or its time is more than five minutes off.",
                status_code=401,
            )
        try:
            kind, payload = read(body, request.headers.get("content-type", ""))
        except ValueError:
            return PlainTextResponse("That is no payload of Slack's.", status_code=400)
        if payload.get("type") == "url_verification":
            return JSONResponse({"challenge": payload.get("challenge", "")})
        try:
            answer = await receive(kind, payload)
        except StoreError:
            return PlainTextResponse("It could not be kept; deliver it again.", status_code=503)
        return JSONResponse(dict(answer)) if answer else Response()

    return events


def read(body: bytes, content_type: str) -> tuple[str, Json]:
    """Return the kind and the payload of a request; raises ValueError for none of Slack's."""
    if content_type.startswith("application/json"):
        return "events_api", _object(body.decode())
    form = dict(parse_qsl(body.decode(), keep_blank_values=True))
    if "payload" in form:
        return "interactive", _object(form["payload"])
    if "command" in form:
        return "slash_commands", form
    raise ValueError("no payload")


def _object(text: str) -> Json:
    found = json.loads(text)
    if not isinstance(found, dict):
        raise ValueError("no object")  # noqa: TRY004 - one error for all that is not Slack's
    return found
