"""`Check a job or a log`, on the Home tab."""

from __future__ import annotations

from dataclasses import replace

from slack_bolt.async_app import AsyncApp
from slack_bolt.context.ack.async_ack import AsyncAck

from bot.chat.asking import open_form
from bot.chat.desk import Desk
from bot.reports.slack.values import Action
from handlers.payloads import Json, of_click


def register(app: AsyncApp, desk: Desk) -> None:
    """Open the form; the report goes to the home channel, or to whoever asked."""

    @app.action(Action.NEW.value)
    async def new(ack: AsyncAck, body: Json) -> None:
        await ack()
        await open_form(desk, replace(of_click(body), channel=desk.rules.home_channel))
