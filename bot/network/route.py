"""Which addresses are reached through a proxy, and which directly.

The variables mean what curl and Go take them to mean: HTTPS_PROXY is for https alone, and NO_PROXY
lists hosts, domains (`lab` and `.lab` alike), addresses, networks (`10.0.0.0/8`) or `*`, each with
a port if need be.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

from bot.network.errors import NetworkSetupError

_PORTS = {"https": 443, "wss": 443}


@dataclass(frozen=True, kw_only=True, slots=True)
class Route:
    """A proxy for what is encrypted, and whom it is not for."""

    #: with its password, if any; empty for none
    proxy: str = ""
    #: hosts, domains, addresses and networks
    direct: tuple[str, ...] = ()

    def proxy_for(self, url: str) -> str | None:
        """Return the proxy for an address; None for the direct way.

        What is not encrypted goes directly: a proxy would read the tokens in it.
        """
        parts = urlsplit(url)
        port = parts.port or _PORTS.get(parts.scheme)
        if not self.proxy or parts.scheme not in _PORTS or not parts.hostname or port is None:
            return None
        host = parts.hostname.lower().rstrip(".")
        here = _is_loopback(host)
        return None if here or any(_covers(one, host, port) for one in self.direct) else self.proxy

    @property
    def shown(self) -> str:
        """Return the proxy without its password."""
        return shown(self.proxy)


def route(proxy: str, direct: tuple[str, ...], environ: Mapping[str, str]) -> Route:
    """Return the route of the settings, with the environment where they say nothing.

    Raises NetworkSetupError for a proxy that is none.
    """
    named = proxy or _variable(environ, "https_proxy")
    text = named if not named or "://" in named else f"http://{named}"
    parts = urlsplit(text)
    if text and (parts.scheme not in {"http", "https"} or not parts.hostname):
        by = "network.proxy" if proxy else "HTTPS_PROXY"
        message = f"{by} is no proxy of the form http://host:port."
        raise NetworkSetupError(message)
    told = _variable(environ, "no_proxy").replace(" ", ",").split(",")
    return Route(proxy=text, direct=tuple(one.strip().lower() for one in (*direct, *told) if one))


def shown(url: str) -> str:
    """Return an address as people may see it: without user and password."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}" if url else ""


def address_of(text: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    """Return the address that a text is; None for a name."""
    try:
        return ipaddress.ip_address(text.strip("[]"))
    except ValueError:
        return None


def _variable(environ: Mapping[str, str], name: str) -> str:
    return environ.get(name, "") or environ.get(name.upper(), "")


def _is_loopback(host: str) -> bool:
    address = address_of(host)
    return (
        host == "localhost" or host.endswith(".localhost") or bool(address and address.is_loopback)
    )


def _covers(entry: str, host: str, port: int) -> bool:
    """Tell whether an entry of NO_PROXY is for a host."""
    if entry == "*":
        return True
    if address := address_of(host):
        return _covers_address(entry, address, port)
    name, _, only = entry.partition(":")
    if only and only != str(port):
        return False
    domain = name.removeprefix("*").strip(".")
    return bool(domain) and (host == domain or host.endswith(f".{domain}"))


def _covers_address(
    entry: str, address: ipaddress.IPv4Address | ipaddress.IPv6Address, port: int
) -> bool:
    text = entry.removesuffix(f":{port}") if address_of(entry) is None else entry
    try:
        return address in ipaddress.ip_network(text.strip("[]"), strict=False)
    except ValueError:
        return False
