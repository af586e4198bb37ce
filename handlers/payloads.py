"""Read Slack's payloads: who asks, where, and with which addresses. Pure.

https://docs.slack.dev/reference/interaction-payloads
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bot.chat.asker import Asker

Json = Mapping[str, Any]


def asker_of(kind: str, body: Json) -> Asker:
    """Return who asks, whatever was delivered."""
    return {"slash_commands": of_command, "events_api": of_event}.get(kind, of_click)(body)


def of_command(body: Json) -> Asker:
    """Return who used the slash command."""
    return Asker(
        user=str(body["user_id"]),
        team=str(body.get("team_id", "")),
        channel=str(body["channel_id"]),
        response_url=str(body.get("response_url", "")),
        trigger=str(body.get("trigger_id", "")),
        wrote=str(body.get("text", "")),
    )


def of_event(body: Json) -> Asker:
    """Return who an event is of; what they wrote is answered in its thread."""
    event: Json = body.get("event", {})
    return Asker(
        user=str(event.get("user") or event.get("user_id") or ""),
        team=str(event.get("user_team") or event.get("team") or body.get("team_id") or ""),
        channel=str(event.get("channel") or event.get("channel_id") or ""),
        thread=str(event.get("thread_ts") or event.get("ts") or ""),
    )


def of_click(body: Json) -> Asker:
    """Return who pressed, chose, submitted or took a shortcut.

    A click on what one person sees carries no message, only the address for an answer.
    """
    container: Json = body.get("container") or {}
    message: Json = body.get("message") or {}
    user: Json = body.get("user") or {}
    channel = (body.get("channel") or {}).get("id") or container.get("channel_id") or ""
    thread = message.get("thread_ts") or container.get("thread_ts")
    return Asker(
        user=str(user.get("id", "")),
        team=str(user.get("team_id") or (body.get("team") or {}).get("id", "")),
        channel=str(channel),
        thread=str(thread or message.get("ts") or container.get("message_ts") or ""),
        response_url=str(body.get("response_url", "")),
        trigger=str(body.get("trigger_id", "")),
    )


def is_for(team: str, body: Json) -> bool:
    """Tell whether an event was delivered for a workspace; clicks and commands say who clicked.

    In shared channels an event's own `team_id` may be the other side's: `authorizations` names the
    installation (https://docs.slack.dev/apis/events-api, "Event authorizations").
    """
    if "event" not in body:
        return True
    told = body.get("authorizations") or ()
    if any(one.get("is_enterprise_install") for one in told):
        return True
    teams = {one.get("team_id") for one in told} or {
        body.get("team_id"),
        body.get("context_team_id"),
    }
    return team in teams


def file_ids(message: Json) -> tuple[str, ...]:
    """Return the ids of a message's files."""
    return tuple(str(one["id"]) for one in message.get("files") or () if one.get("id"))
