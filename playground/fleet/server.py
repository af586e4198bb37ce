"""Serve a fleet over real SSH: one jump host on loopback, every machine behind it in process."""

from __future__ import annotations

import asyncio
import contextlib
import shlex
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import asyncssh

from bot.hosts import wire
from bot.hosts.grants import BACKUP_PATH, HELPERS, REPAIR_PATH
from playground.fleet.answers import answer
from playground.fleet.machine import Machine, Network
from playground.fleet.storage import Asked, answered

_SSH_PORT = 22
#: The account that repairs.
REPAIRER = "repair"
#: The account that backs up.
BACKER = "backup"
#: Which account alone may run which helper.
_WHOSE = {REPAIR_PATH: REPAIRER, BACKUP_PATH: BACKER}
#: Input of a command that is taken; the helper's text and a long probe list fit in well.
_MOST_INPUT = 4 * 2**20


@dataclass(kw_only=True)
class FleetServer:
    """A fleet, running."""

    network: Network
    #: who may log in
    authorized: asyncssh.SSHKey
    #: who may log in to machines as `REPAIRER`, who then alone may run the repair helper; without
    #: one the first key may do everything
    repairer: asyncssh.SSHKey | None = None
    #: who may log in to machines as `BACKER`, likewise
    backer: asyncssh.SSHKey | None = None
    #: the jump host's key, and each machine's by address
    jump_key: asyncssh.SSHKey
    host_keys: dict[str, asyncssh.SSHKey]
    port: int = 0
    #: commands that were run, as (machine, command line)
    ran: list[tuple[str, str]] = field(default_factory=list)
    #: logins by machine's name
    logins: list[str] = field(default_factory=list)
    #: what is open now, to be closed at the end
    connections: set[asyncssh.SSHServerConnection] = field(default_factory=set)
    tasks: set[asyncio.Task[None]] = field(default_factory=set)

    def known_hosts(self) -> str:
        """Return known_hosts lines: machines by VM id, the jump host by its address."""
        lines = [f"127.0.0.1 {_public(self.jump_key)}"]
        for address, key in self.host_keys.items():
            lines.append(f"{self.network.machines[address].product_uuid} {_public(key)}")
        return "\n".join(lines) + "\n"

    def keys_of(self, user: str) -> asyncssh.SSHAuthorizedKeys:
        """Return the keys with which a user may log in to a machine."""
        own = {REPAIRER: self.repairer, BACKER: self.backer}.get(user)
        return _authorized(own or self.authorized)

    def options(self) -> dict[str, Any]:
        """Return what every server of the fleet is started with; the jump host takes all keys."""
        return {
            "authorized_client_keys": _authorized(self.authorized, self.repairer, self.backer),
            "encoding": None,
            "agent_forwarding": False,
            "allow_scp": False,
            "gss_host": None,
        }


def _authorized(*keys: asyncssh.SSHKey | None) -> asyncssh.SSHAuthorizedKeys:
    return asyncssh.import_authorized_keys("".join(f"{_public(key)}\n" for key in keys if key))


def _public(key: asyncssh.SSHKey) -> str:
    return " ".join(key.export_public_key("openssh").decode().split()[:2])


#: Answers a command that is run on the jump host itself.
Process = asyncssh.SSHServerProcess[bytes]


@asynccontextmanager
async def serving(
    network: Network,
    authorized: asyncssh.SSHKey,
    *,
    repairer: asyncssh.SSHKey | None = None,
    backer: asyncssh.SSHKey | None = None,
    login: Callable[[Process], Awaitable[None]] | None = None,
    port: int = 0,
) -> AsyncIterator[FleetServer]:
    """Start the jump host; stop everything at the end.

    Port 0 lets the kernel choose one. With `login` the jump host runs commands, too.
    """
    server = FleetServer(
        network=network,
        authorized=authorized,
        repairer=repairer,
        backer=backer,
        jump_key=asyncssh.generate_private_key("ssh-ed25519"),
        host_keys={
            address: asyncssh.generate_private_key("ssh-ed25519") for address in network.machines
        },
    )
    listener = await asyncssh.listen(
        "127.0.0.1",
        port,
        process_factory=login,
        server_host_keys=[server.jump_key],
        server_factory=lambda: _Jump(server),
        **server.options(),
    )
    server.port = listener.get_port()
    try:
        yield server
    finally:
        listener.close()
        await listener.wait_closed()
        for connection in list(server.connections):
            connection.abort()
            await connection.wait_closed()
        await asyncio.gather(*server.tasks, return_exceptions=True)


class _Jump(asyncssh.SSHServer):
    """The jump host: it forwards to the machines' private addresses and does nothing else."""

    def __init__(self, server: FleetServer) -> None:
        self._server = server

    def connection_made(self, conn: asyncssh.SSHServerConnection) -> None:
        """Note an open connection."""
        self._server.connections.add(conn)
        self._connection = conn

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget a closed one."""
        del exc
        self._server.connections.discard(self._connection)

    def connection_requested(
        self, dest_host: str, dest_port: int, orig_host: str, orig_port: int
    ) -> Any:  # noqa: ANN401 # asyncssh's own union is not public
        """Lead a forwarded connection to a machine of the model."""
        del orig_host, orig_port
        machine = self._server.network.machines.get(dest_host)
        if machine is None or machine.silent or dest_port != _SSH_PORT:
            raise asyncssh.ChannelOpenError(asyncssh.OPEN_CONNECT_FAILED, "Connection timed out")

        async def forward(
            reader: asyncssh.SSHReader[bytes], writer: asyncssh.SSHWriter[bytes]
        ) -> None:
            task = asyncio.ensure_future(_forward(self._server, machine, reader, writer))
            self._server.tasks.add(task)
            task.add_done_callback(self._server.tasks.discard)

        return forward


class _Account(asyncssh.SSHServer):
    """A machine's accounts, each with keys of its own."""

    def __init__(self, server: FleetServer) -> None:
        self._server = server

    def connection_made(self, conn: asyncssh.SSHServerConnection) -> None:
        """Remember the connection, to whose user the keys belong."""
        self._connection = conn

    def begin_auth(self, username: str) -> bool:
        """Take the keys of this user and no others."""
        self._connection.set_authorized_keys(self._server.keys_of(username))
        return True


async def _forward(
    server: FleetServer,
    machine: Machine,
    reader: asyncssh.SSHReader[bytes],
    writer: asyncssh.SSHWriter[bytes],
) -> None:
    ours, theirs = socket.socketpair()
    if machine.login_hangs:
        await reader.read(-1)
        ours.close()
        theirs.close()
        return
    near, out = await asyncio.open_connection(sock=ours)
    machine_side = asyncio.ensure_future(_serve(server, machine, theirs))
    await _until_first(_pump(reader, out), _pump(near, writer))
    out.close()
    with contextlib.suppress(OSError):
        await out.wait_closed()
    writer.close()
    await asyncio.gather(machine_side, return_exceptions=True)


async def _serve(server: FleetServer, machine: Machine, sock: socket.socket) -> None:
    connection = await asyncssh.run_server(
        sock,
        server_host_keys=[server.host_keys[machine.address]],
        server_factory=lambda: _Account(server),
        process_factory=lambda process: _process(server, machine, process),
        **server.options(),
    )
    server.logins.append(machine.name)
    await connection.wait_closed()


async def _pump(reader: Any, writer: Any) -> None:  # noqa: ANN401 # two libraries' streams
    while data := await reader.read(65536):
        writer.write(data)
        await writer.drain()


async def _until_first(*parts: Awaitable[None]) -> None:
    tasks = [asyncio.ensure_future(part) for part in parts]
    await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


async def _process(
    server: FleetServer, machine: Machine, process: asyncssh.SSHServerProcess[bytes]
) -> None:
    command = process.command or ""
    server.ran.append((machine.name, command))
    sudo = "sudo" in shlex.split(command)
    if command not in {wire.command(sudo=sudo, installed=path) for path in ("", *HELPERS)}:
        process.stderr.write(f"sh: {command[:80]}: not found\n".encode())
        process.exit(127)
        return
    user = process.get_extra_info("username")
    process.stdout.write(f"{wire.SHELL}\n".encode())
    helper = next((path for path in _WHOSE if path in command), "")
    if server.repairer is not None and _WHOSE.get(helper, "") != (
        user if user in _WHOSE.values() else ""
    ):
        process.stderr.write(b"sudo: a password is required\n")
        process.exit(1)
        return
    process.stdout.write(f"{wire.HELPER}\n".encode())
    if helper == BACKUP_PATH:
        await _back_up(server, machine, process)
        return
    given = b""
    while data := await process.stdin.read(65536):
        given += data
        if len(given) > _MOST_INPUT:
            process.exit(1)
            return
    try:
        order = wire.read_order(given)
    except (ValueError, KeyError, TypeError) as error:
        process.stderr.write(f"no probe list: {error}\n".encode())
        process.exit(1)
        return
    for result in answer(machine, server.network, order.rows):
        process.stdout.write(wire.line(result))
        await process.stdout.drain()
    process.exit(0)


async def _back_up(server: FleetServer, machine: Machine, process: Process) -> None:
    """Take an order's line and answer it; what comes after it says that somebody still listens."""

    async def say(line: bytes) -> None:
        process.stdout.write(line)
        await process.stdout.drain()

    try:
        asked = Asked.of(await process.stdin.readline())
    except (ValueError, KeyError) as error:
        process.stderr.write(f"no order: {error}\n".encode())
        process.exit(1)
        return
    await answered(machine, server.network, asked, say)
    process.exit(0)
