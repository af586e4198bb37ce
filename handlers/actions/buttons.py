"""Buttons: each carries the id of its incident or approval, and nothing else."""

from __future__ import annotations

from slack_bolt.async_app import AsyncApp
from slack_bolt.context.ack.async_ack import AsyncAck

from bot.chat.buttons import press
from bot.chat.desk import Desk
from bot.reports.slack.values import Action
from handlers.payloads import Json, of_click

BUTTONS = (
    Action.BACK_UP, Action.RESTART, Action.TICKET, Action.WHY_NO_RESTART, Action.APPROVE,
    Action.DECLINE, Action.ASK_FOR_APPROVAL, Action.STOP,
)  # fmt: skip


def register(app: AsyncApp, desk: Desk) -> None:
    """Do what the button says, or say why not."""

    async def pressed(ack: AsyncAck, body: Json) -> None:
        await ack()
        action: Json = body["actions"][0]
        await press(desk, of_click(body), Action(action["action_id"]), str(action["value"]))

    for button in BUTTONS:
        app.action(button.value)(pressed)
