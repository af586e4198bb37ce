"""Run Slurm's commands on a login node over SSH, and on other machines by way of it."""

from __future__ import annotations

import asyncio
import contextlib
import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import NoReturn

import asyncssh

from bot.hosts.errors import AccessError as LoginRefusedError
from bot.hosts.errors import HostError, HostSetupError
from bot.hosts.quoting import quoted
from bot.hosts.ssh.connect import Place
from bot.hosts.ssh.options import Jump, SshOptions
from bot.hosts.ssh.pins import Pins
from bot.hosts.ssh.pool import Pool
from bot.schedulers.errors import AccessError, RequestRefusedError, SchedulerUnavailableError
from bot.schedulers.slurm.runner import MOST_BYTES, Ran, Runner

#: Bytes read at once, that may wait unread on a channel, and that are kept of complaints.
_CHUNK, _WINDOW, _COMPLAINT = 32768, 1 << 20, 1 << 16
#: sshd's MaxSessions is 10 (sshd_config(5)): more commands at once on one connection are refused.
_AT_ONCE = 8
#: How long to wait, in seconds, before each new try for a session: sshd counts one that has ended
#: until its own process is gone, a moment after we were told of the end.
_SESSION_WAITS_S = (0.02, 0.05, 0.1, 0.2, 0.4, 0.8)
#: What a shell, env(1) and nice(1) end with where a program is missing or cannot be started.
_NOT_RUN = frozenset({126, 127})
#: What timeout(1) ends with when it has ended the command, and a command that went on writing
#: when nobody read any more.
_LATE, _PIPE = 124, 141

#: Where another machine of the cluster is found; None for one that is not to be reached.
Machines = Callable[[str], Place | None]


def _nowhere(_: str) -> None:
    return None


def command(argv: Sequence[str], limit: timedelta) -> str:
    """Return the command line for a login shell, whose far side ends it in time by itself.

    Raises ValueError for a word with a line feed or NUL.
    """
    seconds = math.ceil(limit.total_seconds())
    return quoted(("timeout", "-k", "5", str(seconds), *argv))


class SshRunner(Runner):
    """One login node; connects when it is first asked and keeps the connection.

    The host key of the login node is pinned to its name in `options.known_hosts`. `options` says
    which keys are used and by which jump hosts; its user and port are those of other machines.
    Made while an event loop runs; raises HostSetupError for known hosts that cannot be used.
    """

    def __init__(
        self, login: Jump, options: SshOptions, *, machines: Machines | None = None
    ) -> None:
        # A login node that is the last jump host is reached by the ones before it.
        on_the_way = options.jumps[-1:] == (login,)
        jumps = options.jumps[:-1] if on_the_way else options.jumps
        self._login = Place(
            name=f"the login node {login.host}",
            alias=login.host,
            address=login.host,
            port=login.port,
            user=login.user,
        )
        self._machines = machines or _nowhere
        self._pins = Pins(options.known_hosts, trust_on_first_use=options.trust_on_first_use)
        self._pool = Pool(
            replace(options, jumps=jumps), self._pins, asyncio.get_running_loop().time
        )
        self._turns = asyncio.Semaphore(_AT_ONCE)

    async def aclose(self) -> None:
        """Close all connections."""
        await self._pool.close()

    def reaches(self, host: str) -> bool:
        """Tell whether the settings say how to reach a machine by way of the login node."""
        return self._machines(host) is not None

    async def run(
        self,
        argv: Sequence[str],
        *,
        stdin: bytes = b"",
        host: str | None = None,
        timeout: timedelta = timedelta(seconds=20),  # noqa: ASYNC109 - the far side has it, too
    ) -> Ran:
        """Run a command on the login node or behind it, login included within the time.

        Output beyond 64 MB is not read; the command then counts as failed, and says so.
        """
        place = self._place(host)
        program = _program(argv)
        try:
            line = command(argv, timeout)
        except ValueError as error:
            message = f"{program} was not run on {place.name}: {error}"
            raise RequestRefusedError(message) from error
        try:
            async with asyncio.timeout(timeout.total_seconds()), self._turns:
                ran = await self._run(place, line, stdin)
        except TimeoutError:
            ran = Ran(returncode=_LATE, stdout=b"", stderr=b"")
        if ran.returncode == _LATE:
            seconds = f"{timeout.total_seconds():g} s"
            message = f"{program} gave no answer on {place.name} within {seconds}."
            raise SchedulerUnavailableError(message)
        if ran.returncode in _NOT_RUN:
            message = (
                f"{program} cannot be run on {place.name}: {ran.err[:200]}. Install Slurm's "
                "commands there, or put them on the PATH of the account that we log in with."
            )
            raise SchedulerUnavailableError(message)
        return ran

    def _place(self, host: str | None) -> Place:
        place = self._login if host is None else self._machines(host)
        if place is None:
            message = f"{host} cannot be reached: the settings do not say how to log in there."
            raise SchedulerUnavailableError(message)
        return place

    async def _run(self, place: Place, line: str, stdin: bytes) -> Ran:
        try:
            return await _ended(await self._started(place, line), stdin)
        except (OSError, asyncssh.Error) as error:
            await self._pool.leave(place.alias, place.address)
            message = f"The connection to {place.name} broke off before the answer: {error}."
            raise SchedulerUnavailableError(message) from error

    async def _started(self, place: Place, line: str) -> _Process:
        """Start the command; once more where an open connection turns out to be dead."""
        for last in (False, True):
            connection = await self._connection(place)
            try:
                return await _opened(connection, line)
            except (OSError, asyncssh.Error):
                # the command was not started: no channel was opened for it
                await self._pool.leave(place.alias, place.address)
                if last:
                    raise
        raise AssertionError

    async def _connection(self, place: Place) -> asyncssh.SSHClientConnection:
        by = None if place is self._login else self._login
        try:
            opened = await self._pool.at(place, by=by)
        except HostError as error:
            _refused(place, error)
        if opened.key_on_first_use:
            self._pins.keep(place.alias)
        return opened.connection


_Process = asyncssh.SSHClientProcess[bytes]


async def _opened(connection: asyncssh.SSHClientConnection, line: str) -> _Process:
    """Start the command in a session of its own; wait for one where sshd has none to give."""
    for wait in _SESSION_WAITS_S:
        try:
            return await connection.create_process(line, encoding=None, window=_WINDOW)
        except asyncssh.ChannelOpenError:
            # The connection serves other commands: to leave it would end them all.
            if connection.is_closed():
                raise
        await asyncio.sleep(wait)
    return await connection.create_process(line, encoding=None, window=_WINDOW)


async def _ended(process: _Process, stdin: bytes) -> Ran:
    """Give a command its input and read how it ended, in bounded memory."""
    complaints = asyncio.ensure_future(_first(process.stderr, _COMPLAINT, read_on=True))
    try:
        # A command may end without reading.
        with contextlib.suppress(OSError):
            process.stdin.write(stdin)
            process.stdin.write_eof()
        out = await _first(process.stdout, MOST_BYTES)
        if len(out) >= MOST_BYTES:
            said = f"its output was cut off after {MOST_BYTES >> 20} MB"
            return Ran(returncode=_PIPE, stdout=out, stderr=said.encode())
        err = await complaints
        await process.wait_closed()
        code = process.returncode
    finally:
        complaints.cancel()
        process.channel.abort()
    if code is None:
        raise asyncssh.ConnectionLost("no exit code came")
    return Ran(returncode=code, stdout=out, stderr=err)


async def _first(reader: asyncssh.SSHReader[bytes], most: int, *, read_on: bool = False) -> bytes:
    """Return the first bytes of a stream; with `read_on` the rest is read and thrown away."""
    kept = bytearray()
    while (len(kept) < most or read_on) and (data := await reader.read(_CHUNK)):
        kept += data[: most - len(kept)]
    return bytes(kept)


def _refused(place: Place, error: HostError) -> NoReturn:
    """Raise what a failed login means to who asks the scheduler."""
    said = f"{place.name[0].upper()}{place.name[1:]} was not asked: {error}"
    if isinstance(error, LoginRefusedError | HostSetupError):
        raise AccessError(said) from error
    raise SchedulerUnavailableError(said) from error


def _program(argv: Sequence[str]) -> str:
    """Return the program that people know, behind `env NAME=…` and `nice -n 10`."""
    if argv[0] == "env":
        words = [word for word in argv[1:] if "=" not in word]
        return words[2 * words.count("-u")] if words[2 * words.count("-u") :] else "env"
    return "the search of the log files" if argv[0] == "nice" else argv[0]
