"""Events, commands and interactions over HTTP, signed.

Source: docs.slack.dev/authentication/verifying-requests-from-slack and docs.slack.dev/apis/
events-api.
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import json
import secrets
from dataclasses import dataclass, field
from datetime import timedelta
from urllib.parse import urlencode

import aiohttp

from playground.slack.clock import Clock
from playground.slack.delivery import ACK_WITHIN, VERIFICATION, Outcome, Retry, within
from playground.slack.kit.rules import Json

_JSON = "application/json"
_FORM = "application/x-www-form-urlencoded"


def signature(secret: str, timestamp: str, body: bytes) -> str:
    """Return the header `X-Slack-Signature` of a request."""
    base = b"v0:" + timestamp.encode() + b":" + body
    return "v0=" + hmac.new(secret.encode(), base, hashlib.sha256).hexdigest()


@dataclass(kw_only=True)
class Delivered:
    """One request as it was sent, to be sent again by whoever wants to replay it."""

    body: bytes
    headers: dict[str, str]


@dataclass(kw_only=True)
class HttpTransport:
    """The app's request URL."""

    clock: Clock
    secret: str
    url: str
    #: how far this side's clock is ahead of the app's
    skew: timedelta = timedelta(0)
    sent: list[Delivered] = field(default_factory=list)
    _session: aiohttp.ClientSession | None = None

    async def send(self, kind: str, payload: Json, retry: Retry | None = None) -> Outcome:
        """Post a payload and wait three seconds for a status of 200."""
        request = self.signed(*_written(kind, payload))
        if retry:
            request.headers["X-Slack-Retry-Num"] = str(retry.number)
            request.headers["X-Slack-Retry-Reason"] = retry.reason
        self.sent.append(request)
        answer = asyncio.ensure_future(self.post(request))
        if not await within(answer, self.clock.sleep(ACK_WITHIN)):
            answer.cancel()
            return Outcome(failed="http_timeout")
        return answer.result()

    def signed(self, body: bytes, content_type: str) -> Delivered:
        """Return a request with its time and signature."""
        timestamp = str(int((self.clock.now() + self.skew).timestamp()))
        headers = {
            "Content-Type": content_type,
            "X-Slack-Request-Timestamp": timestamp,
            "X-Slack-Signature": signature(self.secret, timestamp, body),
            "User-Agent": "Slackbot 1.0 (+https://api.slack.com/robots)",
        }
        return Delivered(body=body, headers=headers)

    async def post(self, request: Delivered) -> Outcome:
        """Post a request as it is and return what came of it."""
        if self._session is None:
            self._session = aiohttp.ClientSession()
        try:
            async with self._session.post(
                self.url, data=request.body, headers=request.headers
            ) as answer:
                raw = await answer.text()
                no_retry = answer.headers.get("X-Slack-No-Retry") == "1"
                if not answer.ok:
                    return Outcome(body=raw, failed="http_error", no_retry=no_retry)
                return Outcome(body=_read(raw, answer.content_type))
        except aiohttp.ClientError:
            return Outcome(failed="connection_failed")

    async def verify(self) -> bool:
        """Ask the URL whether it is the app's, and return whether it gave the challenge back."""
        challenge = secrets.token_urlsafe(24)
        asked = {"token": VERIFICATION, "challenge": challenge, "type": "url_verification"}
        outcome = await self.send("events_api", asked)
        body = outcome.body
        given = body.get("challenge") if isinstance(body, dict) else body
        return bool(given == challenge)

    async def close(self) -> None:
        """Close what is open."""
        if self._session:
            await self._session.close()


def _written(kind: str, payload: Json) -> tuple[bytes, str]:
    if kind == "events_api":
        return json.dumps(payload).encode(), _JSON
    if kind == "interactive":
        return urlencode({"payload": json.dumps(payload)}).encode(), _FORM
    return urlencode(payload).encode(), _FORM


def _read(raw: str, content_type: str) -> object:
    if content_type != _JSON:
        return raw or None
    try:
        return json.loads(raw) if raw else None
    except ValueError:
        return raw
