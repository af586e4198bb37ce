"""One value that every client of the product is made with."""

from __future__ import annotations

import ssl
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from bot.network.names import Names
from bot.network.route import Route, route
from bot.network.trust import context


@dataclass(frozen=True, kw_only=True)
class Network:
    """How the world is reached."""

    #: checks servers; clients share it
    trust: ssl.SSLContext = field(default_factory=lambda: context(None, {}), repr=False)
    route: Route = field(default_factory=Route, repr=False)
    names: Names = field(default_factory=Names, repr=False)

    def proxy_for(self, url: str) -> str | None:
        """Return the proxy for an address; None for the direct way."""
        return self.route.proxy_for(url)


def network(
    *,
    ca_file: Path | None = None,
    proxy: str = "",
    no_proxy: tuple[str, ...] = (),
    addresses: Mapping[str, str] | None = None,
    memory: Path | None = None,
    environ: Mapping[str, str],
) -> Network:
    """Return the network of the settings; raises NetworkSetupError for what cannot be used."""
    return Network(
        trust=context(ca_file, environ),
        route=route(proxy, no_proxy, environ),
        names=Names(file=memory, fixed=addresses),
    )
