"""Slash commands."""

from __future__ import annotations

from slack_bolt.async_app import AsyncApp

from bot.chat.desk import Desk
from handlers.commands import nccl_dns


def register(app: AsyncApp, desk: Desk) -> None:
    """Register every slash command."""
    nccl_dns.register(app, desk)
