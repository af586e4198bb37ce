"""Probe machines over SSH: one login, one command, one answer, in bounded time and memory."""

from __future__ import annotations

import asyncio
import contextlib
import re
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta

import asyncssh

from bot.hosts import privileges, probes, repairs, wire
from bot.hosts.errors import AccessError, LoginError, LoginHangsError
from bot.hosts.evidence import evidence, unreachable
from bot.hosts.model import Delays, Evidence, Row
from bot.hosts.port import Hosts, Repairs, Target
from bot.hosts.privileges import Privileges
from bot.hosts.probes import PROBES, Question, Table
from bot.hosts.quoting import quoted
from bot.hosts.repairs import GuestRung
from bot.hosts.ssh.connect import Opened
from bot.hosts.ssh.options import SshOptions
from bot.hosts.ssh.pins import Pins
from bot.hosts.ssh.pool import Pool

#: Bytes read at once, and bytes that may wait unread on a channel.
_CHUNK, _WINDOW = 32768, 262144
#: sudoers(5), `fqdn`; Debian and Ubuntu build sudo with it.
_ASKS_DNS = (
    " Where DNS is dead, sudo waits for the machine's own name, unless its sudoers file says "
    "`!fqdn`, as ours do."
)
#: Bytes of standard error that are looked at.
_COMPLAINT = 2048
#: Bytes of a list of what sudo allows.
_MOST_SUDO = 65536


def _now() -> datetime:
    return datetime.now(UTC)


@asynccontextmanager
async def ssh_hosts(
    options: SshOptions, now: Callable[[], datetime] = _now
) -> AsyncIterator[SshHosts]:
    """Open the machines of a fleet and close all connections at the end."""
    hosts = SshHosts(options, now)
    try:
        yield hosts
    finally:
        await hosts.close()


class SshHosts(Hosts, Repairs):
    """Machines over SSH, with one account: the one that probes or the one that repairs.

    Raises HostSetupError when made with settings that cannot be used.
    """

    def __init__(self, options: SshOptions, now: Callable[[], datetime] = _now) -> None:
        self._options = options
        self._now = now
        self._pins = Pins(options.known_hosts, trust_on_first_use=options.trust_on_first_use)
        self._clock = asyncio.get_running_loop().time
        self._turns = asyncio.Semaphore(options.limits.at_once)
        self._pool = Pool(options, self._pins, self._clock)

    async def close(self) -> None:
        """Close all connections."""
        await self._pool.close()

    async def probe(self, target: Target, question: Question, table: Table = PROBES) -> Evidence:
        """Log in, unless a connection is open, and run the probes when it is their turn."""
        async with self._turns:
            return await self._probe(
                target, probes.rows(question, target.proof_kind, target.proof, table)
            )

    async def privileges(self, target: Target) -> Privileges:
        """Log in, unless a connection is open, and ask sudo what it allows."""
        try:
            async with self._turns, asyncio.timeout(self._options.limits.total.total_seconds()):
                opened = await self._pool.get(target)
                return privileges.read(await _said(opened.connection, privileges.ARGV))
        except (LoginError, TimeoutError, OSError, asyncssh.Error) as error:
            why = str(error) or "it did not answer in time"
            return Privileges(untold=f"{target.name} was not asked: {why}")

    async def repair(self, target: Target, rung: GuestRung) -> Evidence:
        """Log in, unless a connection is open, and run a rung's commands, each after the other."""
        rows = repairs.rows(rung, target.proof_kind, target.proof)
        async with self._turns:
            return await self._probe(target, rows, acts=repairs.within(rung))

    async def _probe(
        self, target: Target, rows: tuple[Row, ...], *, acts: timedelta | None = None
    ) -> Evidence:
        began = self._clock()
        until = began + self._options.limits.total.total_seconds()
        try:
            async with asyncio.timeout_at(until) as limit:
                opened = await self._pool.get(target)
                login = timedelta(seconds=self._clock() - began)
                try:
                    if acts is not None:
                        await self._only_pinned(target, opened)
                        limit.reschedule(until + _long(acts) + 1)
                    found = await self._asked(target, rows, opened, login, until, acts)
                finally:
                    self._pool.spare(target, opened)
        except LoginError as error:
            return unreachable(target, self._now(), error)
        except TimeoutError:
            await self._pool.drop(target)
            late = LoginHangsError(f"{target.name} did not let us in within the time for a probe.")
            return unreachable(target, self._now(), late)
        if found.failure is not None:
            self._pins.drop(target.vm_id)
            await self._pool.drop(target)
        elif opened.key_on_first_use:
            self._pins.keep(target.vm_id)
        return found

    async def _only_pinned(self, target: Target, opened: Opened) -> None:
        if not opened.key_on_first_use:
            return
        self._pins.drop(target.vm_id)
        await self._pool.drop(target)
        raise AccessError(
            f"The host key of {target.name} was never seen before, so nothing was repaired. "
            "Probe it first, and compare the key that is then pinned."
        )

    async def _asked(
        self,
        target: Target,
        rows: tuple[Row, ...],
        opened: Opened,
        login: timedelta,
        until: float,
        acts: timedelta | None,
    ) -> Evidence:
        run = _Run(wire.Answers(rows), self._clock)
        # A little before the end, so that what was answered until then is kept.
        left = timedelta(seconds=max(until - self._clock() - 1, 1))
        try:
            async with asyncio.timeout_at(until - 0.2) as limit:
                await run.through(
                    opened.connection,
                    wire.command(sudo=self._options.sudo, installed=self._options.helper),
                    wire.preface(rows, installed=bool(self._options.helper)),
                    wire.order(rows, acts or min(left, wire.WITHIN)),
                    None if acts is None else lambda: limit.reschedule(self._clock() + _long(acts)),
                )
        except (TimeoutError, OSError, asyncssh.Error):
            await self._pool.drop(target)
        if problem := run.problem(target, sudo=self._options.sudo):
            return unreachable(target, self._now(), problem)
        return evidence(
            target,
            self._now(),
            run.answers,
            Delays(login=login, shell=run.shell, helper=run.helper),
            key_on_first_use=opened.key_on_first_use,
        )


def _long(acts: timedelta) -> float:
    """Return the seconds that a repair's answer is waited for."""
    return (acts + timedelta(seconds=1)).total_seconds()


async def _said(connection: asyncssh.SSHClientConnection, argv: tuple[str, ...]) -> str:
    """Return what a command prints on both streams, in bounded memory."""
    process: asyncssh.SSHClientProcess[bytes] = await connection.create_process(
        quoted(argv), encoding=None, window=_WINDOW, stderr=asyncssh.STDOUT
    )
    said = b""
    try:
        process.stdin.write_eof()
        while len(said) < _MOST_SUDO and (data := await process.stdout.read(_CHUNK)):
            said += data
    finally:
        process.channel.abort()
    return said[:_MOST_SUDO].decode(errors="replace")


def _give(process: asyncssh.SSHClientProcess[bytes], data: bytes, *, last: bool = True) -> None:
    # A command that ends without reading (sudo refuses) has said why all the same.
    with contextlib.suppress(OSError):
        process.stdin.write(data)
        if last:
            process.stdin.write_eof()


class _Run:
    """One command on an open connection; exit codes are not believed, only whole answers."""

    def __init__(self, answers: wire.Answers, clock: Callable[[], float]) -> None:
        self.answers = answers
        self._clock = clock
        self._complaint = b""
        self._ended = False
        self.shell: timedelta | None = None
        self.helper: timedelta | None = None

    async def through(
        self,
        connection: asyncssh.SSHClientConnection,
        command: str,
        preface: bytes,
        order: bytes,
        begins: Callable[[], None] | None = None,
    ) -> None:
        """Run the command until its answer is complete or it ends.

        With `begins`, the order waits until the command is there to take it, which calls it.
        """
        began = self._clock()
        process: asyncssh.SSHClientProcess[bytes] = await connection.create_process(
            command, encoding=None, window=_WINDOW
        )
        complaints = asyncio.ensure_future(self._listen(process))
        try:
            _give(process, preface, last=False)
            if begins is None:
                _give(process, order)
            while not self.answers.complete:
                data = await process.stdout.read(_CHUNK)
                if not data:
                    self._ended = True
                    # The complaint may come after the end of output.
                    await asyncio.wait([complaints], timeout=0.5)
                    return
                self.answers.feed(data)
                self._measure(began)
                if begins and wire.HELPER in self.answers.marks:
                    begins()
                    begins = None
                    _give(process, order)
        finally:
            complaints.cancel()
            process.channel.abort()

    def _measure(self, began: float) -> None:
        passed = timedelta(seconds=self._clock() - began)
        if self.shell is None and wire.SHELL in self.answers.marks:
            self.shell = passed
        if self.helper is None and wire.HELPER in self.answers.marks:
            self.helper = passed - (self.shell or timedelta(0))

    async def _listen(self, process: asyncssh.SSHClientProcess[bytes]) -> None:
        while len(self._complaint) < _COMPLAINT:
            data = await process.stderr.read(_COMPLAINT)
            if not data:
                return
            self._complaint += data[:_COMPLAINT]
        # A flood of complaints stops here: unread, it fills the window and no more memory.

    def problem(self, target: Target, *, sudo: bool) -> LoginError | None:
        """Return why the helper never ran, where it did not."""
        if wire.HELPER in self.answers.marks:
            return None
        said = ascii(self._complaint.decode(errors="replace").strip())[:200]
        in_shell = wire.SHELL in self.answers.marks
        if self._ended and re.search(rb"(?m)^sudo:", self._complaint):
            return AccessError(f"{target.name} refuses `sudo -n`: {said}. Nothing was asked.")
        if self._ended and in_shell and self._complaint:
            return AccessError(
                f"The helper cannot run on {target.name} (it needs python3): {said}."
            )
        step = "sudo" if sudo and in_shell else "its login shell"
        mend = _ASKS_DNS if step == "sudo" and not self._ended else ""
        why = f"{target.name} let us in, but {step} did not run our command.{mend}"
        return LoginHangsError(why)
