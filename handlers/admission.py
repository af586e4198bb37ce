"""Whom the bot answers: members of its workspace. Everybody else is told why not, privately."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable

from slack_bolt.async_app import AsyncApp
from slack_bolt.response import BoltResponse

from bot.chat import threads
from bot.chat.asker import Asker
from bot.chat.desk import Desk
from bot.reports.slack.home import closed_to
from handlers.payloads import Json, asker_of, is_for

_LOG = logging.getLogger(__name__)


def register(app: AsyncApp, desk: Desk) -> None:
    """Refuse guests, other workspaces, bots and deactivated accounts before any listener runs."""

    @app.middleware
    async def admit(body: Json, next: Callable[[], Awaitable[None]]) -> BoltResponse | None:  # noqa: A002 - Bolt's name
        event: Json = body.get("event") or {}
        if not is_for(desk.identity.team, body):
            _LOG.warning(
                "an event of workspace %s was dropped: the bot token is for %s alone; take the app "
                "out of the other one, or run a bot there",
                body.get("team_id") or "unknown", desk.identity.team,
            )  # fmt: skip
            return BoltResponse(status=200)
        asker = asker_of(_kind(body), body)
        if event.get("bot_id") or not asker.user or asker.user == desk.identity.user:
            return BoltResponse(status=200)
        why = await desk.people.refusal(asker.user, asker.team)
        if not why:
            await next()
            return None
        _LOG.info("%s of team %s was refused", asker.user, asker.team or "unknown")
        if event.get("type") == "app_home_opened":
            # a message at each opening would pile up
            await desk.chat.publish_home(asker.user, closed_to(why))
        elif asker.channel and await _meant_us(desk, asker, event):
            await desk.explain(asker, why, next_step="A member of the workspace can ask me.")
        return BoltResponse(status=200)


async def _meant_us(desk: Desk, asker: Asker, event: Json) -> bool:
    """Tell whether somebody spoke to us: what is only overheard counts in threads of ours alone."""
    if event.get("type") == "file_shared":
        return await threads.was_shared_with_us(desk, asker, str(event.get("file_id", "")))
    if event.get("type") == "message" and event.get("channel_type") != "im":
        return await desk.incident_in(asker.channel, asker.thread) is not None
    return True


def _kind(body: Json) -> str:
    if "event" in body:
        return "events_api"
    return "slash_commands" if "command" in body else "interactive"
