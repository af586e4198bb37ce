"""Prove that a real bolt app lives in the workspace, from the command to the edited message."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from slack_bolt.async_app import AsyncAck, AsyncRespond, AsyncSay
from slack_sdk.web.async_client import AsyncWebClient

from playground.slack import clicking, suggesting
from playground.slack.acting import Acting
from playground.slack.clicking import NeedsConfirmationError, Press
from playground.slack.clock import HandClock
from playground.slack.errors import PlayError
from playground.slack.server import SlackServer
from tests.behaviour.slack_playground.apps import bolt
from tests.behaviour.slack_playground.asking import (
    Json,
    actions,
    bot_client,
    button,
    last,
    plain,
    section,
    until,
)

pytestmark = pytest.mark.anyio

CHANNEL = "C0TRAINING"


async def test_a_click_edits_the_message_that_was_clicked(
    slack: SlackServer, ada: Acting, client: AsyncWebClient
) -> None:
    """The button's value reaches the app, and the message loses its buttons."""
    async with bolt(slack) as app:

        @app.action("restart")
        async def clicked(ack: AsyncAck, body: Json, client: AsyncWebClient) -> None:
            await ack()
            value = body["actions"][0]["value"]
            await client.chat_update(
                channel=body["channel"]["id"],
                ts=body["message"]["ts"],
                text=f"Approved {value} by <@{body['user']['id']}>",
            )

        card = [section("Restart node-8?"), actions(button("restart", value="17"))]
        posted = await client.chat_postMessage(channel=CHANNEL, text="card", blocks=card)
        press = Press(action_id="restart")
        assert (await clicking.in_message(ada, CHANNEL, str(posted["ts"]), press)).failed == ""
        message = slack.channel(CHANNEL).messages[str(posted["ts"])]
        await until(lambda: message.edited)
        assert message.text == f"Approved 17 by <@{ada.id}>"
        with pytest.raises(PlayError):
            await clicking.in_message(ada, CHANNEL, message.ts, press)


async def test_an_element_that_asks_first_is_not_sent_before_yes(
    slack: SlackServer, ada: Acting, client: AsyncWebClient
) -> None:
    """The confirmation dialog is the client's affair: without a yes the app hears nothing."""
    got: list[str] = []
    async with bolt(slack) as app:

        @app.action("stop")
        async def clicked(ack: AsyncAck, action: Json) -> None:
            await ack()
            got.append(action["action_id"])

        dialog = {"title": plain("Stop"), "text": plain("NVMe is lost."), "confirm": plain("Yes"),
                  "deny": plain("No")}  # fmt: skip
        card = [actions(button("stop", confirm=dialog))]
        posted = await client.chat_postMessage(channel=CHANNEL, text="card", blocks=card)
        ts = str(posted["ts"])
        with pytest.raises(NeedsConfirmationError) as asked:
            await clicking.in_message(ada, CHANNEL, ts, Press(action_id="stop"))
        assert asked.value.dialog == dialog
        assert got == []
        await clicking.in_message(ada, CHANNEL, ts, Press(action_id="stop", confirmed=True))
    assert got == ["stop"]


async def test_menus_bring_the_whole_option_and_remember_the_choice(
    slack: SlackServer, ada: Acting, client: AsyncWebClient
) -> None:
    """A select's choice is in the action and in the message's state; an overflow's is not kept."""
    bodies: list[Json] = []
    options = [{"text": plain(name), "value": name} for name in ("node-8", "node-9")]
    async with bolt(slack) as app:

        @app.action("vm")
        async def picked(ack: AsyncAck, body: Json) -> None:
            await ack()
            bodies.append(body)

        @app.action("more")
        async def chose(ack: AsyncAck, body: Json) -> None:
            await ack()
            bodies.append(body)

        row = actions(
            {"type": "static_select", "action_id": "vm", "options": options},
            {"type": "overflow", "action_id": "more", "options": options},
            {"type": "radio_buttons", "action_id": "how", "options": options,
             "initial_option": options[0]},
            block_id="row",
        )  # fmt: skip
        posted = await client.chat_postMessage(channel=CHANNEL, text="card", blocks=[row])
        ts = str(posted["ts"])
        for name in ("vm", "more"):
            press = Press(action_id=name, value="node-9")
            await clicking.in_message(ada, CHANNEL, ts, press)
        with pytest.raises(PlayError):
            await clicking.in_message(ada, CHANNEL, ts, Press(action_id="vm", value="node-7"))
    assert [one["actions"][0]["selected_option"] for one in bodies] == [options[1], options[1]]
    state = bodies[1]["state"]["values"]["row"]
    assert state == {
        "vm": {"type": "static_select", "selected_option": options[1]},
        "how": {"type": "radio_buttons", "selected_option": options[0]},
    }


async def test_an_ephemeral_message_is_replaced_by_its_response_url(
    slack: SlackServer, ada: Acting
) -> None:
    """A click in an ephemeral message brings no message along, and a URL to change it with."""
    bodies: list[Json] = []
    async with bolt(slack) as app:

        @app.action("dismiss")
        async def clicked(ack: AsyncAck, body: Json, respond: AsyncRespond) -> None:
            await ack()
            bodies.append(body)
            await respond(text="Dismissed.", replace_original=True)

        await bot_client(slack).chat_postEphemeral(
            channel=CHANNEL, user=ada.id, text="card", blocks=[actions(button("dismiss"))]
        )
        (message,) = slack.channel(CHANNEL).ephemeral
        press = Press(action_id="dismiss")
        with pytest.raises(PlayError):
            await clicking.in_message(slack.act_as("grace"), CHANNEL, message.ts, press)
        await clicking.in_message(ada, CHANNEL, message.ts, press)
        await until(lambda: message.text == "Dismissed.")
    assert bodies[0]["container"]["is_ephemeral"]
    assert "message" not in bodies[0]
    assert message.blocks == []


async def test_a_message_is_replaced_or_taken_away_by_its_response_url(
    slack: SlackServer, ada: Acting, client: AsyncWebClient
) -> None:
    """The card for all is changed by its URL; a second answer takes it away."""
    async with bolt(slack) as app:

        @app.action("done")
        async def done(ack: AsyncAck, respond: AsyncRespond) -> None:
            await ack()
            await respond(text="Decided.", blocks=[actions(button("gone"))], replace_original=True)

        @app.action("gone")
        async def gone(ack: AsyncAck, respond: AsyncRespond) -> None:
            await ack()
            await respond(delete_original=True)

        card = [actions(button("done"))]
        posted = await client.chat_postMessage(channel=CHANNEL, text="card", blocks=card)
        ts, messages = str(posted["ts"]), slack.channel(CHANNEL).messages
        await clicking.in_message(ada, CHANNEL, ts, Press(action_id="done"))
        await until(lambda: messages[ts].text == "Decided.")
        await clicking.in_message(ada, CHANNEL, ts, Press(action_id="gone"))
        await until(lambda: ts not in messages)


async def test_a_menu_of_the_apps_is_loaded_as_one_types(
    slack: SlackServer, ada: Acting, client: AsyncWebClient
) -> None:
    """The app is asked from the third character on; a wrong answer is no menu."""
    menu = {"type": "external_select", "action_id": "job", "min_query_length": 2}
    asked: list[str] = []
    picked: list[Json] = []
    async with bolt(slack) as app:

        @app.options("job")
        async def offer(ack: AsyncAck, body: Json) -> None:
            asked.append(body["value"])
            count = 101 if body["value"] == "many" else 2
            options = [{"text": plain(f"job {n}"), "value": f"{n}"} for n in range(count)]
            await ack(options=options)

        @app.action("job")
        async def pick(ack: AsyncAck, action: Json) -> None:
            await ack()
            picked.append(action["selected_option"])

        posted = await client.chat_postMessage(channel=CHANNEL, text="x", blocks=[actions(menu)])
        where = (ada, CHANNEL, str(posted["ts"]))
        assert await suggesting.in_message(*where, Press(action_id="job", value="4")) == []
        options = await suggesting.in_message(*where, Press(action_id="job", value="48"))
        assert [one["value"] for one in options] == ["0", "1"]
        with pytest.raises(PlayError):
            await suggesting.in_message(*where, Press(action_id="job", value="many"))
        await clicking.in_message(*where, Press(action_id="job", value=options[1]))
    assert asked == ["48", "many"]
    assert picked == [options[1]]


async def test_a_response_url_works_where_the_bot_is_no_member(
    slack: SlackServer, ada: Acting
) -> None:
    """A command reaches the app from any channel, and the answer reaches the person there."""
    async with bolt(slack) as app:

        @app.command("/nccl-dns")
        async def command(ack: AsyncAck, respond: AsyncRespond, body: Json) -> None:
            await ack()
            with pytest.raises(Exception, match="not_in_channel"):
                await bot_client(slack).chat_postMessage(channel=body["channel_id"], text="x")
            await respond("Invite me first.")
            await respond("For all to see.", response_type="in_channel")

        await ada.commands("general", "/nccl-dns 48213")
        general = slack.channel("general")
        await until(lambda: general.messages)
    assert [(one.text, one.only_for) for one in general.ephemeral] == [("Invite me first.", ada.id)]
    assert (await last(slack, "general")).text == "For all to see."


async def test_a_response_url_works_five_times_in_half_an_hour(
    slack: SlackServer, ada: Acting, clock: HandClock
) -> None:
    """The sixth answer is refused, and so is one that comes late."""
    responds: list[AsyncRespond] = []
    async with bolt(slack) as app:

        @app.command("/nccl-dns")
        async def command(ack: AsyncAck, respond: AsyncRespond) -> None:
            await ack()
            responds.append(respond)

        for _ in range(2):
            await ada.commands(CHANNEL, "/nccl-dns")
        await until(lambda: len(responds) == 2)
        # docs.slack.dev/interactivity/handling-user-interaction, «Message responses»
        statuses = [(await responds[0](f"{n}")).status_code for n in range(6)]
        assert statuses == [200] * 5 + [404]
        await clock.advance(timedelta(minutes=30, seconds=1))
        late = await responds[1]("late")
        assert (late.status_code, "expired_url" in late.body) == (404, True)


async def test_a_shortcut_brings_the_message_with_its_files(
    slack: SlackServer, ada: Acting
) -> None:
    """«Diagnose this log» on a message has its text, its files and its thread."""
    bodies: list[Json] = []
    async with bolt(slack) as app:

        @app.shortcut("diagnose_log")
        async def taken(ack: AsyncAck, body: Json) -> None:
            await ack()
            bodies.append(body)

        shared = slack.act_as("grace").shares(CHANNEL, "job.log", b"gai", text="this one")
        await ada.takes_shortcut("diagnose_log", channel=CHANNEL, ts=shared.ts)
    (body,) = bodies
    assert body["type"] == "message_action"
    assert body["message"]["text"] == "this one"
    assert body["message"]["files"][0]["name"] == "job.log"
    assert body["message_ts"] == shared.ts


async def test_a_mention_is_answered_in_its_thread(slack: SlackServer, ada: Acting) -> None:
    """A mention in a thread has the thread's ts, and `say` answers there."""
    async with bolt(slack) as app:

        @app.event("app_mention")
        async def mentioned(event: Json, say: AsyncSay) -> None:
            await say(text="on it", thread_ts=event["thread_ts"])

        parent = ada.says(CHANNEL, "job 48213 hangs")
        ada.says(CHANNEL, "@nccl-dns check", thread_ts=parent.ts)
        await until(lambda: len(slack.channel(CHANNEL).replies(parent.ts)) == 2)
    assert slack.channel(CHANNEL).replies(parent.ts)[1].text == "on it"


async def test_the_home_tab_is_published_when_it_is_opened(slack: SlackServer, ada: Acting) -> None:
    """Opening Home tells the app, which shows what is there for this person."""
    async with bolt(slack) as app:

        @app.event("app_home_opened")
        async def home(event: Json, client: AsyncWebClient) -> None:
            view: Any = {"type": "home", "blocks": [section("nothing open")]}
            await client.views_publish(user_id=event["user"], view=view)

        ada.opens_home()
        await until(lambda: slack.world.homes.get(ada.id))
    view = slack.world.views[slack.world.homes[ada.id]]
    assert view.payload["blocks"][0]["text"]["text"] == "nothing open"
