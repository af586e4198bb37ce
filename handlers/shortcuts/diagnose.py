"""`Diagnose this log`, on any message: its text, snippet, file and thread."""

from __future__ import annotations

from dataclasses import replace

from slack_bolt.async_app import AsyncApp
from slack_bolt.context.ack.async_ack import AsyncAck

from bot.chat.asking import answer
from bot.chat.desk import Desk
from bot.chat.threads import files_of, whole_thread
from bot.chat.words import written
from handlers.payloads import Json, file_ids, of_click

CALLBACK = "diagnose_log"


def register(app: AsyncApp, desk: Desk) -> None:
    """Answer in the message's thread."""

    @app.shortcut(CALLBACK)
    async def diagnose(ack: AsyncAck, body: Json) -> None:
        await ack()
        message: Json = body["message"]
        # the form would say nothing of the message that was meant
        asker = replace(of_click(body), trigger="")
        text = written(str(message.get("text", "")))
        files = await files_of(desk, file_ids(message))
        if message.get("reply_count"):
            text, files = await whole_thread(desk, asker)
        await answer(desk, asker, text, files=files, written_by=str(message.get("user", "")))
