"""Shortcuts."""

from __future__ import annotations

from slack_bolt.async_app import AsyncApp

from bot.chat.desk import Desk
from handlers.shortcuts import diagnose


def register(app: AsyncApp, desk: Desk) -> None:
    """Register every shortcut."""
    diagnose.register(app, desk)
