"""What the people of the load bench do, and how it is known that each was answered, once.

Each who asks for a report does so in a channel of their own, since a channel takes one message a
second, which the bot keeps to.
"""

from __future__ import annotations

import asyncio
import json
import random
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, partial
from typing import Any

from playground.fleet.jobs import HIT
from playground.fleet.simulated import SimulatedFleet
from playground.slack.clicking import Press, in_message
from playground.slack.delivery import Outcome, Retry, Transport
from playground.slack.model import Channel, Message
from playground.slack.server import SlackServer
from playground.slack.workspace import Called
from tests.benchmarks.measure import CommandFailedError
from tests.benchmarks.training_lines import PROGRESS

HERE = "training-oncall"
_FILE_BYTES = 1_000_000
_MOST_S = 120.0
_LOOK_S = 0.005
#: Jobs that nobody asked about before begin here.
_FRESH = 49_000
_PASTE = (
    "{host}: [W1130 03:10:07.577 socket.cpp:767] [c10d] The IPv6 network addresses of "
    "(node-0.fleet.internal, 29500) cannot be retrieved (gai error: -3 - Temporary failure in "
    "name resolution).\n"
    "node-0: torch.distributed.DistStoreError: Timed out after 1801 seconds waiting for clients. "
    "6/8 clients joined."
)
#: Controls that only a report has, and only a card that links to one.
_REPORT, _LINK = '"more"', "is looked at already"


@dataclass(frozen=True, kw_only=True)
class Mix:
    """How much of what is asked."""

    #: commands with pasted lines, with jobs not asked about before, with the one that was
    pastes: int = 65
    jobs: int = 10
    known: int = 15
    #: clicks on the report of a paste, which are answered privately, and on that of a job, each of
    #: which opens a form
    clicks: int = 60
    files: int = 50
    within_s: float = 10.0

    @property
    def commands(self) -> int:
        """Return how many commands that is."""
        return self.pastes + self.jobs + self.known

    @property
    def requests(self) -> int:
        """Return how many requests that is."""
        return self.commands + self.clicks + self.files


@dataclass(kw_only=True)
class Timed:
    """A way to the app that notes how long each acknowledgement took, in seconds."""

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


@dataclass(frozen=True, kw_only=True)
class Request:
    """Something asked in a channel of its own, and a word that its answer must hold."""

    channel: str
    word: str
    began: float


@dataclass(kw_only=True)
class People:
    """Ask for everything, and look through the calls of the Web API for the answers."""

    slack: SlackServer
    #: by the channel's id
    asked: dict[str, Request] = field(default_factory=dict)
    answered: dict[str, float] = field(default_factory=dict)
    homes: int = 0
    _seen: int = 0
    _made: int = 0

    def __post_init__(self) -> None:
        """Have three people."""
        self.ada, self.grace = self.slack.act_as("ada"), self.slack.act_as("grace")

    async def look(self) -> None:
        """Look for answers for ever."""
        while True:
            called: Sequence[Called] = self.slack.world.called
            for one in called[self._seen :]:
                if not one.error:
                    self._note(one, time.perf_counter())
            self._seen = len(called)
            await asyncio.sleep(_LOOK_S)

    def _note(self, one: Called, now: float) -> None:
        if one.method == "views.publish":
            self.homes += 1
        request = self.asked.get(str(one.args.get("channel")))
        if request is None or one.method not in {"chat.postMessage", "chat.update"}:
            return
        if _answers(json.dumps(one.args), request.word):
            self.answered.setdefault(request.channel, now)

    def waits_s(self) -> list[float]:
        """Return how long each has waited for an answer, of those who have one."""
        return [at - self.asked[channel].began for channel, at in self.answered.items()]

    def missing(self) -> list[str]:
        """Return what nobody has answered, in words."""
        return sorted(one.word for name, one in self.asked.items() if name not in self.answered)

    def twice(self) -> int:
        """Count the requests with more than one answer."""
        return sum(len(self.answers(channel)) > 1 for channel in self.asked)

    def answers(self, channel: str) -> list[Message]:
        """Return the reports in a channel, and the cards that link to one."""
        request = self.asked[channel]
        said = self.slack.world.channels[channel].messages.values()
        return [
            one for one in said if one.bot_id and _answers(json.dumps(one.blocks), request.word)
        ]

    @property
    def whispers(self) -> int:
        """Return how often somebody was told something in private."""
        return sum(len(one.ephemeral) for one in self.slack.world.channels.values())

    @property
    def forms(self) -> int:
        """Return how many forms of a restart are filled in."""
        views = self.slack.world.views.values()
        return sum('"block_id": "rung-' in json.dumps(one.payload) for one in views)

    def new_channel(self, word: str) -> Channel:
        """Make a channel with the bot and everybody in it, to ask there for something now."""
        self._made += 1
        members = [*self.slack.channel(HERE).members]
        made = Channel(id=f"C0LOAD{self._made:04d}", name=f"load-{self._made}", members=members)
        self.slack.world.channels[made.id] = made
        self.asked[made.id] = Request(channel=made.id, word=word, began=time.perf_counter())
        return made

    async def pastes(self) -> str:
        """Paste lines that nobody has pasted before; return the channel's id."""
        host = self._host()
        made = self.new_channel(host)
        await self.ada.commands(made.name, f"/nccl-dns {_PASTE.format(host=host)}")
        return made.id

    async def names_job(self, number: int) -> str:
        """Ask for a job by its number; return the channel's id."""
        made = self.new_channel(str(number))
        await self.ada.commands(made.name, f"/nccl-dns {number}")
        return made.id

    async def shares_file(self) -> None:
        """Share a megabyte of log, with a mention."""
        host = self._host()
        data = noise() + _PASTE.format(host=host).encode()
        made = self.new_channel(host)
        self.grace.shares(made.name, f"{host}.log", data, text="@nccl-dns")

    def _host(self) -> str:
        return f"gpu-load-{self._made:04d}"

    async def presses(self, report: tuple[str, str]) -> None:
        """Press Restart on a report, named by channel and time."""
        await in_message(self.ada, *report, Press(action_id="restart"))


def _answers(told: str, word: str) -> bool:
    return word in told and (_REPORT in told or _LINK in told)


@cache
def noise() -> bytes:
    """Return a megabyte of training, made once: whoever asks must not be what is slow."""
    rng = random.Random(1)
    styles, weights = zip(*PROGRESS, strict=True)
    made: list[bytes] = []
    size = 0
    while size < _FILE_BYTES:
        (style,) = rng.choices(styles, weights)
        made.append(style(rng, len(made) % 64, len(made) % 1000, len(made) % 60).encode())
        size += len(made[-1]) + 1
    return b"\n".join(made) + b"\n"


def more_jobs(fleet: SimulatedFleet, count: int) -> list[int]:
    """Let the fleet have run the job that was hit several times; return their numbers."""
    hit = fleet.cluster.jobs[HIT]
    numbers = list(range(_FRESH, _FRESH + count))
    for number in numbers:
        again = replace(
            hit, number=number, stdout=hit.filled(hit.stdout), stderr=hit.filled(hit.stderr)
        )
        fleet.cluster.jobs[number] = again
    return numbers


def everything(
    people: People, mix: Mix, jobs: Sequence[int], reports: Sequence[tuple[str, str]]
) -> list[Callable[[], Awaitable[object]]]:
    """Return all that is asked, in an order that is the same in each run."""
    doing: list[Callable[[], Awaitable[object]]] = [
        *[people.pastes] * mix.pastes,
        *(partial(people.names_job, number) for number in jobs[: mix.jobs]),
        *[partial(people.names_job, HIT)] * mix.known,
        *[people.shares_file] * mix.files,
        *(partial(people.presses, reports[n % len(reports)]) for n in range(mix.clicks)),
    ]
    random.Random(1).shuffle(doing)
    return doing


async def spread(doing: Sequence[Callable[[], Awaitable[object]]], within_s: float) -> None:
    """Begin everything, evenly spread over a time, and wait for all acknowledgements."""
    began, tasks = time.perf_counter(), []
    for number, one in enumerate(doing):
        await asyncio.sleep(max(0.0, began + within_s * number / len(doing) - time.perf_counter()))
        tasks.append(asyncio.ensure_future(one()))
    await asyncio.gather(*tasks)


async def until(condition: Callable[[], bool], what: str) -> None:
    """Wait for something; raises CommandFailedError where it does not come."""
    deadline = time.monotonic() + _MOST_S
    while not condition():
        if time.monotonic() > deadline:
            raise CommandFailedError(f"The bot did not bring {what}.")
        await asyncio.sleep(_LOOK_S)


async def in_time(condition: Callable[[], bool]) -> bool:
    """Wait for something, and tell whether it came."""
    try:
        await until(condition, "")
    except CommandFailedError:
        return False
    return True
