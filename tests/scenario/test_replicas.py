"""Two bots on one PostgreSQL: whoever is killed, each request is answered once."""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from playground.slack.acting import Acting
from playground.slack.clicking import Press, in_message
from playground.slack.delivery import Outcome
from playground.slack.model import Message
from playground.slack.server import SlackServer
from tests.behaviour.store.postgres import Postgres
from tests.behaviour.store.postgres import running as postgres
from tests.scenario.logs import PASTE
from tests.scenario.stage import text_of, until
from tests.scenario.test_process import HERE, reports, serve

pytestmark = pytest.mark.anyio
_ASKED = 24
#: What a killed bot had begun is taken over once its claim is old.
_TAKEN_OVER_S = 150.0


@pytest.fixture(scope="module")
def server() -> Iterator[Postgres]:
    """Return a PostgreSQL of these tests alone."""
    with postgres() as server:
        yield server


@pytest.fixture
async def two(
    slack: SlackServer, server: Postgres, tmp_path: Path
) -> AsyncIterator[list[asyncio.subprocess.Process]]:
    """Return two bots that share a store and take turns at what Slack sends."""
    url = server.emptied()
    async with AsyncExitStack() as stack:
        found = []
        for number in range(2):
            folder = tmp_path / str(number)
            folder.mkdir()
            run = serve(slack, folder, NCCL_DNS_STORE__URL=url)
            found.append(await stack.enter_async_context(run))
            # one after the other: the first one makes the tables
            await until(lambda: len(slack.sockets.connections) > number, within=90)  # noqa: B023
        yield found


async def test_each_request_is_answered_once_by_one_of_them(
    two: list[asyncio.subprocess.Process], slack: SlackServer, ada: Acting
) -> None:
    """Killed in the middle of many requests, one bot leaves everything to the other."""
    rng = random.Random(7)
    killed_at = rng.randrange(_ASKED // 3, 2 * _ASKED // 3)
    for number in range(_ASKED):
        if number == killed_at:
            two[0].kill()
            await two[0].wait()
        outcome = await ada.commands(HERE, f"/nccl-dns {PASTE}\nrun {number}")
        if outcome.failed:  # Slack shows an error, and the person asks again
            await ada.commands(HERE, f"/nccl-dns {PASTE}\nrun {number}")
    await until(lambda: len(reports(slack)) >= _ASKED, within=_TAKEN_OVER_S)
    await asyncio.sleep(1)
    assert len(reports(slack)) == _ASKED


def _choices(message: Message) -> list[str]:
    return [
        option["value"]
        for block in message.blocks
        for element in block.get("elements", ())
        for option in element.get("options", ())
    ]


async def test_a_click_counts_once_whoever_of_them_hears_it(
    two: list[asyncio.subprocess.Process], slack: SlackServer, ada: Acting
) -> None:
    """Two bots hear ten clicks on one control: the incident is over once, and says so once."""
    del two
    await ada.commands(HERE, f"/nccl-dns {PASTE}")
    await until(lambda: reports(slack), within=90)
    report = reports(slack)[0]
    people = [slack.act_as(name) for name in ("ada", "grace")]
    value = next(one for one in _choices(report) if one.startswith("dismiss:"))
    press = Press(action_id="more", value=value)
    clicks = (in_message(people[n % 2], HERE, report.ts, press) for n in range(10))
    answers = await asyncio.gather(*clicks, return_exceptions=True)
    # who came when the control was gone could not press it
    assert not any(isinstance(one, Outcome) and one.failed for one in answers)
    assert sum(isinstance(one, Outcome) for one in answers) > 1
    await until(lambda: "Dismissed" in text_of(report))
    await asyncio.sleep(1)
    below = [
        text_of(one)
        for one in slack.channel(HERE).messages.values()
        if one.thread_ts == report.ts and one.ts != report.ts
    ]
    assert max(Counter(below).values()) == 1
