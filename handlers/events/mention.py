"""`@nccl-dns …`: every sub-command, text or a file, in channels and in threads."""

from __future__ import annotations

from slack_bolt.async_app import AsyncApp

from bot.chat import threads
from bot.chat.desk import Desk
from handlers.payloads import Json, file_ids, of_event


def register(app: AsyncApp, desk: Desk) -> None:
    """Answer in the mention's thread."""

    @app.event("app_mention")
    async def mention(body: Json) -> None:
        event: Json = body["event"]
        await threads.said(desk, of_event(body), str(event.get("text", "")), file_ids(event))
