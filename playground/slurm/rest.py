"""slurmrestd over HTTP: the paths that the product uses, in v0.0.38 to v0.0.43.

Statuses, plain-text refusals and the order of the checks are those of a slurmrestd 22.05.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from bot.clouds.timing import Timing
from playground.crusoe.http1 import Reply, Request, serving
from playground.slurm import tokens
from playground.slurm.api import CHANGES_SINCE, Api, Asked, json_reply, plain, route
from playground.slurm.model import Cluster

_NO_PATH = "Unable find requested URL. Please view /openapi/v3 for API reference."
_NO_METHOD = (
    "Requested REST method is not defined at URL. Please view /openapi/v3 for API reference."
)
_NO_AUTHENTICATION = "Authentication failure"


@dataclass(kw_only=True)
class RestServer:
    """A slurmrestd, running."""

    cluster: Cluster
    key: bytes = field(default_factory=lambda: secrets.token_bytes(32))
    port: int = 0
    #: method and path of each request, with the status of its answer
    served: list[tuple[str, str, int]] = field(default_factory=list)

    @property
    def url(self) -> str:
        """Return what a client is given to reach it."""
        return f"http://127.0.0.1:{self.port}"

    def token(self, user: str, lifespan: timedelta = timedelta(days=1)) -> str:
        """Return a token of a user, as `scontrol token` does."""
        return tokens.make(self.key, user, datetime.now(UTC), lifespan)

    async def handle(self, request: Request) -> Reply:
        """Answer one request."""
        reply = self._reply(request)
        self.served.append((request.method, request.target, reply.status))
        return reply

    def _reply(self, request: Request) -> Reply:
        """Check in the order of the real one: who asks, the path, the method, then the rest."""
        path, _, query = request.target.partition("?")
        users, given = request.header("x-slurm-user-name"), request.header("x-slurm-user-token")
        if len(users) != 1 or len(given) != 1 or not given[0]:
            return plain(401, _NO_AUTHENTICATION)
        if path in {"/openapi", "/openapi/v3"} and request.method == "GET":
            return json_reply(200, self._api.described())
        found = route(self.cluster, path)
        if found is None:
            return plain(404, _NO_PATH)
        parts, answers = found
        asked = Asked(
            version=int(parts["version"]),
            name=parts.groupdict().get("name") or "",
            body=_body(request),
            user=users[0],
        )
        answer = answers.get(request.method)
        if answer is None or (request.method == "POST" and asked.version < CHANGES_SINCE):
            return plain(405, _NO_METHOD)
        return self._refusal(asked, query, given[0]) or answer(self._api, asked)

    def _refusal(self, asked: Asked, query: str, token: str) -> Reply | None:
        """Say what is wrong with a request, in its version's own words."""
        if query:
            return self._api.error(asked, 400, 9201, "Unexpected query parameter", {})
        if tokens.holds(self.key, token, asked.user, datetime.now(UTC)):
            return None
        if asked.version < CHANGES_SINCE:
            return self._api.error(asked, 500, -1, "Unspecified error", {})
        return self._api.error(asked, 500, 1007, "Protocol authentication error", {})

    @property
    def _api(self) -> Api:
        return Api(cluster=self.cluster)


def _body(request: Request) -> object:
    if request.header("content-type") != ["application/json"]:
        return None
    try:
        found: object = json.loads(request.body)
    except ValueError:
        return None
    return found


@asynccontextmanager
async def running(cluster: Cluster, *, port: int = 0) -> AsyncIterator[RestServer]:
    """Serve a cluster on 127.0.0.1; port 0 lets the kernel choose one."""
    server = RestServer(cluster=cluster)
    async with serving(server.handle, timing=Timing(), port=port) as chosen:
        server.port = chosen
        yield server
