"""Survey and copy a machine's own storage over SSH: one command that lives while we listen."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from datetime import timedelta

import asyncssh

from bot.hosts import backups, wire
from bot.hosts.backups import Answer, Copied, Going, Order, Survey
from bot.hosts.errors import AccessError, LoginError, LoginHangsError
from bot.hosts.port import Backups, Target
from bot.hosts.ssh.options import SshOptions
from bot.hosts.ssh.pins import Pins
from bot.hosts.ssh.pool import Pool

_CHUNK, _WINDOW, _COMPLAINT = 32768, 262144, 2048
#: Until the program is there to take its order: sudo and a slow login shell included.
_READY_S = 20.0
#: Beyond what the far side gives itself for a survey.
_SLACK_S = 30.0
#: A far side that copies tells each few seconds how far it is; one that hangs on a disk does not.
_QUIET_S = 900.0


@asynccontextmanager
async def ssh_backups(options: SshOptions) -> AsyncIterator[SshBackups]:
    """Open the machines for backups, and close all connections at the end."""
    found = SshBackups(options)
    try:
        yield found
    finally:
        await found.close()


class SshBackups(Backups):
    """Machines over SSH, as the account that backs up; raises HostSetupError when made."""

    def __init__(self, options: SshOptions) -> None:
        self._options = options
        self._pins = Pins(options.known_hosts, trust_on_first_use=options.trust_on_first_use)
        self._pool = Pool(options, self._pins, asyncio.get_running_loop().time)

    async def close(self) -> None:
        """Close all connections; what copies ends with them and keeps what it has."""
        await self._pool.close()

    async def survey(self, target: Target, recent: timedelta) -> Survey:
        """Log in, and look at what the machine holds."""
        order = backups.survey_order(target.proof_kind, target.proof, recent)
        within = backups.SURVEY_WITHIN.total_seconds() + _SLACK_S
        answer = await self._run(target, order, within, _nothing)
        return answer.survey()

    async def copy(
        self, target: Target, order: Order, tell: Callable[[Going], Awaitable[None]]
    ) -> Copied:
        """Log in, copy and prove; a connection that ends is an outcome, not an error."""
        line = backups.copy_order(target.proof_kind, target.proof, order)
        return (await self._run(target, line, _QUIET_S, tell)).copied()

    async def _run(
        self, target: Target, order: bytes, quiet: float, tell: Callable[[Going], Awaitable[None]]
    ) -> Answer:
        """Run the program with an order; raises a LoginError where it never began."""
        opened = await self._pool.get(target)
        if opened.key_on_first_use:
            await self._pool.drop(target)
            raise AccessError(
                f"The host key of {target.name} was never seen before, so nothing was asked. Probe "
                "it first, and compare the key that is then pinned."
            )
        installed = bool(self._options.helper)
        command = backups.command(sudo=self._options.sudo, installed=self._options.helper)
        answer, complaint = Answer(), bytearray()
        try:
            process: asyncssh.SSHClientProcess[bytes] = await opened.connection.create_process(
                command, encoding=None, window=_WINDOW
            )
        except (OSError, asyncssh.Error) as error:
            await self._pool.drop(target)
            raise LoginHangsError(f"{target.name} let us in, but runs nothing: {error}.") from error
        beating = asyncio.ensure_future(_beat(process, answer, order, installed=installed))
        listening = asyncio.ensure_future(_listen(process, complaint))
        try:
            await _read(process, answer, quiet, tell)
        except (TimeoutError, OSError, asyncssh.Error):
            await self._pool.drop(target)
        finally:
            beating.cancel()
            await asyncio.wait([listening], timeout=0.5)
            listening.cancel()
            process.channel.abort()
            self._pool.spare(target, opened)
        if not answer.ready:
            raise _refused(target, bytes(complaint))
        return answer


async def _read(
    process: asyncssh.SSHClientProcess[bytes], answer: Answer, quiet: float,
    tell: Callable[[Going], Awaitable[None]],
) -> None:  # fmt: skip
    told: Going | None = None
    while not answer.over:
        async with asyncio.timeout(quiet if answer.ready else _READY_S):
            data = await process.stdout.read(_CHUNK)
        if not data:
            return
        answer.feed(data)
        if answer.going is not None and answer.going != told:
            told = answer.going
            await tell(told)


async def _beat(
    process: asyncssh.SSHClientProcess[bytes], answer: Answer, order: bytes, *, installed: bool
) -> None:
    """Send the program and, once it is there, its order; then show that we still listen."""
    with suppress(OSError, asyncssh.Error):
        process.stdin.write(backups.preface(installed=installed))
        while not answer.ready:  # noqa: ASYNC110 # it is read elsewhere, and comes soon
            await asyncio.sleep(0.02)
        process.stdin.write(order)
        while True:
            await asyncio.sleep(backups.HEARTBEAT.total_seconds())
            process.stdin.write(b"\n")


async def _listen(process: asyncssh.SSHClientProcess[bytes], complaint: bytearray) -> None:
    with suppress(OSError, asyncssh.Error):
        while data := await process.stderr.read(_CHUNK):
            complaint += data[: max(_COMPLAINT - len(complaint), 0)]


async def _nothing(_going: Going) -> None:
    return


def _refused(target: Target, complaint: bytes) -> LoginError:
    said = ascii(complaint.decode(errors="replace").strip())[1:-1][:200]
    if re.search(rb"(?m)^sudo:", complaint):
        return AccessError(f"{target.name} refuses `sudo -n`: {said}. Nothing was asked.")
    if complaint:
        why = f"The program for backups cannot run on {target.name} (it needs python3): {said}."
        return AccessError(why)
    shell = wire.PYTHON[0]
    return LoginHangsError(f"{target.name} let us in, but did not run {shell} for us in time.")
