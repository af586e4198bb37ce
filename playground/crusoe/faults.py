"""What can be made to go wrong with a request, as values."""

from __future__ import annotations

import asyncio
import enum
import json
from dataclasses import dataclass, field

from playground.crusoe.http1 import DropConnection, Reply, Request

#: The word that the API's description gives for each status.
WORDS = {
    400: "bad_request",
    401: "bad_credential",
    403: "unauthorized",
    404: "not_found",
    409: "conflict",
    429: "too_many_requests",
    500: "internal_error",
    502: "bad_gateway",
    503: "unavailable",
    504: "gateway_timeout",
}


def json_reply(status: int, body: object) -> Reply:
    """Return a reply with a JSON body."""
    return Reply(
        status=status,
        body=json.dumps(body).encode(),
        headers=(("Content-Type", "application/json"),),
    )


def refused(status: int) -> Reply:
    """Return an error as the API's description has it: the number in `code`, the word after it."""
    return json_reply(status, {"code": str(status), "message": WORDS[status]})


class Silence(enum.Enum):
    """Ways of giving no answer."""

    HANG = "keep the connection open and say nothing"
    DROP = "hang up"


@dataclass(frozen=True, kw_only=True, slots=True)
class Fault:
    """One thing to go wrong, for the next requests that it fits."""

    gives: Reply | Silence
    #: empty fits every method
    method: str = ""
    #: what the path must hold
    path: str = ""
    times: int = 1
    #: serve the request first and then hide its answer, as a broken connection does
    after_effect: bool = False


@dataclass(kw_only=True)
class Faults:
    """Faults in line, each used up after its times."""

    waiting: list[Fault] = field(default_factory=list)

    def add(self, fault: Fault) -> None:
        """Put a fault at the end of the line."""
        self.waiting += [fault] * fault.times

    def take(self, request: Request) -> Fault | None:
        """Return the first fault that fits a request, and use it up."""
        for place, fault in enumerate(self.waiting):
            path = request.target.partition("?")[0]
            if fault.method in ("", request.method) and fault.path in path:
                return self.waiting.pop(place)
        return None


async def carry_out(gives: Reply | Silence) -> Reply:
    """Reply, or give no answer in the way asked for."""
    if gives is Silence.HANG:
        await asyncio.Event().wait()
    if isinstance(gives, Silence):
        raise DropConnection
    return gives


def too_many(retry_after: str = "") -> Reply:
    """Return 429, with a Retry-After where one is given."""
    reply = refused(429)
    return Reply(
        status=429, body=reply.body, headers=(*reply.headers, ("Retry-After", retry_after))
    )


def not_json(status: int = 502) -> Reply:
    """Return what a proxy in between would say."""
    return Reply(
        status=status,
        body=b"<html><body><h1>Bad Gateway</h1></body></html>",
        headers=(("Content-Type", "text/html"),),
    )


def redirect(location: str) -> Reply:
    """Return a redirect, which a signed request must not follow."""
    return Reply(status=307, headers=(("Location", location),))
