"""Measure what deciding costs: a click until its card has changed, a durable part, open questions.

Workspace and fleet are in this process, the bot is in one of its own, at its highest level, with
SQLite. The cards stand in the store and in the workspace before the bot starts.
"""

from __future__ import annotations

import asyncio
import json
import sqlite3
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import yaml

from bot.incidents.store import open_store
from bot.recovery.engine.dbos_engine import open_engine
from bot.recovery.engine.port import Durable
from playground.fleet.world import running as fleet_running
from playground.slack.app import AppConfig
from playground.slack.clicking import Press, in_message
from playground.slack.model import Message
from playground.slack.server import SlackServer
from playground.slack.server import running as workspace
from playground.slack.workspace import BOT_ID, BOT_USER, TEAM
from tests.benchmarks import held
from tests.benchmarks.measure import ROOT
from tests.benchmarks.people import HERE, until
from tests.benchmarks.rows import Bench
from tests.benchmarks.served import started
from tests.benchmarks.table import Row, ratio_row

_CLICKS = 40
_OPEN = 200
_PARTS = 200
#: Goals: of a click's median, of a durable part, of the idle bot with open questions to without.
_CLICK_S, _PART_S, _IDLE = 0.3, 0.02, 1.2
_IDLE_S = 10.0
_MOST_S = 120.0
#: What is done once at the start is over by then.
_SETTLED_S = 3.0


@dataclass(frozen=True, kw_only=True)
class Idle:
    """What an idle bot has used of a processor, in seconds for each ten."""

    cpu_s: float


def _environ(slack: SlackServer, url: str) -> dict[str, str]:
    return {
        "NCCL_DNS_STORE__URL": url,
        "NCCL_DNS_ACTIONS__ENABLED": "true",
        "NCCL_DNS_SLACK__BOT_TOKEN": slack.bot_token,
        "NCCL_DNS_SLACK__APP_TOKEN": slack.app_token,
        "NCCL_DNS_SLACK__BASE_URL": slack.api_url,
        "NCCL_DNS_SLACK__PORT": "0",
        "NCCL_DNS_SLACK__APPROVERS__GROUPS": '["S0APPROVER"]',
    }


def _app() -> AppConfig:
    return AppConfig.from_manifest(
        yaml.safe_load((ROOT / "manifest.yml").read_text(encoding="utf-8"))
    )


async def _cards(slack: SlackServer, url: str, count: int) -> list[Message]:
    """Put open questions into store and workspace; return their cards."""
    here = slack.channel(HERE)
    ids = await held.fill_approvals(url, count, team=TEAM, channel=here.id)
    found = []
    for number, approval in enumerate(ids):
        parent, ts = held.ts(2 * number), held.ts(2 * number + 1)
        buttons = [
            {
                "type": "button", "action_id": action, "value": approval,
                "text": {"type": "plain_text", "text": action},
            }
            for action in ("approve", "decline")
        ]  # fmt: skip
        here.messages[parent] = Message(ts=parent, channel=here.id, user=BOT_USER, bot_id=BOT_ID)
        here.messages[ts] = Message(
            ts=ts, channel=here.id, user=BOT_USER, bot_id=BOT_ID, thread_ts=parent, text="Approve?",
            blocks=[{"type": "actions", "block_id": "controls", "elements": buttons}],
        )  # fmt: skip
        found.append(here.messages[ts])
    return found


async def clicked(folder: Path, url: str, count: int) -> dict[str, list[float]]:
    """Press buttons one after the other; return how long each took until its card had changed."""
    took: dict[str, list[float]] = {"approve": [], "decline": []}
    async with (
        workspace(app=_app(), rates_on=False) as slack,
        fleet_running(state_dir=folder / "fleet", vms=9) as fleet,
    ):
        cards = await _cards(slack, url, count)
        out = folder / "noted.json"
        async with started(fleet.write_settings(), out, environ=_environ(slack, url)):
            grace = slack.act_as("grace")
            for number, card in enumerate(cards):
                action = ("decline", "approve")[number % 2]
                before, began = card.blocks, time.perf_counter()
                await in_message(grace, HERE, card.ts, Press(action_id=action))
                await until(
                    lambda card=card, before=before: card.blocks != before,  # type: ignore[misc]
                    "a card that has changed",
                )
                took[action].append(time.perf_counter() - began)
    return took


async def idle(folder: Path, url: str, count: int) -> Idle:
    """Let a bot with so many open questions have nothing to do, and return what that cost."""
    out = folder / "noted.json"
    async with (
        workspace(app=_app(), rates_on=False) as slack,
        fleet_running(state_dir=folder / "fleet", vms=9) as fleet,
    ):
        await _cards(slack, url, count)
        environ, config = _environ(slack, url), fleet.write_settings()
        async with started(config, out, environ=environ, watched=False) as begin:
            await asyncio.sleep(_SETTLED_S)
            begin()
            await asyncio.sleep(_IDLE_S)
    noted = json.loads(out.read_text(encoding="utf-8"))
    return Idle(cpu_s=noted["cpu_s"] / noted["wall_s"] * _IDLE_S)


async def bookkeeping(folder: Path, parts: int) -> list[float]:
    """Run a chain of parts that do nothing; return how long each took, in order."""
    took: list[float] = []
    loop, ended = asyncio.get_running_loop(), asyncio.Event()

    async def nothing() -> str:
        return "done"

    async def carry(durable: Durable, approval_id: str) -> None:
        for number in range(parts):
            began = time.perf_counter()
            await durable.once(f"{approval_id}.{number}", nothing)
            took.append(time.perf_counter() - began)
        loop.call_soon_threadsafe(ended.set)

    async with open_store(f"sqlite:///{folder / 'bot.db'}") as store:
        url = f"sqlite:///{folder / 'engine.db'}"
        async with open_engine(url, carry, replica="bench", leases=store.leases) as engine:
            await engine.start("bench")
            await asyncio.wait_for(ended.wait(), _MOST_S)
    return took


def inserted(folder: Path, count: int) -> list[float]:
    """Insert rows into a SQLite file as durably, each in its transaction; return the times."""
    took = []
    with sqlite3.connect(folder / "plain.db", isolation_level=None) as connection:
        for words in ("journal_mode=WAL", "synchronous=FULL"):
            connection.execute(f"PRAGMA {words}")
        connection.execute("CREATE TABLE part (number INTEGER PRIMARY KEY, output TEXT)")
        for number in range(count):
            began = time.perf_counter()
            connection.execute("INSERT INTO part VALUES (?, 'done')", (number,))
            took.append(time.perf_counter() - began)
    connection.close()
    return took


def clicks(bench: Bench, *, count: int = _CLICKS, parts: int = _PARTS) -> Iterator[Row]:
    """Yield the rows of clicks, of bookkeeping, and of an idle bot."""
    bench.say("clicking")
    folder = _folder(bench, "clicks")
    took = asyncio.run(clicked(folder, f"sqlite:///{folder / 'bot.db'}", count))
    yield Row(name=f"{count} clicks on cards, one after the other, SQLite")
    for action, times in took.items():
        middle = median(times)
        yield Row(
            name=f"    {action}: until the card has changed", best=min(times), median=middle,
            result=f"the longest {max(times) * 1000:.0f} ms",
            goal=f"median < {_CLICK_S * 1000:.0f} ms", met=middle < _CLICK_S,
        )  # fmt: skip
    bench.say("keeping parts")
    folder = _folder(bench, "parts")
    kept, plain = asyncio.run(bookkeeping(folder, parts)), inserted(folder, parts)
    if len(kept) != parts:
        bench.mistakes.append(f"clicks: {len(kept)} of {parts} parts were kept")
    middle = median(kept)
    yield Row(
        name=f"{parts} durable parts that do nothing, SQLite", best=min(kept), median=middle,
        result=f"the longest {max(kept) * 1000:.0f} ms", goal=f"median < {_PART_S * 1000:.0f} ms",
        met=middle < _PART_S,
    )  # fmt: skip
    yield ratio_row("    to one durable insert in SQLite", middle / median(plain))
    yield from _idling(bench)


def _idling(bench: Bench) -> Iterator[Row]:
    """Yield what open questions cost an idle bot: in turn, since the machine is shared."""
    used: dict[int, list[float]] = {0: [], _OPEN: []}
    for turn in range(bench.times):
        for count, found in used.items():
            bench.say(f"idling with {count} open questions")
            folder = _folder(bench, f"idle {count} {turn}")
            url = f"sqlite:///{folder / 'bot.db'}"
            found.append(asyncio.run(idle(folder, url, count)).cpu_s)
    for count, found in used.items():
        yield Row(
            name=f"idle for {_IDLE_S:.0f} s, {count} open questions",
            result=f"{median(found):.2f} s of a processor ({min(found):.2f} to {max(found):.2f})",
        )
    ratio = median(used[_OPEN]) / median(used[0])
    yield ratio_row(f"    {_OPEN} open questions to none", ratio, at_most=_IDLE)


def _folder(bench: Bench, name: str) -> Path:
    folder = bench.folder / name
    folder.mkdir()
    return folder
