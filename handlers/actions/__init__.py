"""Buttons and menus."""

from __future__ import annotations

from slack_bolt.async_app import AsyncApp

from bot.chat.desk import Desk
from handlers.actions import buttons, links, menu, new, pick


def register(app: AsyncApp, desk: Desk) -> None:
    """Register every control."""
    for one in (buttons, menu, pick, new, links):
        one.register(app, desk)
