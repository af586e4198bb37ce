"""Events."""

from __future__ import annotations

from slack_bolt.async_app import AsyncApp

from bot.chat.desk import Desk
from handlers.events import direct, files, home, mention


def register(app: AsyncApp, desk: Desk) -> None:
    """Register every event."""
    for one in (mention, direct, files, home):
        one.register(app, desk)
