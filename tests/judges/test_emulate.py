"""The Slack emulator `emulate` (pinned) judges the bot's client: what arrives is what was sent.

It is a second opinion beside the local workspace, which we wrote ourselves. What it cannot judge
stands in `CANNOT`, and each line of that is shown by a test.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta

import aiohttp
import pytest

from bot.chat.errors import ChatError
from bot.chat.slack import SlackChat
from bot.reports.slack.message import Attachment, Message
from bot.reports.slack.modals import paste
from bot.reports.slack.replies import evidence
from bot.reports.slack.report import report
from tests.judges.conftest import TOKEN, Json, Judge
from tests.unit.reports import made

pytestmark = pytest.mark.anyio
HERE = "C000000001"
NOW = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)

#: What this judge cannot judge → why.
CANNOT: Mapping[str, str] = {
    "methods sent as GET": "it answers POST alone, with 404 for what the SDK sends as GET",
    "uploads through the SDK as is": "the SDK puts arguments into the query, it reads the body",
    "Socket Mode": "it has no apps.connections.open",
    "buttons": "it delivers no clicks",
    "limits": "it takes messages beyond Slack's limits of blocks, and block ids that come twice",
}


@pytest.fixture
def chat(judge: Judge) -> SlackChat:
    """Return the bot's client, at the emulator."""
    return SlackChat(TOKEN, base_url=judge.api_url)


def _parent() -> Message:
    return report(made.checked(), made.incident(), now=NOW).of_row("row0000000000001")


async def _stored(judge: Judge, thread: str) -> list[Json]:
    found = await judge.ask("conversations.replies", {"channel": HERE, "ts": thread})
    assert found["ok"], found
    messages: list[Json] = found["messages"]
    return messages


def _kinds(blocks: list[Json]) -> list[str]:
    return [one["type"] for one in blocks]


async def test_a_report_its_reply_and_an_edit(judge: Judge, chat: SlackChat) -> None:
    """Parent and reply are there with the blocks that were sent; an edit takes its place."""
    sent = _parent()
    ts = await chat.post(HERE, sent)
    reply = evidence(made.checked(), made.incident())
    await chat.post(HERE, reply, thread=ts)
    parent, answer = await _stored(judge, ts)
    assert parent["blocks"] == sent.to_post()["blocks"]
    assert parent["text"] == sent.text
    assert answer["thread_ts"] == ts
    assert _kinds(answer["blocks"]) == _kinds(reply.to_post()["blocks"])

    closed = report(made.checked(), made.closed(), now=NOW)
    await chat.update(HERE, ts, closed)
    edited, *_ = await _stored(judge, ts)
    assert edited["blocks"] == closed.to_update()["blocks"]
    assert edited["text"] == closed.text != sent.text


async def test_a_message_is_found_by_its_row(chat: SlackChat) -> None:
    """The metadata by which a message is found again after a crash comes back as it was sent."""
    ts = await chat.post(HERE, _parent().of_row("row0000000000002"))
    since = datetime.now(UTC) - timedelta(hours=1)
    assert await chat.find(HERE, "row0000000000002", since=since) == ts
    assert not await chat.find(HERE, "row0000000000009", since=since)


async def test_a_modal_opens_once(judge: Judge, chat: SlackChat) -> None:
    """The form is taken with a trigger; the same trigger again is refused, as in Slack."""
    trigger = (await judge.ask("views.generateTriggerId", {}))["trigger_id"]
    form = paste(back_to=HERE, recent=made.choices(3))
    await chat.open_view(trigger, form)
    with pytest.raises(ChatError):
        await chat.open_view(trigger, form)


async def test_a_file_is_uploaded_into_a_thread(
    judge: Judge, chat: SlackChat, proxied: Judge
) -> None:
    """Through the proxy a file arrives whole, in the thread that it was meant for."""
    ts = await chat.post(HERE, _parent())
    through = SlackChat(TOKEN, base_url=proxied.api_url)
    text = "rank 64: gai error: -3\n" * 500
    await through.upload(HERE, ts, [Attachment(name="evidence.txt", content=text.encode())])
    files = (await judge.ask("files.list", {}))["files"]
    mine = next(one for one in files if one["name"] == "evidence.txt")
    assert mine["size"] == len(text)
    assert any(one.get("files") for one in await _stored(judge, ts))


async def test_what_it_refuses_is_a_sentence(chat: SlackChat) -> None:
    """Its errors are Slack's words, so they become our sentences."""
    with pytest.raises(ChatError, match="channel"):
        await chat.post("C999999999", _parent())


# -- what it cannot judge


async def test_it_does_not_take_get(judge: Judge) -> None:
    """`methods sent as GET`: they are not there."""
    async with (
        aiohttp.ClientSession() as session,
        session.get(f"{judge.api_url}users.info?user=U000000001") as answer,
    ):
        assert answer.status == 404
    assert "methods sent as GET" in CANNOT


async def test_it_does_not_read_the_query(chat: SlackChat) -> None:
    """`uploads through the SDK as is`: without the proxy they fail."""
    with pytest.raises(ChatError):
        await chat.upload(HERE, "1.000001", [Attachment(name="a.txt", content=b"a")])
    assert "uploads through the SDK as is" in CANNOT


async def test_it_has_no_socket(judge: Judge) -> None:
    """`Socket Mode`, and with it `buttons`: nobody can be connected to."""
    async with (
        aiohttp.ClientSession() as session,
        session.post(f"{judge.api_url}apps.connections.open") as answer,
    ):
        assert answer.status == 404
    assert {"Socket Mode", "buttons"} <= set(CANNOT)


async def test_it_does_not_know_the_limits(judge: Judge) -> None:
    """`limits`: 51 blocks of one block id are fine with it; Slack takes 50, each id once."""
    block = {"type": "section", "block_id": "same", "text": {"type": "mrkdwn", "text": "x"}}
    told = {"channel": HERE, "text": "x", "blocks": [block] * 51}
    assert (await judge.ask("chat.postMessage", told))["ok"]
    assert "limits" in CANNOT
