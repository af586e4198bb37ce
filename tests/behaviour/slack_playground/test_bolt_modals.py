"""Prove the life of a modal with a real bolt app: opened, refused, changed, closed.

Source: docs.slack.dev/surfaces/modals.
"""

from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest
from slack_bolt.async_app import AsyncAck
from slack_sdk.web.async_client import AsyncWebClient

from playground.slack import modal
from playground.slack.acting import Acting
from playground.slack.clock import HandClock
from playground.slack.server import SlackServer
from tests.behaviour.slack_playground.apps import bolt
from tests.behaviour.slack_playground.asking import (
    Json,
    bot_client,
    error,
    last,
    modal_view,
    opened,
    text_input,
    until,
)

pytestmark = pytest.mark.anyio

CHANNEL = "C0TRAINING"


async def test_a_command_opens_a_modal_which_is_refused_and_then_taken(
    slack: SlackServer, ada: Acting
) -> None:
    """The app's sentences stand under their fields; the second try closes the modal."""
    seen: list[Json] = []
    async with bolt(slack) as app:

        @app.command("/nccl-dns")
        async def command(ack: AsyncAck, body: Json, client: AsyncWebClient) -> None:
            await ack()
            view = modal_view(private_metadata=body["channel_id"])
            await client.views_open(trigger_id=body["trigger_id"], view=view)

        @app.view("diagnose")
        async def submitted(ack: AsyncAck, view: Json, client: AsyncWebClient) -> None:
            text = view["state"]["values"]["log"]["typed"]["value"]
            seen.append(view)
            if "gai" not in text:
                await ack(response_action="errors", errors={"log": "This is no log."})
                return
            await ack()
            await client.chat_postMessage(channel=view["private_metadata"], text=f"Read: {text}")

        await ada.commands(CHANNEL, "/nccl-dns")
        view = await opened(slack, ada)
        await modal.submit(ada, view, {"log": {"typed": "hello"}})
        assert view.errors == {"log": "This is no log."}
        assert slack.world.visible_view(ada.id) is view
        await modal.submit(ada, view, {"log": {"typed": "gai error: -3"}})
        assert slack.world.visible_view(ada.id) is None
        await until(lambda: slack.channel(CHANNEL).messages)
    assert (await last(slack)).text == "Read: gai error: -3"
    assert seen[1]["callback_id"] == "diagnose"


async def test_modals_answer_with_update_push_and_clear(slack: SlackServer, ada: Acting) -> None:
    """Each `response_action` does what docs.slack.dev/surfaces/modals says."""
    second, third = modal_view(text_input("two")), modal_view(text_input("three"))
    answers: list[Json] = [
        {"response_action": "update", "view": second},
        {"response_action": "push", "view": third},
        {"response_action": "clear"},
    ]
    async with bolt(slack) as app:

        @app.command("/nccl-dns")
        async def command(ack: AsyncAck, body: Json, client: AsyncWebClient) -> None:
            await ack()
            await client.views_open(trigger_id=body["trigger_id"], view=modal_view())

        @app.view("diagnose")
        async def submitted(ack: AsyncAck) -> None:
            await ack(**answers.pop(0))

        await ada.commands(CHANNEL, "/nccl-dns")
        first = await opened(slack, ada)
        await modal.submit(ada, first, {"log": {"typed": "x"}})
        assert [one["block_id"] for one in first.payload["blocks"]] == ["two"]
        await modal.submit(ada, first, {"two": {"typed": "x"}})
        top = await opened(slack, ada)
        assert (top.previous, top.root) == (first.id, first.id)
        await modal.submit(ada, top, {"three": {"typed": "x"}})
        assert slack.world.visible_view(ada.id) is None
    assert answers == []


WRONG_ANSWERS: dict[str, Json] = {
    "errors for a block that is not there": {"response_action": "errors", "errors": {"x": "y"}},
    "no errors": {"response_action": "errors", "errors": {}},
    "an unknown action": {"response_action": "dance"},
    "a view that is wrong": {"response_action": "update", "view": {"type": "modal"}},
    "a message": {"text": "hello"},
}


@pytest.mark.parametrize("case", WRONG_ANSWERS)
async def test_a_wrong_answer_to_a_modal_shows_as_trouble(
    slack: SlackServer, ada: Acting, case: str
) -> None:
    """Slack's client says that it had trouble, and the modal stays as it was."""
    async with bolt(slack) as app:

        @app.view("diagnose")
        async def submitted(ack: AsyncAck) -> None:
            await ack(WRONG_ANSWERS[case])

        opening = bot_client(slack).views_open
        await opening(trigger_id=slack.world.new_trigger(ada.id), view=modal_view())
        view = await opened(slack, ada)
        await modal.submit(ada, view, {"log": {"typed": "x"}})
        assert view.errors == {"": modal.TROUBLE}
        assert slack.world.visible_view(ada.id) is view


async def test_a_modal_that_nobody_answers_shows_as_trouble(
    slack: SlackServer, ada: Acting, clock: HandClock
) -> None:
    """Three seconds without an acknowledgement are as good as a wrong one."""
    async with bolt(slack) as app:

        @app.view("diagnose")
        async def submitted() -> None:
            await clock.sleep(timedelta(minutes=1))

        opening = bot_client(slack).views_open
        await opening(trigger_id=slack.world.new_trigger(ada.id), view=modal_view())
        view = await opened(slack, ada)
        sending = asyncio.ensure_future(modal.submit(ada, view, {"log": {"typed": "x"}}))
        await until(lambda: timedelta(minutes=1) in clock.waits())
        await clock.advance(timedelta(minutes=1))
        assert (await sending).failed == "timeout"
        assert view.errors == {"": modal.TROUBLE}


async def test_closing_is_told_where_the_view_says_so(slack: SlackServer, ada: Acting) -> None:
    """`notify_on_close` sends `view_closed`; the cross clears the whole stack."""
    closed: list[tuple[str, bool]] = []
    async with bolt(slack) as app:

        @app.view_closed("diagnose")
        async def gone(ack: AsyncAck, body: Json) -> None:
            await ack()
            closed.append((body["view"]["private_metadata"], body["is_cleared"]))

        client, world = bot_client(slack), slack.world
        view = modal_view(notify_on_close=True, private_metadata="one")
        first = (await client.views_open(trigger_id=world.new_trigger(ada.id), view=view))["view"]
        for name in ("two", "three"):
            trigger = world.new_trigger(ada.id, view=first["id"])
            await client.views_push(trigger_id=trigger, view={**view, "private_metadata": name})
        await modal.close(ada, await opened(slack, ada))
        assert closed == [("three", False)]
        await modal.close(ada, await opened(slack, ada), everything=True)
        assert slack.world.visible_view(ada.id) is None
    assert closed[1:] == [("two", True), ("one", True)]


async def test_a_trigger_is_too_old_after_slow_work(
    slack: SlackServer, ada: Acting, clock: HandClock
) -> None:
    """An app that looks something up before it opens a modal loses the trigger."""
    errors: list[str] = []
    async with bolt(slack) as app:

        @app.command("/nccl-dns")
        async def command(ack: AsyncAck, body: Json, client: AsyncWebClient) -> None:
            await ack()
            await clock.advance(timedelta(seconds=4))
            trigger = body["trigger_id"]
            errors.append(await error(client.views_open(trigger_id=trigger, view=modal_view())))

        await ada.commands(CHANNEL, "/nccl-dns")
        await until(lambda: errors)
    assert errors == ["expired_trigger_id"]  # docs.slack.dev/reference/methods/views.open
