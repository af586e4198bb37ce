"""A file that was shared: evidence where its thread is ours."""

from __future__ import annotations

from slack_bolt.async_app import AsyncApp

from bot.chat import threads
from bot.chat.desk import Desk
from handlers.payloads import Json, of_event


def register(app: AsyncApp, desk: Desk) -> None:
    """Add it to the thread's incident; in which thread it is, Slack tells when asked."""

    @app.event("file_shared")
    async def shared(body: Json) -> None:
        await threads.shared(desk, of_event(body), str(body["event"]["file_id"]))
