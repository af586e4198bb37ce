"""The local workspace, as strict as Slack's pages, takes everything that the product shows.

Its limits and the product's were written apart from each other, from the same pages.
"""

from __future__ import annotations

import pytest
from slack_sdk.web.async_client import AsyncWebClient

from bot.reports.slack.message import Message, View
from playground.slack.server import SlackServer
from tests.behaviour.slack_playground.asking import Json
from tests.unit.reports.made import views

pytestmark = pytest.mark.anyio

ADA = "U0ENGINEER"
CHANNEL = "C0TRAINING"
#: Lengths of every foreign text: as it comes, at the edges, and far beyond.
SIZES = [None, 75, 76, 150, 151, 3000, 3001, 14_000]


def shown(size: int | None) -> dict[str, Message | View]:
    """Return every view, with texts of one length."""
    return dict(views(lambda _field, text: text if size is None else ("x <&> " * size)[:size]))


async def ts_of(client: AsyncWebClient, message: Message) -> str:
    """Post a message and return its `ts`."""
    return str((await client.chat_postMessage(channel=CHANNEL, **message.to_post()))["ts"])


@pytest.mark.parametrize("size", SIZES)
async def test_messages_are_posted_edited_and_shown_in_private(
    size: int | None, client: AsyncWebClient
) -> None:
    """Over HTTP, with the arguments that the bot sends."""
    for made in shown(size).values():
        if isinstance(made, Message):
            ts = await ts_of(client, made.of_row("row_1"))
            assert (await client.chat_update(channel=CHANNEL, ts=ts, **made.to_update()))["ok"]
            private: Json = made.to_ephemeral()
            assert (await client.chat_postEphemeral(channel=CHANNEL, user=ADA, **private))["ok"]


@pytest.mark.parametrize("size", SIZES)
async def test_modals_open_and_home_is_published(
    size: int | None, client: AsyncWebClient, slack: SlackServer
) -> None:
    """With a trigger, as after a click."""
    for made in shown(size).values():
        if isinstance(made, View) and made.type == "modal":
            trigger = slack.world.new_trigger(ADA)
            assert (await client.views_open(trigger_id=trigger, view=made.to_view()))["ok"]
        elif isinstance(made, View):
            assert (await client.views_publish(user_id=ADA, view=made.to_view()))["ok"]
