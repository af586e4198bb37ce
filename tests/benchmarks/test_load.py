"""The load bench loses nothing and answers nothing twice, in a small form."""

from __future__ import annotations

import asyncio
from pathlib import Path

from playground.slack.model import Channel, Message
from playground.slack.server import SlackServer
from playground.slack.server import running as workspace
from playground.slack.workspace import Called
from tests.benchmarks import held
from tests.benchmarks.load import Kept, measured
from tests.benchmarks.people import Mix, People, in_time

_FEW = Mix(pastes=3, jobs=1, known=1, clicks=4, files=2, within_s=1.0)


def test_nothing_is_lost(tmp_path: Path) -> None:
    """Each command, click and file has one answer; what is done alone is timed, too."""
    url = f"sqlite:///{tmp_path / 'bot.db'}"
    found = asyncio.run(measured(tmp_path, Kept(url=url, incidents=20), _FEW, rounds=1))
    assert found.wrong == []
    assert len(found.reports_s) == 7
    assert len(found.acks_s) >= _FEW.requests
    assert {name: len(took) for name, took in found.alone.items()} == {
        "report": 1, "Home tab": 1, "status": 1, "acknowledgement": 3,
    }  # fmt: skip
    assert found.rss_bytes > 0
    assert asyncio.run(held.checks(url))


def test_what_is_missing_and_what_is_said_twice() -> None:
    """A request counts as answered by a report of its own in its channel, and by one alone."""
    asyncio.run(_judged())


async def _judged() -> None:
    async with workspace() as slack:
        people = People(slack=slack)
        once, never, twice = (people.new_channel(word) for word in ("a-1", "b-2", "c-3"))
        _say(slack, once, "a-1")
        # somebody else's report, and a placeholder
        _say(slack, never, "a-1")
        _say(slack, never, "b-2", control="wait")
        _say(slack, twice, "c-3")
        _say(slack, twice, "c-3")
        looking = asyncio.create_task(people.look())
        assert await in_time(lambda: people.missing() == ["b-2"])
        looking.cancel()
        assert people.twice() == 1
        assert len(people.waits_s()) == 2


def _say(slack: SlackServer, channel: Channel, word: str, *, control: str = "more") -> None:
    blocks: list[dict[str, object]] = [{"type": "actions", "action_id": control, "about": word}]
    ts = slack.world.new_ts()
    said = Message(ts=ts, channel=channel.id, user="U0", bot_id="B0", text=word, blocks=blocks)
    channel.messages[ts] = said
    args = {"channel": channel.id, "text": word, "blocks": blocks}
    slack.world.called.append(Called(method="chat.postMessage", args=args))
