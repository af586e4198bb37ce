"""The network for aiohttp, on which the clients of Slack and Kubernetes are built."""

from __future__ import annotations

import socket
import ssl
from typing import Any

import aiohttp
from aiohttp.abc import AbstractResolver, ResolveResult

from bot.network.names import Names
from bot.network.route import address_of
from bot.network.way import Network

#: Shorter than any server keeps an idle connection: one that it has closed would lose a call.
_KEPT_S = 5.0
_USUAL = aiohttp.ClientTimeout(total=30)


class Resolver(AbstractResolver):
    """Looks names up as the product does: an outage finds their last known addresses."""

    def __init__(self, names: Names) -> None:
        self._names = names

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        """Return the addresses of a host; raises OSError, as aiohttp wants it."""
        answer = await self._names.addresses(host)
        found = [_result(host, one, port) for one in answer.addresses]
        fitting = [one for one in found if family in {socket.AF_UNSPEC, one["family"]}]
        if not fitting:
            message = f"{host} has no address of the wanted family"
            raise OSError(None, message)
        return fitting

    async def close(self) -> None:
        """Hold nothing that has to be closed."""


def session(
    network: Network,
    *,
    timeout: aiohttp.ClientTimeout = _USUAL,
    trust: ssl.SSLContext | None = None,
    **more: Any,  # noqa: ANN401 - what aiohttp takes
) -> aiohttp.ClientSession:
    """Return a session; its proxy is given with each request, by `Network.proxy_for`."""
    connector = aiohttp.TCPConnector(
        ssl=trust or network.trust,
        resolver=Resolver(network.names),
        # the names remember for themselves
        use_dns_cache=False,
        keepalive_timeout=_KEPT_S,
    )
    return aiohttp.ClientSession(connector=connector, timeout=timeout, trust_env=False, **more)


def _result(host: str, address: str, port: int) -> ResolveResult:
    found = address_of(address.partition("%")[0])
    version = socket.AF_INET6 if found is not None and found.version == 6 else socket.AF_INET  # noqa: PLR2004
    return ResolveResult(
        hostname=host, host=address, port=port, family=version, proto=0,
        flags=socket.AI_NUMERICHOST,
    )  # fmt: skip
