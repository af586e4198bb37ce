"""The Slack emulator `emulate` (pinned) judges the bot's client: what arrives is what was sent.

It is a second opinion beside the local workspace, which we wrote ourselves. It runs with scopes
checked, and the client's token has those of the manifest. `test_blind` has what it cannot judge.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from datetime import UTC, datetime, timedelta

import pytest

from bot.chat.errors import ChatError, GoneError, NotMemberError, ScopeError, TooLateError
from bot.chat.slack import SlackChat
from bot.reports.slack.message import Attachment, Message
from bot.reports.slack.modals import paste
from bot.reports.slack.notices import help_text
from bot.reports.slack.replies import evidence
from bot.reports.slack.report import report
from tests.judges.emulator import OTHER, TOKEN, Json, Judge, token_without
from tests.unit.reports import made

pytestmark = pytest.mark.anyio
HERE = "C000000001"
NOW = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
FILE = Attachment(
    name="evidence.txt", content="rank 64: gai error: \N{MINUS SIGN}3\n".encode() * 500
)


def _parent(row: str = "row0000000000001") -> Message:
    return report(made.checked(), made.incident(), now=NOW).of_row(row)


async def _stored(judge: Judge, thread: str) -> list[Json]:
    found = await judge.ask("conversations.replies", {"channel": HERE, "ts": thread})
    assert found["ok"], found
    messages: list[Json] = found["messages"]
    return messages


async def _somebody(judge: Judge) -> str:
    members = (await judge.ask("users.list", {}))["members"]
    return next(str(one["id"]) for one in members if one["name"] == OTHER)


async def test_a_report_its_reply_and_an_edit(judge: Judge, chat: SlackChat) -> None:
    """Parent and reply are there with the blocks that were sent; an edit takes its place."""
    sent, reply = _parent(), evidence(made.checked(), made.incident())
    ts = await chat.post(HERE, sent)
    await chat.post(HERE, reply, thread=ts)
    parent, answer = await _stored(judge, ts)
    assert parent["blocks"] == sent.to_post()["blocks"]
    assert parent["text"] == sent.text
    assert answer["thread_ts"] == ts
    assert answer["blocks"] == reply.to_post()["blocks"]

    closed = report(made.checked(), made.closed(), now=NOW)
    await chat.update(HERE, ts, closed)
    edited, *_ = await _stored(judge, ts)
    assert edited["blocks"] == closed.to_update()["blocks"]
    assert edited["text"] == closed.text != sent.text


async def test_a_thread_is_read_back(chat: SlackChat) -> None:
    """What the bot reads of a thread is what stands there; the second copy can be taken away."""
    sent = _parent()
    ts = await chat.post(HERE, sent)
    copy = await chat.post(HERE, sent, thread=ts)
    assert [(one.ts, one.text) for one in await chat.thread(HERE, ts)] == [
        (ts, sent.text),
        (copy, sent.text),
    ]
    await chat.delete(HERE, copy)
    assert [one.ts for one in await chat.thread(HERE, ts)] == [ts]
    with pytest.raises(GoneError):
        await chat.delete(HERE, copy)
    assert ts.replace(".", "") in await chat.permalink(HERE, ts)


async def test_a_message_is_found_by_its_row(chat: SlackChat) -> None:
    """The metadata by which a message is found again after a crash comes back as it was sent."""
    ts = await chat.post(HERE, _parent("row0000000000002"))
    since = datetime.now(UTC) - timedelta(hours=1)
    assert await chat.find(HERE, "row0000000000002", since=since) == ts
    assert not await chat.find(HERE, "row0000000000009", since=since)


async def _trigger(judge: Judge) -> str:
    return str((await judge.ask("views.generateTriggerId", {}))["trigger_id"])


async def test_a_modal_opens_once(judge: Judge, chat: SlackChat) -> None:
    """The form is taken with a trigger; the same trigger again is refused, as in Slack."""
    trigger, form = await _trigger(judge), paste(back_to=HERE, recent=made.choices(3))
    await chat.open_view(trigger, form)
    with pytest.raises(TooLateError):
        await chat.open_view(trigger, form)


@pytest.mark.parametrize("name", made.views())
async def test_every_view_is_taken(judge: Judge, chat: SlackChat, name: str) -> None:
    """Whatever people are shown can be sent: messages arrive whole, forms and Home are accepted."""
    view = made.views()[name]
    if isinstance(view, Message):
        ts = await chat.post(HERE, view)
        assert (await _stored(judge, ts))[0]["blocks"] == view.to_post()["blocks"]
    elif view.type == "home":
        await chat.publish_home("U000000001", view)
    else:
        await chat.open_view(await _trigger(judge), view)


async def test_a_file_is_uploaded_into_a_thread(
    judge: Judge, chat: SlackChat, proxied: Judge
) -> None:
    """Through the proxy a file arrives whole, in its thread; the bot reads the same bytes back."""
    ts = await chat.post(HERE, _parent())
    await SlackChat(TOKEN, base_url=proxied.api_url).upload(HERE, ts, [FILE])
    reply = (await _stored(judge, ts))[-1]
    assert reply["thread_ts"] == ts
    found = await chat.file(reply["files"][0]["id"])
    assert (found.name, found.size_bytes) == (FILE.name, len(FILE.content))
    assert b"".join([part async for part in chat.download(found)]) == FILE.content


async def test_words_to_one_person(judge: Judge, chat: SlackChat) -> None:
    """Somebody is looked up, told something privately, and written to directly."""
    other = await _somebody(judge)
    assert not (await chat.person(other)).bot
    me = (await chat.identity()).user
    await chat.whisper(HERE, me, help_text("/nccl-dns", "nccl-dns"))
    direct, sent = await chat.direct(other), _parent()
    assert [one.ts for one in await chat.thread(direct, await chat.post(direct, sent))]


async def test_what_it_refuses_is_a_sentence(chat: SlackChat) -> None:
    """Its errors are Slack's words, so they become our sentences."""
    with pytest.raises(NotMemberError, match="Invite the bot"):
        await chat.post("C999999999", _parent())
    with pytest.raises(GoneError):
        await chat.update(HERE, "1.000001", _parent())


#: Scope → what is refused without it, of a client and a person.
NEEDED: Mapping[str, Callable[[SlackChat, str], Awaitable[object]]] = {
    "channels:history": lambda chat, _: chat.readable(HERE),
    "chat:write": lambda chat, _: chat.post(HERE, _parent()),
    "files:read": lambda chat, _: chat.file("F000000001"),
    "files:write": lambda chat, _: chat.upload(HERE, "", [FILE]),
    "im:write": lambda chat, who: chat.direct(who),
    "users:read": lambda chat, who: chat.person(who),
}


@pytest.mark.parametrize("scope", NEEDED)
async def test_a_scope_that_is_missing_is_named(judge: Judge, scope: str) -> None:
    """Without a scope of the manifest its method is refused, and the sentence says which."""
    lesser = SlackChat(token_without(scope), base_url=judge.api_url)
    with pytest.raises(ChatError) as refused:
        await NEEDED[scope](lesser, await _somebody(judge))
    assert isinstance(refused.value, ScopeError), refused.value
    assert scope in str(refused.value)
