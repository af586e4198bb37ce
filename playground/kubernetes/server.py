"""The server as one thing: HTTP or TLS on loopback, objects, logs, accounts, and controllers."""

from __future__ import annotations

import json
import ssl
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from aiohttp import web

from playground.kubernetes.access import Account, Accounts
from playground.kubernetes.api import Answer, Api, Asked
from playground.kubernetes.controllers import Controllers
from playground.kubernetes.resources import Object
from playground.kubernetes.store import Store


@dataclass(frozen=True, kw_only=True, slots=True)
class Fault:
    """One answer that is given in place of the right one."""

    status: int
    body: bytes
    #: what the path must hold
    path: str = ""
    method: str = ""
    #: a parameter that the request must carry
    carries: str = ""
    headers: tuple[tuple[str, str], ...] = ()


@dataclass(kw_only=True)
class KubernetesServer:
    """A local API server, running."""

    api: Api
    controllers: Controllers
    secure: bool = False
    port: int = 0
    faults: list[Fault] = field(default_factory=list)
    #: told of a path when its answer is made and not sent yet: what changes then is a race
    after_read: Callable[[str], None] = lambda _path: None

    @property
    def url(self) -> str:
        """Return where it listens."""
        return f"{'https' if self.secure else 'http'}://127.0.0.1:{self.port}"

    @property
    def store(self) -> Store:
        """Return the objects."""
        return self.api.store

    def admit(self, token: str, account: Account) -> None:
        """Let an account in with a token."""
        self.api.accounts.by_token[token] = account

    def asked(self, key: str) -> list[Asked]:
        """Return the requests so far that carried a parameter."""
        return [asked for asked, _, _ in self.api.served if asked.query.get(key)]

    def asked_for(self, ending: str) -> int:
        """Return how many requests were made so far for a path that ends so."""
        return sum(asked.path.endswith(ending) for asked, _, _ in self.api.served)

    def logs_of(self, pod: Object, data: bytes) -> None:
        """Let the containers of a pod have logged this."""
        for one in pod["spec"]["containers"]:
            self.api.logs.now[pod["metadata"]["uid"], one["name"]] = data

    async def handle(self, request: web.Request) -> web.StreamResponse:
        """Answer one request."""
        asked = Asked(
            method=request.method,
            path=request.path,
            query=dict(request.query),
            accept=request.headers.get("Accept", ""),
            media=request.headers.get("Content-Type", ""),
            agent=request.headers.get("User-Agent", ""),
            authorization=request.headers.get("Authorization", ""),
            body=await request.read(),
        )
        for fault in self.faults:
            if _fits(fault, asked):
                self.faults.remove(fault)
                return web.Response(
                    status=fault.status, body=fault.body, headers=dict(fault.headers)
                )
        answer = self.api.reply(asked)
        if asked.method == "GET":
            self.after_read(asked.path)
        return await _sent(request, answer)


def _fits(fault: Fault, asked: Asked) -> bool:
    carried = not fault.carries or fault.carries in asked.query
    return carried and fault.path in asked.path and fault.method in ("", asked.method)


async def _sent(request: web.Request, answer: Answer) -> web.StreamResponse:
    if answer.lines is None and answer.json is not None:
        body = json.dumps(answer.json).encode()
        return web.Response(status=answer.status, body=body, content_type="application/json")
    response = web.StreamResponse(
        status=answer.status,
        headers={"Content-Type": "application/json" if answer.lines else "text/plain"},
    )
    response.enable_chunked_encoding()
    await response.prepare(request)
    if answer.lines is not None:
        async for line in answer.lines:
            await response.write(line)
    data = answer.data or b""
    for start in range(0, len(data), 1 << 16):
        await response.write(data[start : start + (1 << 16)])
    await response.write_eof()
    return response


@asynccontextmanager
async def running(
    *, tls: ssl.SSLContext | None = None, port: int = 0
) -> AsyncIterator[KubernetesServer]:
    """Run an empty cluster on 127.0.0.1; port 0 lets the kernel choose one."""
    store = Store()
    api = Api(store=store, accounts=Accounts())
    server = KubernetesServer(
        api=api, controllers=Controllers(store=store, logs=api.logs), secure=tls is not None
    )
    app = web.Application(client_max_size=8 << 20)
    app.router.add_route("*", "/{path:.*}", server.handle)
    # a client that hangs up ends its watch
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1, handler_cancellation=True)
    await runner.setup()
    try:
        site = web.TCPSite(runner, "127.0.0.1", port, ssl_context=tls)
        await site.start()
        server.port = runner.addresses[0][1]
        yield server
    finally:
        server.controllers.stop()
        await runner.cleanup()
