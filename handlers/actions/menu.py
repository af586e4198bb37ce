"""The menu behind `⋯`: its entries name the control and the incident."""

from __future__ import annotations

from slack_bolt.async_app import AsyncApp
from slack_bolt.context.ack.async_ack import AsyncAck

from bot.chat.buttons import press
from bot.chat.desk import Desk
from bot.reports.slack.parts import chosen
from bot.reports.slack.values import Action
from handlers.payloads import Json, of_click


def register(app: AsyncApp, desk: Desk) -> None:
    """Do what the entry says, or say why not."""

    @app.action(Action.MORE.value)
    async def more(ack: AsyncAck, body: Json) -> None:
        await ack()
        entry = chosen(str(body["actions"][0]["selected_option"]["value"]))
        if entry is not None:
            await press(desk, of_click(body), *entry)
