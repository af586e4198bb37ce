"""Direct messages: no mention is needed there."""

from __future__ import annotations

from slack_bolt.async_app import AsyncApp

from bot.chat import threads
from bot.chat.desk import Desk
from handlers.payloads import Json, file_ids, of_event

#: Others tell of edits, joins and the like.
_WRITTEN = frozenset({"", "file_share"})


def register(app: AsyncApp, desk: Desk) -> None:
    """Answer in the message's thread."""

    @app.event("message")
    async def direct(body: Json) -> None:
        event: Json = body["event"]
        if event.get("channel_type") == "im" and event.get("subtype", "") in _WRITTEN:
            await threads.said(desk, of_event(body), str(event.get("text", "")), file_ids(event))
