"""Run the installed bot as a container would: another user, nothing writable but its state."""

from __future__ import annotations

import asyncio
import shlex
import signal
import socket
import time
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx

from tests.behaviour.shipping.recipes import last_stage

_MOST_S = 60.0
_OK = 200


@dataclass(frozen=True, kw_only=True)
class Place:
    """Where and how the bot is run."""

    #: of the virtual environment
    bin: Path
    #: holds `state`, `tmp` and whatever else a test puts there
    folder: Path
    port: int
    env: Mapping[str, str]
    #: as in a container; else as it comes
    confined: bool

    async def start(self, *command: str) -> Process:
        """Start a program of the virtual environment, or another by its path."""
        argv = [str(self.bin / command[0]), *command[1:]]
        return await asyncio.create_subprocess_exec(
            *(self._confining(argv) if self.confined else argv),
            env=self.env, cwd=self.folder, stderr=PIPE,
        )  # fmt: skip

    async def run(self, *command: str) -> tuple[int | None, str]:
        """Run a program to its end; return its code and what it says on standard error."""
        process = await self.start(*command)
        _, said = await asyncio.wait_for(process.communicate(), _MOST_S)
        return process.returncode, said.decode()

    @asynccontextmanager
    async def serving(self) -> AsyncIterator[None]:
        """Serve until the block ends; a signal must then end it in order."""
        process = await self.start("nccl-dns", "serve")
        said = asyncio.create_task(process.communicate())
        try:
            await self._ready(said)
            yield
        finally:
            if process.returncode is None:
                process.send_signal(signal.SIGTERM)
            _, words = await asyncio.wait_for(said, _MOST_S)
        assert process.returncode == 0, words.decode()

    async def _ready(self, ended: asyncio.Task[tuple[bytes, bytes]]) -> None:
        deadline = time.monotonic() + _MOST_S
        async with httpx.AsyncClient(trust_env=False) as client:
            while time.monotonic() < deadline:
                assert not ended.done(), (await ended)[1].decode()
                try:
                    answer = await client.get(f"http://127.0.0.1:{self.port}/readyz")
                    if answer.status_code == _OK:
                        return
                except httpx.HTTPError:
                    pass
                await asyncio.sleep(0.1)
        raise AssertionError("It never became ready.")

    def _confining(self, argv: Sequence[str]) -> list[str]:
        user, _, group = last_stage()["USER"].partition(":")
        # a namespace of users: what is root's here, interpreter and state, is that user's inside
        become = ["unshare", "--user", f"--map-user={user}", f"--map-group={group}"]
        become += ["setpriv", "--no-new-privs", "--", *argv]
        folders = (self.folder, self.folder / "state", self.folder / "tmp")
        own, state, tmp = (shlex.quote(str(one)) for one in folders)
        steps = [
            f"mount --bind {own} {own}",
            f"mount --bind {state} {state}",
            f"mount -t tmpfs -o mode=1777 tmpfs {tmp}",
            f"mount -o remount,bind,ro {own}",
            "mount -o remount,bind,ro /",
            # where it was started is still the folder below the mounts
            f"cd {own}",
            f"exec {shlex.join(become)}",
        ]
        return ["unshare", "--mount", "--propagation", "private", "sh", "-ec", "; ".join(steps)]


def free_port() -> int:
    """Return a port that nobody listens at."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        return int(free.getsockname()[1])
