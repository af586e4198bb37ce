"""Run commands on a login node, or on another machine of the cluster by way of it."""

from __future__ import annotations

import asyncio
import contextlib
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta

from bot.schedulers.errors import SchedulerUnavailableError

#: More output than any command here has by right; the rest is thrown away.
MOST_BYTES = 64 << 20


@dataclass(frozen=True, kw_only=True, slots=True)
class Ran:
    """How a command ended."""

    returncode: int
    stdout: bytes
    stderr: bytes

    @property
    def out(self) -> str:
        """Return its output as text, whatever bytes are in it."""
        return self.stdout.decode("utf-8", "replace")

    @property
    def err(self) -> str:
        """Return what it complained about, as text."""
        return self.stderr.decode("utf-8", "replace").strip()


class Runner(ABC):
    """A place where Slurm's commands work."""

    def reaches(self, host: str) -> bool:
        """Tell whether commands can be run on another machine of the cluster."""
        del host
        return False

    @abstractmethod
    async def run(
        self,
        argv: Sequence[str],
        *,
        stdin: bytes = b"",
        host: str | None = None,
        timeout: timedelta = timedelta(seconds=20),  # noqa: ASYNC109 - the far side needs it too
    ) -> Ran:
        """Run one command, given as its words, and return how it ended.

        `host` is another machine of the cluster. An adapter quotes the words once, where it hands
        them to a shell. Raises SchedulerUnavailableError for no connection, a missing program and
        a time-out.
        """


class LocalRunner(Runner):
    """Run the commands on this machine: the bot sits on the login node, or a test does."""

    def __init__(self, env: Mapping[str, str] | None = None) -> None:
        self._env = None if env is None else dict(env)

    async def run(
        self,
        argv: Sequence[str],
        *,
        stdin: bytes = b"",
        host: str | None = None,
        timeout: timedelta = timedelta(seconds=20),  # noqa: ASYNC109 - as the port has it
    ) -> Ran:
        """Run a command here."""
        if host is not None:
            message = f"{host} cannot be reached: only this machine runs commands."
            raise SchedulerUnavailableError(message)
        try:
            process = await asyncio.create_subprocess_exec(
                *argv,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
                env=self._env,
            )
        except OSError as error:
            message = f"{argv[0]} cannot be run here: {error.strerror}. Install Slurm's commands."
            raise SchedulerUnavailableError(message) from error
        try:
            async with asyncio.timeout(timeout.total_seconds()):
                out, err = await process.communicate(stdin)
        except TimeoutError:
            seconds = f"{timeout.total_seconds():g} s"
            message = f"{argv[0]} gave no answer within {seconds}. Is the controller up?"
            raise SchedulerUnavailableError(message) from None
        finally:
            if process.returncode is None:
                with contextlib.suppress(ProcessLookupError):
                    process.kill()
                await process.wait()
        return Ran(returncode=process.returncode or 0, stdout=out[:MOST_BYTES], stderr=err)
