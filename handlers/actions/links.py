"""Buttons that only open an address: Slack tells of the click all the same."""

from __future__ import annotations

from slack_bolt.async_app import AsyncApp
from slack_bolt.context.ack.async_ack import AsyncAck

from bot.chat.desk import Desk
from bot.reports.slack.values import Action


def register(app: AsyncApp, desk: Desk) -> None:
    """Take note of nothing."""
    del desk

    async def opened(ack: AsyncAck) -> None:
        await ack()

    for action in (Action.OPEN_THREAD, Action.OPEN_LINK):
        app.action(action.value)(opened)
