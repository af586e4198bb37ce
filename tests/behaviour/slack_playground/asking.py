"""Ask the workspace, and wait for what comes by itself."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Any

from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from playground.slack.acting import Acting
from playground.slack.model import Message, View
from playground.slack.server import SlackServer

#: What a loaded machine may need for something that takes milliseconds.
PATIENCE_S = 20.0

Json = dict[str, Any]


async def until(holds: Callable[[], object]) -> None:
    """Wait until something holds; fail when it does not come to hold."""
    end = time.monotonic() + PATIENCE_S
    while not holds():
        assert time.monotonic() < end, "it did not come to hold"
        await asyncio.sleep(0.005)


async def refusal(call: Awaitable[Any]) -> Json:
    """Return the body of an answer that must be a refusal."""
    try:
        answer = await call
    except SlackApiError as error:
        body: Json = error.response.data
        return body
    raise AssertionError(f"not refused: {answer}")


async def error(call: Awaitable[Any]) -> str:
    """Return the error of an answer that must be a refusal."""
    return str((await refusal(call))["error"])


def bot_client(slack: SlackServer, token: str = "") -> AsyncWebClient:
    """Return a client with a token, the bot's if none is given."""
    return AsyncWebClient(token=token or slack.bot_token, base_url=slack.api_url, retry_handlers=[])


def plain(text: str) -> Json:
    """Return a plain_text object."""
    return {"type": "plain_text", "text": text}


def mrkdwn(text: str) -> Json:
    """Return a mrkdwn object."""
    return {"type": "mrkdwn", "text": text}


def section(text: str = "hello", **more: Any) -> Json:  # noqa: ANN401
    """Return a section block."""
    return {"type": "section", "text": mrkdwn(text), **more}


def button(action_id: str = "go", **more: Any) -> Json:  # noqa: ANN401
    """Return a button."""
    return {"type": "button", "action_id": action_id, "text": plain("Go"), **more}


def actions(*elements: Json, **more: Any) -> Json:  # noqa: ANN401
    """Return an actions block."""
    return {"type": "actions", "elements": list(elements), **more}


def text_input(block_id: str = "log", **more: Any) -> Json:  # noqa: ANN401
    """Return an input block with a text field `typed`."""
    element = {"type": "plain_text_input", "action_id": "typed", **more}
    return {"type": "input", "block_id": block_id, "label": plain("Log"), "element": element}


def modal_view(*blocks: Json, **more: Any) -> Json:  # noqa: ANN401
    """Return a modal's view."""
    return {
        "type": "modal",
        "callback_id": "diagnose",
        "title": plain("Diagnose"),
        "submit": plain("Send"),
        "blocks": list(blocks) or [text_input()],
        **more,
    }


async def opened(slack: SlackServer, who: Acting) -> View:
    """Wait for a person's modal and return what they see."""
    await until(lambda: slack.world.visible_view(who.id))
    view = slack.world.visible_view(who.id)
    assert view is not None
    return view


async def last(slack: SlackServer, channel: str = "C0TRAINING") -> Message:
    """Return the newest message of a channel."""
    return list(slack.channel(channel).messages.values())[-1]
