"""Logs are read in a process of its own, and the bot outlives whatever one of them does there."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import IO, cast

import pytest

from bot.diagnosis import diagnose, of_bytes
from bot.diagnosis.leaks import Leaks
from bot.errors import InputError
from bot.inputs import sources, stream
from bot.triage.aside import Threads, apart
from bot.triage.reading import counted, read
from tests.scenario.stage import until

pytestmark = pytest.mark.anyio

LINE = (
    "[rank{rank}]:[W{nr:04d} 10:00:00.1 socket.cpp:764] [c10d] The IPv6 network addresses of "
    "(node-0, 29500) cannot be retrieved (gai error: -3 - Temporary failure in name resolution).\n"
)
SMALL = "".join(LINE.format(rank=64 + nr % 8, nr=nr) for nr in range(50)).encode()
#: more than is handed over whole
LARGE = SMALL + b"epoch 1 step 1 loss 0.1\n" * 300_000


@pytest.fixture
def anyio_backend() -> str:
    """Run on asyncio, as the product does."""
    return "asyncio"


@pytest.fixture
async def aside() -> AsyncIterator[Threads]:
    """Return what works in another process."""
    async with apart() as made:
        yield made


def _diagnosed(pid: int) -> bool:
    return pid != os.getpid()


async def test_it_is_another_process(aside: Threads) -> None:
    """Work is not done in this process."""
    assert aside.apart
    assert await aside.run(_diagnosed, os.getpid())


@pytest.mark.parametrize("data", [SMALL, LARGE], ids=["small", "large"])
async def test_it_reads_as_a_thread_does(aside: Threads, data: bytes, tmp_path: Path) -> None:
    """What is said of logs does not hang on where and how they are read."""
    path = tmp_path / "job.log"
    path.write_bytes(data)
    noted: list[int] = []
    given = [of_bytes(SMALL, "first.log"), *sources([str(path)])]
    found = await read(aside, given, launch=None, believe_names=True, on_bytes=noted.append)
    assert found == diagnose(given)
    assert sum(noted) == len(SMALL) + len(data)


async def test_what_comes_once_is_read_once(aside: Threads) -> None:
    """A download is not asked for twice."""
    reader, writer = os.pipe()
    with os.fdopen(writer, "wb") as to:
        to.write(SMALL[:1000])
    with os.fdopen(reader, "rb", buffering=0) as pipe:
        once = stream("job.log", lambda: cast("IO[bytes]", pipe))
        found = await read(aside, [once], launch=None, believe_names=True)
    assert found == diagnose([of_bytes(SMALL[:1000], "job.log")])


async def test_secrets_are_counted_there(aside: Threads) -> None:
    """Who has posted a secret is found also where the log was read elsewhere."""
    leaks = Leaks()
    source = leaks.of(of_bytes(b"export AWS_ACCESS_KEY_ID=AKIAIOSFODNN7EXAMPLQ\n" + SMALL))
    await read(aside, [source], launch=None, believe_names=True)
    assert sum((await counted(aside, [leaks])).values()) == 1


def _dies(_given: object) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def _dies_once(mark: Path) -> str:
    if not mark.exists():
        mark.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return "read"


def _slow(seconds: float) -> str:
    time.sleep(seconds)
    return "slow"


async def test_a_killed_reader_is_replaced(aside: Threads, tmp_path: Path) -> None:
    """What was under way is done again where the process is killed for a reason of its own."""
    assert await aside.run(_dies_once, tmp_path / "mark") == "read"


async def test_who_takes_the_reader_down_takes_nobody_along(aside: Threads) -> None:
    """A log that kills its reader, twice, is refused by a sentence; all others are read."""
    others = [asyncio.ensure_future(aside.run(_slow, 0.05)) for _ in range(5)]
    with pytest.raises(InputError, match="took down the process"):
        await aside.run(_dies, None)
    assert await asyncio.gather(*others) == ["slow"] * 5
    assert await aside.run(_slow, 0) == "slow"


_PARENT = """
import asyncio, os, time
from bot.triage.aside import apart
async def main():
    async with apart() as aside:
        print(await aside.run(os.getpid), flush=True)
        await asyncio.sleep(600)
if __name__ == "__main__":
    asyncio.run(main())
"""


def _gone(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rsplit(") ", 1)[1][0] == "Z"
    except (FileNotFoundError, ProcessLookupError):
        return True


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc")
async def test_the_reader_ends_with_a_bot_that_is_killed(tmp_path: Path) -> None:
    """A killed bot leaves no process behind."""
    script = tmp_path / "parent.py"
    script.write_text(_PARENT, encoding="utf-8")
    parent = await asyncio.create_subprocess_exec(
        sys.executable, str(script), stdout=subprocess.PIPE
    )
    assert parent.stdout is not None
    pid = int(await parent.stdout.readline())
    assert not _gone(pid)
    parent.kill()
    await parent.wait()
    await until(lambda: _gone(pid))
