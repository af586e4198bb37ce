"""The network for httpx: a transport that knows proxies, names that fail, and names for TLS."""

from __future__ import annotations

import socket

import httpx

from bot.network.route import address_of
from bot.network.telling import why
from bot.network.way import Network


class Transport(httpx.AsyncBaseTransport):
    """Sends a request through the proxy that is for it, or to an address of its host."""

    def __init__(self, network: Network, *, tls_name: str = "") -> None:
        self._network = network
        #: what a host given by address is called in its certificate
        self._tls_name = tls_name
        self._direct = httpx.AsyncHTTPTransport(verify=network.trust)
        self._proxied: dict[httpx.URL, httpx.AsyncHTTPTransport] = {}

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Send a request; a host whose name nobody answers for is reached at its last address."""
        if proxy := self._network.proxy_for(str(request.url)):
            return await self._through(await self._by(proxy), request)
        if self._tls_name and address_of(request.url.host) is not None:
            named = _at(request, request.url.host, self._tls_name)
            named.headers["Host"] = _with_port(self._tls_name, request.url)
            return await self._direct.handle_async_request(named)
        return await self._reached(request)

    @staticmethod
    async def _through(way: httpx.AsyncHTTPTransport, request: httpx.Request) -> httpx.Response:
        try:
            return await way.handle_async_request(request)
        except httpx.ConnectError as error:
            if why(error):
                raise
            # httpx does not tell whether the proxy or the server is away; only the proxy is dialled
            raise httpx.ProxyError(str(error), request=request) from error

    async def aclose(self) -> None:
        """Close the connections."""
        for one in (self._direct, *self._proxied.values()):
            await one.aclose()

    async def _reached(self, request: httpx.Request) -> httpx.Response:
        host, names = request.url.host, self._network.names
        if address_of(host) is not None:
            return await self._direct.handle_async_request(request)
        try:
            answer = await names.addresses(host)
        except socket.gaierror as error:
            raise httpx.ConnectError(str(error), request=request) from error
        if not answer.is_last_known and not names.is_fixed(host):
            return await self._direct.handle_async_request(request)
        *others, last = answer.addresses
        for address in others:
            try:
                return await self._direct.handle_async_request(_at(request, address, host))
            except (httpx.ConnectError, httpx.ConnectTimeout):
                continue  # nothing was sent
        return await self._direct.handle_async_request(_at(request, last, host))

    async def _by(self, proxy: str) -> httpx.AsyncHTTPTransport:
        """Return the way through a proxy, whose own name may fail, too."""
        url = httpx.URL(proxy)
        if url.scheme == "http" and address_of(url.host) is None:
            try:
                answer = await self._network.names.addresses(url.host)
            except socket.gaierror as error:
                raise httpx.ProxyError(str(error)) from error
            url = url.copy_with(host=answer.addresses[0])
        if url not in self._proxied:
            trust = self._network.trust
            to_proxy = trust if url.scheme == "https" else None
            self._proxied[url] = httpx.AsyncHTTPTransport(
                verify=trust, proxy=httpx.Proxy(url, ssl_context=to_proxy)
            )
        return self._proxied[url]


def _at(request: httpx.Request, address: str, name: str) -> httpx.Request:
    """Return a request to an address whose server is called by its name, by TLS and by Host."""
    return httpx.Request(
        request.method,
        request.url.copy_with(host=address),
        headers=request.headers.copy(),
        stream=request.stream,
        extensions={**request.extensions, "sni_hostname": name},
    )


def _with_port(name: str, url: httpx.URL) -> str:
    return name if url.port is None else f"{name}:{url.port}"
