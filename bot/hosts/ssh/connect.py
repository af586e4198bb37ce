"""Open one SSH connection in bounded time, and tell apart how that can fail."""

from __future__ import annotations

import asyncio
import socket
from dataclasses import dataclass
from typing import Any

import asyncssh

from bot.hosts.errors import (
    AccessError,
    HostSetupError,
    LoginError,
    LoginHangsError,
    RouteError,
    SilentError,
)
from bot.hosts.ssh.certificates import faults
from bot.hosts.ssh.options import Keys, Limits
from bot.hosts.ssh.pins import Pins
from bot.hosts.ssh.tcp import connected

#: Seconds by which our own timers may be late before a time-out says nothing of the machine.
_LATE = 0.25


@dataclass(frozen=True, kw_only=True, slots=True)
class Place:
    """Where a login goes."""

    #: for people
    name: str
    #: what its host key is pinned to
    alias: str
    address: str
    port: int
    user: str


class _Watch(asyncssh.SSHClient):
    """Notes how far a connection has come, and answers for keys that are not pinned."""

    def __init__(self, place: Place, pins: Pins) -> None:
        self._place = place
        self._pins = pins
        self.connected = False
        self.first_use = False

    def connection_made(self, conn: asyncssh.SSHClientConnection) -> None:
        """Note that something took the connection."""
        del conn
        self.connected = True

    def validate_host_public_key(
        self, host: str, addr: str, port: int, key: asyncssh.SSHKey
    ) -> bool:
        """Take an unknown key only on first use, where that is switched on."""
        del host, addr, port
        self.first_use = self._pins.take_first(self._place.alias, key)
        return self.first_use


@dataclass(frozen=True, kw_only=True, slots=True)
class Opened:
    """A connection that is logged in."""

    connection: asyncssh.SSHClientConnection
    key_on_first_use: bool


async def open_to(
    place: Place,
    keys: Keys,
    pins: Pins,
    limits: Limits,
    through: asyncssh.SSHClientConnection | None = None,
) -> Opened:
    """Log in to a machine; raises a LoginError, or HostSetupError where our keys cannot be read."""
    watch = _Watch(place, pins)
    sock: socket.socket | None = None
    task: asyncio.Task[asyncssh.SSHClientConnection] | None = None
    try:
        if through is None:
            sock = await connected(place.address, place.port, limits.connect)
            watch.connected = True
        task = asyncio.ensure_future(_connect(place, keys, pins, limits, watch, through or sock))
        if not watch.connected:
            await _ends(task, limits.connect.total_seconds())
        if watch.connected:
            await _ends(task, limits.login.total_seconds())
        if not task.done():
            raise _late(place, watch)
        return Opened(connection=task.result(), key_on_first_use=watch.first_use)
    except TimeoutError as error:
        raise _late(place, watch) from error
    except (OSError, asyncssh.Error) as error:
        raise _told(place, watch, error, through, keys) from error
    except (ValueError, UnicodeError) as error:
        # Bytes that are no SSH: whatever answers there is not a machine's sshd.
        raise LoginHangsError(f"{place.name} does not speak SSH: {error}.") from error
    finally:
        if task is not None and not task.done():
            task.cancel()
            await asyncio.wait([task], timeout=1)
        if sock is not None and (task is None or task.cancelled() or task.exception()):
            sock.close()


async def _ends(task: asyncio.Task[asyncssh.SSHClientConnection], seconds: float) -> None:
    """Wait for a task; once more where our own process was too busy to look in time."""
    clock = asyncio.get_running_loop().time
    for _ in range(2):
        due = clock() + seconds
        await asyncio.wait([task], timeout=seconds)
        if task.done() or clock() - due < _LATE:
            return


async def _connect(
    place: Place,
    keys: Keys,
    pins: Pins,
    limits: Limits,
    watch: _Watch,
    way: asyncssh.SSHClientConnection | socket.socket | None,
) -> asyncssh.SSHClientConnection:
    options: dict[str, Any] = {
        # Nothing of the account that runs the bot may change how we connect.
        "config": None,
        "host_key_alias": place.alias,
        "known_hosts": lambda _host, _addr, _port: pins.trusted(place.alias),
        "client_keys": _loaded(keys),
        "agent_path": str(keys.agent) if keys.agent else None,
        "agent_forwarding": False,
        "x11_forwarding": False,
        "gss_host": None,
        "password": None,
        "preferred_auth": ["publickey"],
        "keepalive_interval": limits.keepalive.total_seconds(),
        "keepalive_count_max": 3,
        "compression_algs": ["none"],
        # First of all that are allowed: one call of the processor's own AES a packet, where
        # asyncssh's ChaCha20 takes five.
        "encryption_algs": "^aes256-gcm@openssh.com",
    }
    connection, _ = await asyncssh.create_connection(
        lambda: watch,
        place.address,
        place.port,
        username=place.user,
        **({"sock": way} if isinstance(way, socket.socket) else {"tunnel": way or ()}),
        **options,
    )
    return connection


def _loaded(keys: Keys) -> list[Any]:
    try:
        return [str(path) for path in keys.files if path.read_bytes()]
    except OSError as error:
        raise HostSetupError(
            f"The SSH key {error.filename} cannot be read: {error.strerror}."
        ) from error


def _late(place: Place, watch: _Watch) -> LoginError:
    if watch.connected:
        return LoginHangsError(
            f"{place.name} took the connection, but no login came about in time."
        )
    return SilentError(f"Nothing answered at {place.address} port {place.port} in time.")


def _told(  # noqa: PLR0911 # one line for each way to fail
    place: Place,
    watch: _Watch,
    error: Exception,
    through: asyncssh.SSHClientConnection | None,
    keys: Keys,
) -> LoginError:
    where = f"{place.name} at {place.address} port {place.port}"
    if isinstance(error, asyncssh.HostKeyNotVerifiable | asyncssh.KeyExchangeFailed):
        return AccessError(
            f"The host key of {where} is not the one pinned for {place.alias} ({error.reason}). "
            "If the machine was rebuilt, check its new key and pin that; nothing was asked."
        )
    if isinstance(error, asyncssh.PermissionDenied | asyncssh.KeyImportError):
        said = f"{where} refuses the login of {place.user}: {str(error).rstrip('.')}."
        return AccessError(" ".join([said, *faults(keys, place.user)]))
    if isinstance(error, asyncssh.ChannelOpenError):
        return _not_forwarded(where, error)
    if through is not None and through.is_closed():
        return RouteError(f"The jump host closed the connection on the way to {where}.")
    if isinstance(error, ConnectionRefusedError):
        return _refused(where)
    if watch.connected:
        return LoginHangsError(f"{where} took the connection and broke it off: {error}.")
    return SilentError(f"{where} cannot be reached: {error}.")


def _not_forwarded(where: str, error: asyncssh.ChannelOpenError) -> LoginError:
    if error.code == asyncssh.OPEN_ADMINISTRATIVELY_PROHIBITED:
        return RouteError(f"The jump host does not forward to {where}: {error.reason}.")
    if "refused" in error.reason.lower():
        return _refused(where)
    return SilentError(f"Seen from the jump host, {where} does not answer: {error.reason}.")


def _refused(where: str) -> LoginError:
    return LoginHangsError(
        f"{where} refuses connections: its kernel answers, but nothing serves logins."
    )
