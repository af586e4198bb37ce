"""`/nccl-dns`: alone a form, else a job, pasted lines, or a word that we know."""

from __future__ import annotations

from slack_bolt.async_app import AsyncApp
from slack_bolt.context.ack.async_ack import AsyncAck

from bot.chat.asking import answer
from bot.chat.desk import Desk
from handlers.payloads import Json, of_command


def register(app: AsyncApp, desk: Desk) -> None:
    """Answer the command; its name is a setting, its text comes without Slack's markup."""

    @app.command(desk.rules.command)
    async def command(ack: AsyncAck, body: Json) -> None:
        await ack()
        await answer(desk, of_command(body), str(body.get("text", "")))
