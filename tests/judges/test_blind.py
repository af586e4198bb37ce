"""What the emulator cannot judge, so that nobody takes its silence for a yes. Each row is shown."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from bot.chat.errors import ChatError
from bot.chat.slack import SlackChat
from bot.reports.slack.message import Attachment
from playground.slack.api.table import METHODS
from tests.judges.emulator import TOKEN, Json, Judge

pytestmark = pytest.mark.anyio
HERE = "C000000001"
_MISSING = 404
ADAPTER = Path(__file__).parents[2] / "bot" / "chat"


async def _get_is_missing(judge: Judge) -> None:
    assert await judge.status("users.info?user=U000000001", verb="GET") == _MISSING
    assert await judge.status("users.info", body={"user": "U000000001"}) != _MISSING


async def _query_is_not_read(judge: Judge) -> None:
    chat = SlackChat(TOKEN, base_url=judge.api_url)
    with pytest.raises(ChatError, match="invalid_arguments"):
        await chat.upload(HERE, "", [Attachment(name="a.txt", content=b"a")])


async def _nothing_to_connect_to(judge: Judge) -> None:
    assert await judge.status("apps.connections.open") == _MISSING


async def _no_user_groups(judge: Judge) -> None:
    for method in ("usergroups.list", "usergroups.users.list"):
        assert await judge.status(method) == _MISSING


def _never_says(*words: str) -> Callable[[Judge], Awaitable[None]]:
    async def shown(judge: Judge) -> None:
        own = [one.read_text() for one in judge.program.glob("*.js")]
        slack = "".join(one for one in own if "/api/views.open" in one)
        assert slack
        assert [word for word in words if word in slack] == []

    return shown


def _takes(**message: object) -> Callable[[Judge], Awaitable[None]]:
    async def shown(judge: Judge) -> None:
        answer = await judge.ask("chat.postMessage", {"channel": HERE, "text": "x", **message})
        assert answer["ok"], answer

    return shown


async def _takes_any_form(judge: Judge) -> None:
    trigger = (await judge.ask("views.generateTriggerId", {}))["trigger_id"]
    title = {"type": "plain_text", "text": "x" * 25}
    view = {"type": "modal", "title": title, "blocks": [_section()] * 101}
    assert (await judge.ask("views.open", {"trigger_id": trigger, "view": view}))["ok"]


async def _takes_them_faster_than_one_a_second(judge: Judge) -> None:
    for _ in range(20):
        await _takes()(judge)


def _section(text: str = "x", **more: str) -> Json:
    return {"type": "section", "text": {"type": "mrkdwn", "text": text}, **more}


@dataclass(frozen=True, kw_only=True)
class Blind:
    """One row."""

    what: str
    why: str
    #: fails once the emulator can judge it
    shown: Callable[[Judge], Awaitable[None]]


CANNOT = (
    Blind(
        what="methods sent as GET",
        why="most of its methods answer POST alone; the bot's client sends POST for this, too",
        shown=_get_is_missing,
    ),
    Blind(
        what="uploads through the SDK as is",
        why="the SDK puts arguments into the query, where Slack reads them and it does not",
        shown=_query_is_not_read,
    ),
    Blind(what="Socket Mode", why="nothing can be connected to", shown=_nothing_to_connect_to),
    Blind(
        what="buttons and menus", why="nobody can press them", shown=_never_says("block_actions")
    ),
    Blind(
        what="forms that are sent",
        why="it opens a form, and nobody can fill it in",
        shown=_never_says("view_submission"),
    ),
    Blind(
        what="slash commands, shortcuts and response addresses",
        why="it has none",
        shown=_never_says("response_url", "message_action"),
    ),
    Blind(what="user groups", why="it has none", shown=_no_user_groups),
    Blind(
        what="the limit of blocks", why="it takes 51", shown=_takes(blocks=[_section()] * 51)
    ),
    Blind(
        what="the limit of a section",
        why="it takes 3,001 characters",
        shown=_takes(blocks=[_section("x" * 3001)]),
    ),
    Blind(
        what="block ids",
        why="it takes one twice",
        shown=_takes(blocks=[_section(block_id="same")] * 2),
    ),
    Blind(
        what="kinds of blocks",
        why="it takes one that there is not",
        shown=_takes(blocks=[{"type": "no such block"}]),
    ),
    Blind(
        what="the limits of a form", why="it takes 101 blocks, a long title", shown=_takes_any_form
    ),
    Blind(
        what="the pace",
        why="it takes 20 messages at once",
        shown=_takes_them_faster_than_one_a_second,
    ),
)  # fmt: skip


@pytest.mark.parametrize("row", CANNOT, ids=lambda row: str(row.what))
async def test_it_cannot_judge(judge: Judge, row: Blind) -> None:
    """Each row is so: an emulator that has learned it makes this fail, and the row goes."""
    await row.shown(judge)
    assert row.why


async def test_it_has_every_other_method(judge: Judge) -> None:
    """Of the methods that the bot calls it lacks no others than the rows say."""
    source = "".join((ADAPTER / name).read_text() for name in ("slack.py", "socket.py"))
    named = {one for one in re.findall(r'"([a-z]+(?:\.[A-Za-z]+)+)"', source) if one in METHODS}
    assert len(named) > 10
    lacking = {one for one in named if await judge.status(one, body={}) == _MISSING}
    assert lacking == {"apps.connections.open", "usergroups.list", "usergroups.users.list"}
