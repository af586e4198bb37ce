"""Somebody opens the Home tab."""

from __future__ import annotations

from slack_bolt.async_app import AsyncApp

from bot.chat.desk import Desk
from bot.chat.home import publish
from handlers.payloads import Json


def register(app: AsyncApp, desk: Desk) -> None:
    """Show how things stand now."""

    @app.event("app_home_opened")
    async def opened(body: Json) -> None:
        event: Json = body["event"]
        if event.get("tab") == "home":
            await publish(desk, str(event["user"]))
