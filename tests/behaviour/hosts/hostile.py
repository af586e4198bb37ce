"""Servers that misbehave, each behind a login that works."""

from __future__ import annotations

import asyncio
import base64
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import asyncssh

from bot.hosts import wire
from bot.hosts.port import Hosts, Target
from bot.hosts.ssh.hosts import ssh_hosts
from bot.hosts.ssh.options import Keys, Limits, SshOptions
from bot.hosts.words import Address, Proof

UUID = "6b7f2c1e-0000-4000-8000-000000000001"
TARGET = Target(vm_id=UUID, name="node-1", address=Address("127.0.0.1"), proof=Proof(UUID))
QUICK = Limits(
    connect=timedelta(seconds=1), login=timedelta(seconds=1.5), total=timedelta(seconds=3)
)
Connection = asyncssh.connection.SSHConnection
Process = asyncssh.SSHServerProcess[bytes]
Behaviour = Callable[[Process], Awaitable[None]]


@dataclass(frozen=True, kw_only=True)
class Reached:
    """A server that misbehaves, and our way to it."""

    hosts: Hosts
    options: SshOptions
    commands: list[str]


@asynccontextmanager
async def behaving(
    behaviour: Behaviour,
    folder: Path,
    *,
    pinned: asyncssh.SSHKey | None = None,
    tofu: bool = False,
    sudo: bool = False,
) -> AsyncIterator[Reached]:
    """Serve this behaviour for every command; `pinned` stands in known_hosts in the key's place."""
    ours, theirs = (asyncssh.generate_private_key("ssh-ed25519") for _ in range(2))
    ours.write_private_key(folder / "id")
    if not tofu:
        shown = (pinned or theirs).export_public_key("openssh").decode()
        (folder / "known_hosts").write_text(f"{UUID} {shown}", encoding="utf-8")
    commands: list[str] = []
    connections: set[Connection] = set()

    async def run(process: Process) -> None:
        commands.append(process.command or "")
        connections.add(process.channel.get_connection())
        await behaviour(process)

    listener = await asyncssh.listen(
        "127.0.0.1",
        0,
        server_host_keys=[theirs],
        authorized_client_keys=asyncssh.import_authorized_keys(
            ours.export_public_key("openssh").decode()
        ),
        process_factory=run,
        encoding=None,
    )
    options = SshOptions(
        user="probe",
        keys=Keys(files=(folder / "id",)),
        known_hosts=folder / "known_hosts",
        trust_on_first_use=tofu,
        sudo=sudo,
        port=listener.get_port(),
        limits=QUICK,
    )
    try:
        async with ssh_hosts(options) as hosts:
            yield Reached(hosts=hosts, options=options, commands=commands)
    finally:
        listener.close()
        await listener.wait_closed()
        for connection in connections:
            connection.abort()
            await connection.wait_closed()


@asynccontextmanager
async def mute() -> AsyncIterator[int]:
    """Take connections and never say a word; return the port."""
    open_now: list[asyncio.StreamWriter] = []

    async def take(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        del reader
        open_now.append(writer)

    server = await asyncio.start_server(take, "127.0.0.1", 0)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()
        for writer in open_now:
            writer.close()
        await server.wait_closed()


def answer(name: str, rc: int, value: object = "") -> bytes:
    """Return an answer line of the wire."""
    output = base64.b64encode(json.dumps(value).encode()).decode()
    return json.dumps({"name": name, "rc": rc, "ms": 1, "output": output}).encode() + b"\n"


def identity(found: str = UUID) -> bytes:
    """Return the start of an answer: who the machine says that it is."""
    head = f"{wire.SHELL}\n{wire.HELPER}\n".encode()
    return head + answer("identity", 0, {"found": found})


async def ends(process: Process) -> None:
    """Succeed without a word."""
    process.exit(0)


async def floods(process: Process) -> None:
    """Send without end."""
    process.stdout.write(identity())
    while True:
        process.stdout.write(b"x" * 65536)
        await process.stdout.drain()


async def is_another(process: Process) -> None:
    """Say with exit code 0 to be another machine."""
    process.stdout.write(identity("00000000-0000-4000-8000-00000000dead"))
    process.exit(0)


async def answers_what_was_not_asked(process: Process) -> None:
    """Answer rows that were not sent, and one twice."""
    process.stdout.write(identity())
    for name in ("resolver_unit", "made-up", "identity"):
        process.stdout.write(answer(name, 0, {"found": "x"}))
    process.exit(0)


async def dies_of_a_signal(process: Process) -> None:
    """Be killed once the login shell has run."""
    process.stdout.write(f"{wire.SHELL}\n".encode())
    process.exit_with_signal("KILL")


async def closes_the_connection(process: Process) -> None:
    """Break off after the first answer."""
    process.stdout.write(identity())
    process.channel.get_connection().abort()
