"""Forms."""

from __future__ import annotations

from slack_bolt.async_app import AsyncApp

from bot.chat.desk import Desk
from handlers.payloads import Json
from handlers.views import back_up, paste, restart, wrong_vm


def register(app: AsyncApp, desk: Desk) -> None:
    """Register every form."""
    for one in (paste, wrong_vm, back_up, restart):
        one.register(app, desk)


def complaint(payload: Json) -> Json | None:
    """Return what a form that cannot be used is answered with; None for one that can."""
    if payload.get("type") != "view_submission":
        return None
    return paste.complaint(payload["view"]) or restart.complaint(payload["view"])
