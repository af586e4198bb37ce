"""Messages: direct ones need no mention; pasted lines in a thread of ours neither.

Those of channels come where the app was made from manifest-channels.yml.
"""

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
        if event.get("subtype", "") not in _WRITTEN:
            return
        text = str(event.get("text", ""))
        if event.get("channel_type") == "im":
            await threads.said(desk, of_event(body), text, file_ids(event))
        elif event.get("thread_ts") and f"<@{desk.identity.user}" not in text:
            # a mention comes as an event of its own, a file too
            await threads.overheard(desk, of_event(body), text)
