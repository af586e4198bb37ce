"""Measure the bot under load: many people ask at once, press buttons and share files.

The workspace and the people are in this process, the bot is in one of its own; both speak by a
real WebSocket and real HTTP. People ask in many channels, since a channel takes one message a
second, which the bot keeps to. The workspace's own limits are off: with Slack's some fifty edits a
minute it would be Slack that is measured.
"""

from __future__ import annotations

import asyncio
import json
import random
import signal
import statistics
import sys
import time
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import cache, partial
from pathlib import Path
from typing import Any

import yaml

from bot.incidents.ids import new_id
from bot.incidents.incident import Entry, Incident, paste_key
from bot.incidents.store import open_store
from playground.slack.acting import Acting
from playground.slack.app import AppConfig
from playground.slack.clicking import Press, in_message
from playground.slack.delivery import Outcome, Retry, Transport
from playground.slack.model import Channel
from playground.slack.server import SlackServer
from playground.slack.server import running as workspace
from playground.slack.workspace import Called
from tests.benchmarks.measure import ROOT, CommandFailedError
from tests.benchmarks.rows import Bench
from tests.benchmarks.table import Row

HERE = "training-oncall"
_WITHIN_S = 10.0
_FILE_BYTES = 1_000_000
_INCIDENTS = 1_000
#: Goals: of acknowledgements (99 of 100), of the loop's pauses, of the median report.
_ACK_S, _PAUSE_MS, _REPORT_S = 1.0, 100.0, 1.0
_MOST_S = 120.0
_PASTE = (
    "{host}: [W1130 03:10:07.577 socket.cpp:767] [c10d] The IPv6 network addresses of "
    "(node-0.fleet.internal, 29500) cannot be retrieved (gai error: -3 - Temporary failure in "
    "name resolution).\n"
    "node-0: torch.distributed.DistStoreError: Timed out after 1801 seconds waiting for clients. "
    "6/8 clients joined."
)
_NOISE = "node-{n}: step {i} loss 2.{i:04d} tokens/s 18{n}04.2\n"


@dataclass(frozen=True, kw_only=True)
class Mix:
    """How much of what is asked."""

    commands: int = 90
    clicks: int = 60
    files: int = 50
    within_s: float = _WITHIN_S

    @property
    def requests(self) -> int:
        """Return how many requests that is."""
        return self.commands + self.clicks + self.files


@dataclass(kw_only=True)
class Timed:
    """A way to the app that notes how long each acknowledgement took."""

    way: Transport
    took_s: list[float] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)

    async def send(self, kind: str, payload: Any, retry: Retry | None = None) -> Outcome:  # noqa: ANN401
        """Send, and note the time."""
        began = time.perf_counter()
        outcome = await self.way.send(kind, payload, retry)
        self.took_s.append(time.perf_counter() - began)
        if outcome.failed:
            self.failed.append(f"{kind}: {outcome.failed}")
        return outcome


@dataclass(kw_only=True)
class Loaded:
    """What was measured."""

    acks_s: list[float]
    failed: list[str]
    #: from asking to the first report, of commands and files
    reports_s: list[float]
    #: what nobody got an answer to, in words
    lost: list[str]
    #: how often something was answered more than once
    twice: int
    pauses_ms: list[float]
    rss_bytes: int


@dataclass(kw_only=True)
class _Watch:
    """Looks through the calls of the Web API as they come: who was answered, and when."""

    slack: SlackServer
    seen: int = 0
    #: what an answer must hold → when it was first there
    answered: dict[str, float] = field(default_factory=dict)
    posts: dict[str, int] = field(default_factory=dict)

    async def run(self) -> None:
        """Look for ever."""
        while True:
            self.look()
            await asyncio.sleep(0.01)

    def look(self) -> None:
        """Look at the calls since the last look."""
        called: Sequence[Called] = self.slack.world.called
        now = time.perf_counter()
        for one in called[self.seen :]:
            if one.error or one.method not in {"chat.postMessage", "chat.update"}:
                continue
            told = json.dumps(one.args)
            if "more" not in told or "Level 0" not in told:
                continue
            for host in _hosts(told):
                self.answered.setdefault(host, now)
        self.seen = len(called)


def _hosts(told: str) -> set[str]:
    parts = told.split("gpu-load-")[1:]
    return {f"gpu-load-{part[:4]}" for part in parts}


@asynccontextmanager
async def _bot(slack: SlackServer, folder: Path) -> AsyncIterator[Callable[[], None]]:
    """Run the bot in a process of its own; yield what lets it begin to note anew."""
    config, out = folder / "nccl-dns.toml", folder / "noted.json"
    config.write_text(
        f'state_dir = "{folder}"\n[slack]\nbot_token = "{slack.bot_token}"\nport = 0\n'
        f'app_token = "{slack.app_token}"\nbase_url = "{slack.api_url}"\n'
    )
    config.chmod(0o600)
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "tests.benchmarks.served", str(config), str(out),
        cwd=ROOT, stdout=asyncio.subprocess.PIPE,
    )  # fmt: skip
    assert process.stdout is not None
    if (await asyncio.wait_for(process.stdout.readline(), _MOST_S)).strip() != b"ready":
        raise CommandFailedError("The bot did not start; its words are above.")
    try:
        yield partial(process.send_signal, signal.SIGUSR1)
    finally:
        process.send_signal(signal.SIGTERM)
        await asyncio.wait_for(process.wait(), _MOST_S)


async def measured(folder: Path, mix: Mix, *, incidents: int = 0) -> Loaded:
    """Run workspace and bot, ask for everything, and return what was measured.

    `incidents` are in the store before; they are open, as after a bad week.
    """
    if incidents:
        await _filled(folder, incidents)
    manifest = yaml.safe_load((ROOT / "manifest.yml").read_text(encoding="utf-8"))
    async with workspace(app=AppConfig.from_manifest(manifest), rates_on=False) as slack:
        async with _bot(slack, folder) as begin:
            loaded = await _asked(slack, mix, begin)
            undone = await _undone(folder)
            if undone:
                loaded.lost.append(f"{undone} deliveries are undone")
        noted = json.loads((folder / "noted.json").read_text())
    loaded.pauses_ms, loaded.rss_bytes = noted["pauses_ms"], noted["rss_bytes"]
    return loaded


async def _filled(folder: Path, incidents: int) -> None:
    now = datetime.now(UTC)
    async with open_store(f"sqlite:///{folder / 'bot.db'}") as store:
        for number in range(incidents):
            change = await store.incidents.open(
                Incident(
                    id=new_id(), key=paste_key(f"old {number}"), asked_by="U0ENGINEER",
                    opened_at=now - timedelta(minutes=number), channel="C0TRAINING",
                )
            )  # fmt: skip
            entry = Entry(at=now, kind="checked", text="old")
            await store.incidents.record(change.incident.id, entry)


async def _undone(folder: Path) -> int:
    deadline = time.monotonic() + _MOST_S
    async with open_store(f"sqlite:///{folder / 'bot.db'}") as store:
        while left := await store.deliveries.undone():
            if time.monotonic() > deadline:
                return int(left)
            await asyncio.sleep(0.2)
    return 0


async def _asked(slack: SlackServer, mix: Mix, begin: Callable[[], object]) -> Loaded:
    timed = Timed(way=slack.delivery.transport)
    slack.delivery.transport = timed
    watch = _Watch(slack=slack)
    watching = asyncio.create_task(watch.run())
    ada, grace = slack.act_as("ada"), slack.act_as("grace")
    # a report to press buttons on, which also warms what is loaded at first use
    await ada.commands(HERE, f"/nccl-dns {_PASTE.format(host='gpu-load-9999')}")
    await _until(lambda: "gpu-load-9999" in watch.answered)
    report = next(
        one for one in slack.channel(HERE).messages.values() if one.bot_id and not one.thread_ts
    )
    await asyncio.sleep(1)
    timed.took_s.clear()
    begin()
    whispers = len(slack.channel(HERE).ephemeral)
    asked_at: dict[str, float] = {}
    noise()
    channels = _channels(slack, mix.commands + mix.files)
    press = Press(action_id="restart")
    doing: list[Callable[[], Any]] = [
        *(partial(_command, ada, channels[n], n, asked_at) for n in range(mix.commands)),
        *(
            partial(_file, grace, channels[n], n, asked_at)
            for n in range(mix.commands, mix.commands + mix.files)
        ),
        *(partial(in_message, ada, HERE, report.ts, press) for _ in range(mix.clicks)),
    ]
    random.Random(1).shuffle(doing)
    await _spread(doing, mix.within_s)
    lost = await _lost(slack, watch, asked_at, whispers + mix.clicks)
    watching.cancel()
    reports = [watch.answered[host] - at for host, at in asked_at.items() if host in watch.answered]
    return Loaded(
        acks_s=timed.took_s, failed=timed.failed, reports_s=reports, lost=lost,
        twice=_twice(slack, asked_at), pauses_ms=[], rss_bytes=0,
    )  # fmt: skip


def _channels(slack: SlackServer, count: int) -> list[str]:
    """Make channels with the bot and everybody in them, and return their names."""
    like = slack.channel(HERE)
    for number in range(count):
        made = Channel(id=f"C0LOAD{number:04d}", name=f"load-{number}", members=[*like.members])
        slack.world.channels[made.id] = made
    return [f"load-{number}" for number in range(count)]


async def _command(
    who: Acting, channel: str, number: int, asked_at: dict[str, float]
) -> None:  # fmt: skip
    host = f"gpu-load-{number:04d}"
    asked_at[host] = time.perf_counter()
    await who.commands(channel, f"/nccl-dns {_PASTE.format(host=host)}")


async def _file(who: Acting, channel: str, number: int, asked_at: dict[str, float]) -> None:
    host = f"gpu-load-{number:04d}"
    data = noise() + _PASTE.format(host=host).encode()
    asked_at[host] = time.perf_counter()
    who.shares(channel, f"{host}.log", data, text="@nccl-dns")


@cache
def noise() -> bytes:
    """Return a megabyte of training, made once: whoever asks must not be what is slow."""
    lines = (_NOISE.format(n=i % 8, i=i) for i in range(_FILE_BYTES // 45))
    return "".join(lines).encode()


async def _spread(doing: Sequence[Callable[[], Any]], within_s: float) -> None:
    """Begin everything, evenly spread over a time, and wait for all acknowledgements."""
    began, tasks = time.perf_counter(), []
    for number, one in enumerate(doing):
        await asyncio.sleep(max(0.0, began + within_s * number / len(doing) - time.perf_counter()))
        tasks.append(asyncio.ensure_future(one()))
    await asyncio.gather(*tasks)


async def _lost(
    slack: SlackServer, watch: _Watch, asked_at: dict[str, float], whispers: int
) -> list[str]:
    deadline = time.monotonic() + _MOST_S
    while time.monotonic() < deadline:
        missing = sorted(set(asked_at) - set(watch.answered))
        told = len(slack.channel(HERE).ephemeral)
        if not missing and told >= whispers:
            return []
        await asyncio.sleep(0.05)
    return [*missing, *([f"{whispers - told} clicks"] if told < whispers else [])]


def _twice(slack: SlackServer, asked_at: dict[str, float]) -> int:
    """Count the requests with more than one report."""
    count = dict.fromkeys(asked_at, 0)
    said = (one for channel in slack.world.channels.values() for one in channel.messages.values())
    for one in said:
        told = json.dumps(one.blocks)
        if one.bot_id and "Level 0" in told:
            for host in _hosts(told) & set(count):
                count[host] += 1
    return sum(number > 1 for number in count.values())


async def _until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + _MOST_S
    while not condition():
        if time.monotonic() > deadline:
            raise CommandFailedError("The bot did not answer the first request.")
        await asyncio.sleep(0.01)


def load(bench: Bench, mix: Mix | None = None) -> Iterator[Row]:
    """Yield the rows of the load: with an empty store, and with a thousand incidents in it."""
    mix = mix or Mix()
    yield Row(
        name=f"{mix.requests} requests in {mix.within_s:.0f} s "
        f"({mix.commands} commands, {mix.clicks} clicks, {mix.files} files of 1 MB)"
    )
    medians = []
    for words, incidents in (("empty store", 0), (f"{_INCIDENTS:,} incidents", _INCIDENTS)):
        bench.say(f"asking, {words}")
        folder = bench.folder / f"load-{incidents}"
        folder.mkdir()
        found = asyncio.run(measured(folder, mix, incidents=incidents))
        medians.append(statistics.median(found.reports_s) if found.reports_s else float("inf"))
        yield from _rows(bench, words, found, medians[-1])
    ratio = medians[1] / medians[0]
    yield Row(name="  reports, full to empty", result=f"{ratio:.2f}x", goal="<= 1.20x",
              met=ratio <= 1.2)  # fmt: skip


def _rows(bench: Bench, words: str, found: Loaded, median: float) -> Iterator[Row]:
    acks = sorted(found.acks_s)
    p99 = acks[min(len(acks) - 1, round(len(acks) * 0.99))]
    worst = max(found.pauses_ms, default=0.0)
    wrong = [*found.failed, *found.lost, *([f"{found.twice} twice"] if found.twice else [])]
    bench.mistakes.extend(f"load, {words}: {one}" for one in wrong)
    yield Row(
        name=f"  acknowledgements, {words}", best=acks[0], median=statistics.median(acks),
        result=f"p99 {p99 * 1000:.0f} ms of {len(acks)}", goal=f"p99 < {_ACK_S:.0f} s",
        met=p99 < _ACK_S,
    )  # fmt: skip
    yield Row(
        name=f"  loop's longest pause, {words}",
        result=f"{worst:.0f} ms ({len(found.pauses_ms)} above 5 ms)",
        goal=f"< {_PAUSE_MS:.0f} ms", met=worst < _PAUSE_MS, peak_bytes=found.rss_bytes,
    )  # fmt: skip
    yield Row(
        name=f"  asked to report, {words}", best=min(found.reports_s, default=None), median=median,
        result=f"{len(found.reports_s)} reports", goal=f"median < {_REPORT_S:.0f} s",
        met=median < _REPORT_S,
    )  # fmt: skip
    yield Row(
        name=f"  lost or twice, {words}", result=f"{len(wrong)}", goal="0", met=not wrong
    )  # fmt: skip
