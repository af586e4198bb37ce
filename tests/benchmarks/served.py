"""Serve the bot as `nccl-dns serve` does, and note how long its event loop was held up.

Run by the load bench, as a process of its own: `python -m tests.benchmarks.served CONFIG OUT`.
Prints `ready` once it serves; SIGUSR1 begins the measurement anew; SIGTERM ends it and writes
`{"pauses_ms": [...], "rss_bytes": N, "cpu_s": S, "wall_s": S}` to OUT, pauses above 5 ms alone.
"""

from __future__ import annotations

import asyncio
import json
import os
import resource
import signal
import sys
import time
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path

from bot.commands.serve import running, settle
from bot.settings import load
from bot.triage.aside import apart
from tests.benchmarks.measure import ROOT, CommandFailedError

_EVERY_S = 0.005
_MOST_S = 120.0


@asynccontextmanager
async def started(
    config: Path, out: Path, *, environ: Mapping[str, str], watched: bool = True
) -> AsyncIterator[Callable[[], None]]:
    """Run the bot in a process of its own; yield what lets it begin to note anew.

    What it noted is in `out` after the block. Raises CommandFailedError where it does not start.
    """
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "tests.benchmarks.served", str(config), str(out),
        *([] if watched else ["alone"]),
        cwd=ROOT, stdout=asyncio.subprocess.PIPE, env={**os.environ, **environ},
    )  # fmt: skip
    assert process.stdout is not None
    try:
        said = await asyncio.wait_for(process.stdout.readline(), _MOST_S)
        if said.strip() != b"ready":
            raise CommandFailedError("The bot did not start; its words are above.")
        yield partial(process.send_signal, signal.SIGUSR1)
    finally:
        if process.returncode is None:
            process.send_signal(signal.SIGTERM)
        await asyncio.wait_for(process.wait(), _MOST_S)


async def _watched(pauses: list[float]) -> None:
    """Note by how much each short sleep took too long: somebody held up the loop."""
    while True:
        before = time.perf_counter()
        await asyncio.sleep(_EVERY_S)
        late = time.perf_counter() - before - _EVERY_S
        if late > _EVERY_S:
            pauses.append(late * 1000)


async def _serve(config: Path, out: Path, *, watched: bool) -> None:
    loop, stop = asyncio.get_running_loop(), asyncio.Event()
    pauses: list[float] = []
    since = [time.process_time(), time.monotonic()]

    def anew() -> None:
        pauses.clear()
        since[:] = time.process_time(), time.monotonic()

    loop.add_signal_handler(signal.SIGTERM, stop.set)
    loop.add_signal_handler(signal.SIGUSR1, anew)
    async with apart() as aside, running(load(config), aside=aside):
        # two hundred looks a second at the loop are more than an idle bot does itself
        watching = asyncio.create_task(_watched(pauses) if watched else asyncio.sleep(0))
        settle()
        print("ready", flush=True)
        await stop.wait()
        used = {"cpu_s": time.process_time() - since[0], "wall_s": time.monotonic() - since[1]}
        watching.cancel()
    rss = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    noted = {"pauses_ms": pauses, "rss_bytes": rss, **used}
    await asyncio.to_thread(out.write_text, json.dumps(noted))


if __name__ == "__main__":
    asyncio.run(_serve(Path(sys.argv[1]), Path(sys.argv[2]), watched=sys.argv[3:] != ["alone"]))
