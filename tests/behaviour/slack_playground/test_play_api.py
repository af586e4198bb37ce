"""Prove that a page can do over HTTP what people do, and see what they see."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from typing import Any

import aiohttp
import pytest

from playground.slack.server import SlackServer, running
from tests.behaviour.slack_playground.apps import bolt, listening
from tests.behaviour.slack_playground.asking import (
    Json,
    actions,
    bot_client,
    button,
    modal_view,
    plain,
    text_input,
)

pytestmark = pytest.mark.anyio

CHANNEL = "C0TRAINING"


class Page:
    """What a browser's page does."""

    def __init__(self, session: aiohttp.ClientSession) -> None:
        self.session = session

    async def act(self, act: str, **given: Any) -> Json:  # noqa: ANN401
        """Act, as ada unless somebody else is named; the answer has its status in `status`."""
        body = {"as": "ada", **given}
        async with self.session.post(f"/_play/{act}", json=body) as answer:
            return {"status": answer.status, **await answer.json()}

    async def see(self, what: str, **asked: str) -> Json:
        """Look at `state` or `messages`."""
        async with self.session.get(f"/_play/{what}", params={"as": "ada", **asked}) as answer:
            shown: Json = await answer.json()
            return shown


@pytest.fixture
async def page(slack: SlackServer) -> AsyncIterator[Page]:
    """Return a page of the workspace."""
    async with aiohttp.ClientSession(base_url=slack.base_url) as session:
        yield Page(session)


async def test_a_message_is_written_and_seen(page: Page) -> None:
    """What ada writes stands in the channel for guest, too, with its thread."""
    said = await page.act("message", channel="training-oncall", text="it hangs")
    await page.act("message", channel=CHANNEL, text="since 3:04", thread_ts=said["ts"])
    seen = await page.see("messages", channel=CHANNEL, **{"as": "guest"})
    assert [one["text"] for one in seen["messages"]] == ["it hangs", "since 3:04"]
    assert seen["messages"][1]["thread_ts"] == said["ts"]
    assert seen["messages"][0]["reply_count"] == 1


async def test_each_person_sees_what_is_theirs(page: Page, slack: SlackServer) -> None:
    """Channels, ephemeral messages, modals and Home are those of the person who looks."""
    client = bot_client(slack)
    await client.chat_postEphemeral(channel=CHANNEL, user="U0ENGINEER", text="psst")
    trigger = slack.world.new_trigger("U0ENGINEER")
    await client.views_open(trigger_id=trigger, view=modal_view())
    home: Any = {"type": "home", "blocks": [{"type": "divider"}]}
    await client.views_publish(user_id="U0ENGINEER", view=home)
    ada, grace = await page.see("state"), await page.see("state", **{"as": "grace"})
    assert [one["type"] for one in (*ada["modal"], ada["home"])] == ["modal", "home"]
    assert (grace["modal"], grace["home"]) == ([], None)
    names = {one["name"] for one in grace["channels"]} - {one["name"] for one in ada["channels"]}
    assert names == {"secret"}
    assert (await page.see("messages", channel=CHANNEL))["messages"][0]["ephemeral"]
    seen = await page.see("messages", channel=CHANNEL, **{"as": "grace"})
    assert seen["messages"] == []


async def test_a_whole_conversation_over_http(page: Page, slack: SlackServer) -> None:
    """Command, modal with errors, submission, button with a confirmation: all by the page."""
    dialog = {
        "title": plain("Sure?"),
        "text": plain("It restarts."),
        "confirm": plain("Yes"),
        "deny": plain("No"),
    }
    async with bolt(slack) as app:

        @app.command("/nccl-dns")
        async def command(ack: Any, body: Json, client: Any) -> None:  # noqa: ANN401
            view = modal_view(text_input(), private_metadata=body["channel_id"])
            await client.views_open(trigger_id=body["trigger_id"], view=view)
            await ack()

        @app.view("diagnose")
        async def submitted(ack: Any, view: Json, client: Any) -> None:  # noqa: ANN401
            card = [actions(button("restart", confirm=dialog))]
            channel = view["private_metadata"]
            await client.chat_postMessage(channel=channel, text="report", blocks=card)
            await ack()

        @app.action("restart")
        async def restart(ack: Any, body: Json, client: Any) -> None:  # noqa: ANN401
            where = {"channel": body["channel"]["id"], "ts": body["message"]["ts"]}
            await client.chat_update(**where, text="restarted")
            await ack()

        ran = await page.act("command", channel=CHANNEL, text="/nccl-dns")
        assert ran == {"status": 200, "ok": True, "sent": True, "failed": ""}
        (view,) = (await page.see("state"))["modal"]
        sent = await page.act("submit", view_id=view["id"])
        assert (sent["sent"], sent["errors"]) == (
            False,
            {"log": "Please complete this required field."},
        )
        values = {"log": {"typed": "gai error: -3"}}
        assert (await page.act("submit", view_id=view["id"], values=values))["errors"] == {}
        assert (await page.see("state"))["modal"] == []
        (report,) = (await page.see("messages", channel=CHANNEL))["messages"]
        press = {"channel": CHANNEL, "ts": report["ts"], "action_id": "restart"}
        asked = await page.act("press", **press)
        assert (asked["status"], asked["confirm"]) == (409, dialog)
        assert (await page.act("press", **press, confirmed=True))["sent"]
        (report,) = (await page.see("messages", channel=CHANNEL))["messages"]
        assert report["text"] == "restarted"


async def test_a_file_is_shared_and_shown(page: Page) -> None:
    """A form brings a file into the channel, and the page can show it."""
    form = aiohttp.FormData({"as": "ada", "channel": CHANNEL, "text": "the log"})
    form.add_field("file", b"gai error", filename="job.log")
    async with page.session.post("/_play/file", data=form) as answer:
        shared = await answer.json()
    (message,) = (await page.see("messages", channel=CHANNEL))["messages"]
    assert message["files"][0]["id"] == shared["file"]
    async with page.session.get(f"/_play/files/{shared['file']}") as answer:
        assert await answer.read() == b"gai error"
        assert answer.headers["Content-Security-Policy"] == "sandbox"


async def test_a_file_for_a_modal_is_in_no_channel(page: Page, slack: SlackServer) -> None:
    """Without a channel a file waits for the modal that will take it."""
    form = aiohttp.FormData({"as": "ada"})
    form.add_field("file", b"gai error", filename="job.log")
    async with page.session.post("/_play/file", data=form) as answer:
        brought = await answer.json()
    assert slack.world.files[brought["file"]].shares == {}


async def test_changes_are_streamed(page: Page) -> None:
    """A watcher is told of each change as it happens, numbered, and leaves when it likes."""
    async with page.session.get("/_play/feed") as stream:
        assert stream.content_type == "text/event-stream"
        assert await stream.content.readline() == b": watching\n"
        said = await page.act("message", channel=CHANNEL, text="x")
        lines = [await stream.content.readline() for _ in range(2)]
    change = json.loads(lines[1].removeprefix(b"data: "))
    assert change == {"n": 1, "kind": "message", "channel": CHANNEL, "ts": said["ts"]}
    assert (await page.see("state"))["n"] == 1


async def test_a_watcher_is_sent_home_at_the_end() -> None:
    """A page that is open does not hold the workspace up when it closes."""
    async with aiohttp.ClientSession() as session:
        async with running() as slack:
            stream = await session.get(f"{slack.base_url}/_play/feed")
            assert await stream.content.readline() == b": watching\n"
        assert b'"kind": "end"' in await stream.content.read()


async def test_a_watcher_that_does_not_read_is_told_to_look_anew(slack: SlackServer) -> None:
    """Changes are not kept without end: the oldest give way to a word that says so."""
    with slack.world.feed.watching() as changes:
        for number in range(1001):
            slack.world.feed.tell("message", ts=str(number))
        assert changes.get_nowait() == {"n": 1001, "kind": "everything"}
        assert changes.empty()


async def test_the_page_knows_whether_the_app_is_there(page: Page, slack: SlackServer) -> None:
    """The state counts the app's connections."""
    assert (await page.see("state"))["connections"] == 0
    async with listening(slack):
        assert (await page.see("state"))["connections"] == 1


async def test_shortcuts_reactions_home_and_invitations(page: Page, slack: SlackServer) -> None:
    """The rest of what people do reaches the app, too."""
    async with listening(slack) as app:
        said = await page.act("message", channel=CHANNEL, text="log")
        where = {"channel": CHANNEL, "ts": said["ts"]}
        assert (await page.act("shortcut", callback_id="diagnose_log", **where))["sent"]
        assert (await page.act("react", name="eyes", **where))["ok"]
        assert (await page.act("home"))["ok"]
        assert (await page.act("invite", channel="general"))["ok"]
    assert app.got[0].payload["type"] == "message_action"
    assert slack.channel(CHANNEL).messages[said["ts"]].reactions == {"eyes": ["U0ENGINEER"]}
    assert slack.world.bot.id in slack.channel("general").members


async def test_a_modal_is_filled_and_closed(page: Page, slack: SlackServer) -> None:
    """What was typed is there when the page looks again; a closed view takes nothing."""
    trigger = slack.world.new_trigger("U0ENGINEER")
    await bot_client(slack).views_open(trigger_id=trigger, view=modal_view())
    (view,) = (await page.see("state"))["modal"]
    typed = {"log": {"typed": "half a"}}
    await page.act("fill", view_id=view["id"], values=typed)
    (view,) = (await page.see("state"))["modal"]
    assert view["state"]["values"]["log"]["typed"]["value"] == "half a"
    press = {"view_id": view["id"], "action_id": "typed", "value": "x"}
    assert (await page.act("press", **press))["sent"] is False
    assert (await page.act("fill", view_id=view["id"], values=typed, **{"as": "grace"}))[
        "status"
    ] == 409
    await page.act("close", view_id=view["id"])
    gone = await page.act("fill", view_id=view["id"], values=typed)
    assert (gone["status"], gone["error"]) == (409, "That view is not open.")


async def test_what_cannot_be_done_is_said(page: Page) -> None:
    """A sentence for the person, and other statuses for a broken page."""
    refused = await page.act("message", channel="nowhere", text="x")
    assert (refused["status"], refused["ok"]) == (409, False)
    assert refused["error"] == "Ada Engineer is not in a channel «nowhere»."
    assert (await page.act("message", **{"as": "nobody"}, channel=CHANNEL, text="x"))[
        "status"
    ] == 409
    assert (await page.act("message", channel=CHANNEL))["status"] == 400
    async with page.session.post("/_play/message", data=b"{") as answer:
        assert answer.status == 400


async def test_other_sites_pages_cannot_act(page: Page) -> None:
    """A browser says where a request comes from; only the workspace's own page may act."""
    body = {"as": "ada", "channel": CHANNEL, "text": "x"}
    evil = {"Origin": "https://example.com"}
    async with page.session.post("/_play/message", json=body, headers=evil) as answer:
        assert answer.status == 403
    async with page.session.post("/_play/file", data={"as": "ada"}, headers=evil) as answer:
        assert answer.status == 403
