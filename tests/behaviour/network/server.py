"""A server that speaks TLS alone and answers as each of the APIs does, and the clients of them."""

from __future__ import annotations

import json
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from aiohttp import web

from bot.clouds.crusoe.account import check_key
from bot.clouds.crusoe.cloud import open_session
from bot.clouds.crusoe.credentials import Credentials
from bot.clouds.crusoe.endpoint import endpoint
from bot.network.way import Network
from bot.network.with_httpx import Transport
from bot.schedulers.kubernetes.access import Access, connected
from bot.schedulers.kubernetes.calls import NODES
from bot.schedulers.slurm.rest import RestWay

NAME = "api.test"
_ANSWERS = {
    "/v1/users/identities": {"identity": {"email": "ada@example.com"}},
    "/slurm/v0.0.40/jobs/": {"jobs": []},
    "/api/v1/nodes": {"kind": "NodeList", "items": []},
}


@dataclass(kw_only=True)
class Secure:
    """The server."""

    port: int
    ca_file: Path
    #: the `Host` of each request
    hosts: list[str] = field(default_factory=list)

    def url(self, host: str = NAME) -> str:
        """Return its address by a name."""
        return f"https://{host}:{self.port}"


@asynccontextmanager
async def secure(context: ssl.SSLContext, ca_file: Path) -> AsyncIterator[Secure]:
    """Run it on loopback."""
    running = Secure(port=0, ca_file=ca_file)

    async def answer(request: web.Request) -> web.Response:
        running.hosts.append(request.headers["Host"])
        return web.Response(
            text=json.dumps(_ANSWERS[request.path]), content_type="application/json"
        )

    app = web.Application()
    app.router.add_route("*", "/{path:.*}", answer)
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=1)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0, ssl_context=context)
    await site.start()
    running.port = runner.addresses[0][1]
    try:
        yield running
    finally:
        await runner.cleanup()


async def ask_cloud(url: str, network: Network, tls_name: str = "") -> None:
    """Ask the cloud whose key it is."""
    credentials = Credentials(access_key_id="a" * 22, secret_key="b" * 43)
    transport = Transport(network, tls_name=tls_name)
    async with open_session(endpoint(f"{url}/v1"), credentials, transport=transport) as session:
        assert (await check_key(session)).user == "ada@example.com"


async def ask_slurm(url: str, network: Network, tls_name: str = "") -> None:
    """Ask slurmrestd for the jobs."""
    way = RestWay(
        cluster="main", base_url=url, user="ada", token=lambda: "token", version=40,
        transport=Transport(network, tls_name=tls_name),
    )  # fmt: skip
    try:
        assert await way.all_jobs() == ()
    finally:
        await way.aclose()


async def ask_kubernetes(url: str, network: Network, tls_name: str = "") -> None:
    """Ask the API server for the nodes."""
    access = Access(url=url, network=network, tls_name=tls_name)
    async with connected(access, cluster="main") as server:
        assert await server.listed(NODES) == []


Ask = Callable[[str, Network, str], Awaitable[None]]
CLIENTS: dict[str, Ask] = {
    "cloud": ask_cloud, "slurm": ask_slurm, "kubernetes": ask_kubernetes,
}  # fmt: skip
