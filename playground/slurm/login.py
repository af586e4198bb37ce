"""A login node over SSH: Slurm's commands from the model, and the search of real log files.

Nothing else is run. The search is the product's own program, and it is run only where the command
is, byte for byte, one that the product would send, and every pattern lies below the given folder.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import posixpath
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import asyncssh

from bot.schedulers.model import Limits, Stream
from bot.schedulers.slurm import far, ssh_runner
from bot.schedulers.slurm.far import Wanted
from bot.schedulers.slurm.patterns import Glob
from playground.slurm import commands
from playground.slurm.commands import NotSimulatedError, Said
from playground.slurm.model import Cluster

#: Bytes of a command's input that are taken.
_MOST_INPUT = 1 << 20
_WRAPPER = ("timeout", "-k", "5")


@dataclass(frozen=True, kw_only=True)
class Login:
    """What a login node has: a cluster's commands and a folder of files."""

    cluster: Cluster
    folder: Path

    async def serve(self, process: asyncssh.SSHServerProcess[bytes]) -> None:
        """Run one command."""
        command, user = process.command or "", process.get_extra_info("username")
        try:
            argv = _argv(command)
            if argv[: len(commands.ENVIRONMENT)] == commands.ENVIRONMENT:
                slurm = argv[len(commands.ENVIRONMENT) :]
                said = commands.run(self.cluster, slurm, user=user)
            else:
                await self._search(process, argv)
                return
        except NotSimulatedError:
            said = Said(rc=127, err=f"bash: {command[:80]!r}: command not found here\n")
        process.stdout.write(said.out.encode())
        process.stderr.write(said.err.encode())
        process.exit(said.rc)

    async def _search(self, process: asyncssh.SSHServerProcess[bytes], argv: Sequence[str]) -> None:
        for pattern in _patterns(argv):
            plain = pattern.removeprefix("=")
            if not posixpath.normpath(plain).startswith(f"{self.folder}/"):
                raise NotSimulatedError
        given = await _input(process)
        ran = await asyncio.create_subprocess_exec(
            *argv,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            env={"PATH": os.defpath},
            cwd=self.folder,
        )
        try:
            out, err = await ran.communicate(given)
        finally:
            if ran.returncode is None:
                with contextlib.suppress(ProcessLookupError):
                    ran.kill()
                await ran.wait()
        process.stdout.write(out)
        process.stderr.write(err)
        await process.stdout.drain()
        process.exit(ran.returncode or 0)


def _argv(command: str) -> tuple[str, ...]:
    """Return the words of a command line that our own runner would write, without its time-out."""
    try:
        words = shlex.split(command)
        seconds = int(words[len(_WRAPPER)])
        argv = tuple(words[len(_WRAPPER) + 1 :])
        if argv and ssh_runner.command(argv, timedelta(seconds=seconds)) == command:
            return argv
    except (ValueError, IndexError):
        pass
    raise NotSimulatedError


def _patterns(argv: Sequence[str]) -> tuple[str, ...]:
    """Return the patterns of a search that the product would send; anything else is refused."""
    try:
        at = argv.index(far.PROGRAM) + 2
        mark, numbers, user = argv[at], [int(word) for word in argv[at + 1 : at + 7]], argv[at + 7]
        patterns = tuple(argv[at + 8 :])
        head, tail, most, before, after, files = numbers
    except (ValueError, IndexError):
        raise NotSimulatedError from None
    limits = Limits(
        head_bytes=head,
        tail_bytes=tail,
        file_bytes=most,
        before=before,
        after=after,
        files=files,
    )
    wanted = [_wanted(pattern, user) for pattern in patterns]
    if far.argv(mark, wanted, limits, user=user) != tuple(argv):
        raise NotSimulatedError
    return patterns


def _wanted(pattern: str, user: str) -> Wanted:
    own = bool(user) and pattern.startswith("=")
    plain = pattern[1:] if own else pattern
    stream = Stream.STDOUT if own or not user else Stream.SETTINGS
    return Wanted(glob=Glob(pattern=plain, shown=plain), stream=stream)


async def _input(process: asyncssh.SSHServerProcess[bytes]) -> bytes:
    given = bytearray()
    while data := await process.stdin.read(65536):
        given += data
        if len(given) > _MOST_INPUT:
            raise NotSimulatedError
    return bytes(given)
