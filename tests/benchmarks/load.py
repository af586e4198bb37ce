"""Measure the bot under load: many people ask at once, press buttons and share files.

The workspace, the people and a simulated fleet are in this process, the bot is in one of its own;
they speak by a real WebSocket, HTTP and SSH. The workspace's own limits are off: with Slack's some
fifty edits a minute it would be Slack that is measured.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Awaitable, Callable, Generator, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import pytest
import yaml

from playground.fleet.jobs import HIT
from playground.fleet.simulated import SimulatedFleet
from playground.fleet.world import running as fleet_running
from playground.slack.app import AppConfig
from playground.slack.model import Message
from playground.slack.server import SlackServer
from playground.slack.server import running as workspace
from playground.slack.workspace import BOT_USER, TEAM
from tests.behaviour.store.postgres import running as postgres
from tests.benchmarks import held
from tests.benchmarks.held import Check
from tests.benchmarks.measure import ROOT
from tests.benchmarks.people import (
    HERE,
    Mix,
    People,
    Timed,
    everything,
    in_time,
    more_jobs,
    noise,
    spread,
    until,
)
from tests.benchmarks.rows import Bench
from tests.benchmarks.served import started
from tests.benchmarks.table import Row, ratio_row

_INCIDENTS = 1_000
#: What the full store is held against: as many as a Home tab lists, so that both show as much.
_FEW = 40
#: Goals: of acknowledgements (99 of 100), of the loop's pauses, of the median report.
_ACK_S, _PAUSE_MS, _REPORT_S = 1.0, 100.0, 1.0
#: How much longer one thing may take with a full store; the rest is what a shared machine does.
_FULL_TO_FEW = 1.2
#: Of each thing that is done alone, one after the other.
_ROUNDS = 25


@dataclass(frozen=True, kw_only=True)
class Loaded:
    """What was measured; times in seconds."""

    acks_s: list[float]
    #: from asking to the first report, of commands and files
    reports_s: list[float]
    #: what came to nothing, was left without an answer, or had two, in words
    wrong: list[str]
    #: what was done alone before → how long each took, `acknowledgement` among them
    alone: dict[str, list[float]]
    #: above 5 ms
    pauses_ms: list[float]
    rss_bytes: int


@dataclass(frozen=True, kw_only=True)
class Kept:
    """The store of the bot, and what it holds at the start: open incidents with these checks."""

    url: str
    incidents: int = 0
    checks: Sequence[Check] = ()


async def measured(folder: Path, kept: Kept, mix: Mix, *, rounds: int = _ROUNDS) -> Loaded:
    """Run workspace, fleet and bot, ask for everything, and return what was measured."""
    manifest = yaml.safe_load((ROOT / "manifest.yml").read_text(encoding="utf-8"))
    app = AppConfig.from_manifest(manifest)
    out = folder / "noted.json"
    async with (
        workspace(app=app, rates_on=False) as slack,
        fleet_running(state_dir=folder / "fleet") as fleet,
    ):
        here = slack.channel(HERE)
        await held.fill(kept.url, kept.incidents, kept.checks, team=TEAM, channel=here.id)
        for number in range(kept.incidents):
            ts = held.ts(number)
            here.messages[ts] = Message(ts=ts, channel=here.id, user=BOT_USER)
        environ = {
            "NCCL_DNS_STORE__URL": kept.url,
            "NCCL_DNS_SLACK__BOT_TOKEN": slack.bot_token,
            "NCCL_DNS_SLACK__APP_TOKEN": slack.app_token,
            "NCCL_DNS_SLACK__BASE_URL": slack.api_url,
            "NCCL_DNS_SLACK__PORT": "0",
        }
        async with started(fleet.write_settings(), out, environ=environ) as begin:
            found = await _asked(_Stage(slack=slack, fleet=fleet, begin=begin), mix, rounds)
            left = await held.undone(kept.url)
    noted = json.loads(out.read_text(encoding="utf-8"))
    wrong = [*found.wrong, *([f"{left} deliveries are undone"] if left else [])]
    return Loaded(
        acks_s=found.acks_s, reports_s=found.reports_s, alone=found.alone, wrong=wrong,
        pauses_ms=noted["pauses_ms"], rss_bytes=noted["rss_bytes"],
    )  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class _Stage:
    slack: SlackServer
    fleet: SimulatedFleet
    #: lets the bot begin to note anew
    begin: Callable[[], None]


async def _asked(stage: _Stage, mix: Mix, rounds: int) -> Loaded:
    timed = Timed(way=stage.slack.delivery.transport)
    stage.slack.delivery.transport = timed
    people = People(slack=stage.slack)
    looking = asyncio.create_task(people.look())
    jobs = more_jobs(stage.fleet, mix.jobs)
    noise()
    reports = [await _first(people, people.pastes), await _first(people, _names_hit(people))]
    timed.took_s.clear()
    alone = {**await _alone(people, rounds), "acknowledgement": [*timed.took_s]}
    timed.took_s.clear()
    people.asked.clear()
    people.answered.clear()
    stage.begin()
    whispers = people.whispers
    await spread(everything(people, mix, jobs, reports), mix.within_s)

    def answers() -> int:
        return people.whispers - whispers + people.forms

    done = await in_time(lambda: not people.missing() and answers() >= mix.clicks)
    looking.cancel()
    wrong = [*timed.failed, *people.missing()]
    if not done or answers() != mix.clicks:
        wrong.append(f"{answers()} answers to {mix.clicks} clicks")
    wrong += [f"{twice} were answered twice"] if (twice := people.twice()) else []
    return Loaded(
        acks_s=timed.took_s, reports_s=people.waits_s(), wrong=wrong, alone=alone,
        pauses_ms=[], rss_bytes=0,
    )  # fmt: skip


def _names_hit(people: People) -> Callable[[], Awaitable[str]]:
    return lambda: people.names_job(HIT)


async def _first(people: People, ask: Callable[[], Awaitable[str]]) -> tuple[str, str]:
    """Ask for a report, which also warms what is loaded at first use; return its place."""
    channel = await ask()
    await until(lambda: bool(people.answers(channel)), "the first report")
    return channel, people.answers(channel)[0].ts


async def _alone(people: People, rounds: int) -> dict[str, list[float]]:
    """Do a few things one after the other, with nothing else to do, and time them."""
    took: dict[str, list[float]] = {"report": [], "Home tab": [], "status": []}
    for _ in range(rounds):
        began = time.perf_counter()
        channel = await people.pastes()
        await until(lambda channel=channel: channel in people.answered, "a report")  # type: ignore[misc]
        took["report"].append(time.perf_counter() - began)
        homes, began = people.homes, time.perf_counter()
        people.ada.opens_home()
        await until(lambda homes=homes: people.homes > homes, "a Home tab")  # type: ignore[misc]
        took["Home tab"].append(time.perf_counter() - began)
        whispers, began = people.whispers, time.perf_counter()
        await people.ada.commands(HERE, "/nccl-dns status")
        await until(lambda told=whispers: people.whispers > told, "the status")  # type: ignore[misc]
        took["status"].append(time.perf_counter() - began)
    return took


def load(bench: Bench, mix: Mix | None = None) -> Iterator[Row]:
    """Yield the rows of the load: with a few incidents in the store, and with a thousand."""
    mix = mix or Mix()
    yield Row(
        name=f"{mix.requests} requests in {mix.within_s:.0f} s: {mix.commands} commands, "
        f"{mix.clicks} clicks, {mix.files} files of 1 MB"
    )
    with ExitStack() as stack:
        words = f"SQLite, {_FEW} incidents"
        few = _store(bench, words, _FEW)
        first = yield from _run(bench, few, words, mix)
        checks = asyncio.run(held.checks(few.url))
        for words, kept in _full(bench, stack, checks).items():
            found = yield from _run(bench, kept, words, mix)
            if words.startswith("SQLite"):
                yield from _compared(first, found)


def _store(bench: Bench, words: str, incidents: int = 0, checks: Sequence[Check] = ()) -> Kept:
    folder = bench.folder / words
    folder.mkdir()
    return Kept(url=f"sqlite:///{folder / 'bot.db'}", incidents=incidents, checks=checks)


def _full(bench: Bench, stack: ExitStack, checks: Sequence[Check]) -> dict[str, Kept]:
    """Return the full stores: SQLite, and PostgreSQL where the machine has one."""
    words = f"SQLite, {_INCIDENTS:,} incidents"
    found = {words: _store(bench, words, _INCIDENTS, checks)}
    try:
        server = stack.enter_context(postgres())
    except pytest.skip.Exception:
        return found
    kept = Kept(url=server.emptied(), incidents=_INCIDENTS, checks=checks)
    return {**found, f"PostgreSQL, {_INCIDENTS:,} incidents": kept}


def _run(bench: Bench, kept: Kept, words: str, mix: Mix) -> Generator[Row, None, Loaded]:
    bench.say(f"asking, {words}")
    folder = bench.folder / f"bot, {words}"
    folder.mkdir()
    found = asyncio.run(measured(folder, kept, mix))
    bench.mistakes.extend(f"load, {words}: {one}" for one in found.wrong)
    acks, alone = sorted(found.acks_s), found.alone["acknowledgement"]
    p99 = acks[min(len(acks) - 1, round(len(acks) * 0.99))]
    worst = max(found.pauses_ms, default=0.0)
    middle = median(found.reports_s)
    yield Row(name=f"  {words}")
    yield Row(
        name="    acknowledgements", best=acks[0], median=median(acks),
        result=f"p99 {p99 * 1000:.0f} ms of {len(acks)}", goal=f"p99 < {_ACK_S:.0f} s",
        met=p99 < _ACK_S,
    )  # fmt: skip
    yield ratio_row("      median to that alone", median(acks) / median(alone))
    yield Row(
        name="    the loop's longest pause",
        result=f"{worst:.0f} ms ({len(found.pauses_ms)} above 5 ms)",
        goal=f"< {_PAUSE_MS:.0f} ms", met=worst < _PAUSE_MS, peak_bytes=found.rss_bytes,
    )  # fmt: skip
    yield Row(
        name="    asked to report", best=min(found.reports_s), median=middle,
        result=f"{len(found.reports_s)} reports, the last {max(found.reports_s):.1f} s",
        goal=f"median < {_REPORT_S:.0f} s", met=middle < _REPORT_S,
    )  # fmt: skip
    yield ratio_row("      median to that alone", middle / median(found.alone["report"]))
    wrong = len(found.wrong)
    yield Row(name="    lost, or answered twice", result=f"{wrong}", goal="0", met=not wrong)
    return found


def _compared(few: Loaded, full: Loaded) -> Iterator[Row]:
    for what, took in full.alone.items():
        yield Row(name=f"    {what}, alone", best=min(took), median=median(took))
        ratio = median(took) / median(few.alone[what])
        yield ratio_row(f"      to {_FEW} incidents", ratio, at_most=_FULL_TO_FEW)
