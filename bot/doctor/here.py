"""The machine that this runs on: its names, its addresses and its resolver."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from bot.fleet.placement import is_address

#: The servers behind systemd-resolved's stub (systemd-resolved.service(8)).
UPLINKS = Path("/run/systemd/resolve/resolv.conf")


@dataclass(frozen=True, kw_only=True, slots=True)
class ResolverFile:
    """What a resolv.conf says (resolv.conf(5))."""

    servers: tuple[str, ...] = ()
    domains: tuple[str, ...] = ()


def _owns(address: str) -> bool:
    """Say whether an address is this machine's: only its own can be bound to."""
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    with socket.socket(family, socket.SOCK_DGRAM) as sock:
        try:
            sock.bind((address, 0))
        except OSError:
            return False
    return True


@dataclass(frozen=True, kw_only=True, slots=True)
class Here:
    """What is asked of this machine; tests put another one in its place."""

    name: Callable[[], str] = socket.gethostname
    owns: Callable[[str], bool] = _owns
    #: addresses of a name; raises OSError
    look_up: Callable[[str], tuple[str, ...]] | None = None
    resolv_conf: Path = Path("/etc/resolv.conf")
    uplinks: Path = UPLINKS

    def resolver(self) -> ResolverFile:
        """Return the servers that are asked in the end: behind a stub on loopback, its own."""
        told = read_resolver(self.resolv_conf)
        if told.servers and all(server.startswith("127.") for server in told.servers):
            behind = read_resolver(self.uplinks)
            return ResolverFile(servers=behind.servers, domains=behind.domains or told.domains)
        return told

    async def addresses(self, name: str) -> tuple[str, ...]:
        """Return the addresses of a name; raises OSError.

        In a thread of its own that nobody waits for at the end: a resolver that hangs must not
        keep us from ending.
        """
        if is_address(name):
            return (name,)
        loop = asyncio.get_running_loop()
        found: asyncio.Future[tuple[str, ...]] = loop.create_future()
        look_up = self.look_up or _look_up

        def tell(addresses: tuple[str, ...] | None, error: OSError | None) -> None:
            if found.done():
                return
            if error is not None:
                found.set_exception(error)
            else:
                found.set_result(addresses or ())

        def run() -> None:
            addresses, error = None, None
            try:
                addresses = look_up(name)
            except OSError as raised:
                error = raised
            # the loop may be closed by then
            with contextlib.suppress(RuntimeError):
                loop.call_soon_threadsafe(tell, addresses, error)

        threading.Thread(target=run, name=f"look up {name}", daemon=True).start()
        return await found


def read_resolver(path: Path) -> ResolverFile:
    """Read a resolv.conf; one that is not there says nothing."""
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ResolverFile()
    servers: list[str] = []
    domains: tuple[str, ...] = ()
    for line in text.splitlines():
        words = line.split()
        if words[:1] == ["nameserver"] and len(words) > 1:
            servers.append(words[1])
        elif words[:1] in (["search"], ["domain"]):
            # the last one counts
            domains = tuple(word.strip(".").lower() for word in words[1:] if word != ".")
    return ResolverFile(servers=tuple(servers), domains=domains)


def _look_up(name: str) -> tuple[str, ...]:
    found = socket.getaddrinfo(name, None, type=socket.SOCK_STREAM)
    return tuple(dict.fromkeys(str(one[4][0]) for one in found))
