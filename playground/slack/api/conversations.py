"""`conversations.*`."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from typing import TypeVar

from playground.slack.api.call import Call
from playground.slack.errors import SlackRefusal
from playground.slack.kit.rules import Json
from playground.slack.model import Channel, Message
from playground.slack.show import channel_json, message_json
from playground.slack.workspace import BOT_USER

_T = TypeVar("_T")

#: What each page says of `limit`: what it is if not given, and the most there may be.
_HISTORY = (100, 999)
_LISTS = (100, 999)
_REPLIES = (1000, 1000)
#: `conversations.open`: at most so many people
_OPEN_MOST = 8

_KINDS = {"public_channel": "public", "private_channel": "private", "im": "im", "mpim": "mpim"}
_SCOPES = {
    "public_channel": "channels:read",
    "private_channel": "groups:read",
    "im": "im:read",
    "mpim": "mpim:read",
}


def info(call: Call) -> Json:
    """Return one channel."""
    return {"channel": channel_json(call.world, call.channel("read"))}


def history(call: Call) -> Json:
    """Return a channel's messages, newest first, without the replies."""
    channel = call.channel("history")
    if BOT_USER not in channel.members:
        raise SlackRefusal("not_in_channel")
    messages = [
        one
        for one in channel.messages.values()
        if not one.thread_ts or one.thread_ts == one.ts or one.broadcast
    ]
    chosen = [one for one in reversed(messages) if _within(call, one)]
    return _page(call, chosen, *_HISTORY) | {"pin_count": 0}


def replies(call: Call) -> Json:
    """Return a thread, its parent first."""
    channel = call.channel("history")
    if BOT_USER not in channel.members:
        raise SlackRefusal("not_in_channel")
    parent = channel.messages.get(call.need("ts"))
    if parent is None:
        raise SlackRefusal("thread_not_found")
    chosen = [one for one in channel.replies(parent.ts) if _within(call, one)]
    return _page(call, [parent, *chosen], *_REPLIES)


def listed(call: Call) -> Json:
    """Return the channels of the asked kinds that the app may see."""
    types = (call.text("types") or "public_channel").split(",")
    if not set(types) <= set(_KINDS):
        raise SlackRefusal("invalid_types")
    for one in types:
        call.want(_SCOPES[one])
    kinds = {_KINDS[one] for one in types}
    found = [
        one
        for one in call.world.channels.values()
        if one.kind in kinds
        and (one.kind == "public" or BOT_USER in one.members)
        and not (one.archived and call.flag("exclude_archived"))
    ]
    chosen, cursor = _slice(call, found, *_LISTS)
    shown = [channel_json(call.world, one) for one in chosen]
    return {"channels": shown, "response_metadata": {"next_cursor": cursor}}


def members(call: Call) -> Json:
    """Return the ids of a channel's members."""
    chosen, cursor = _slice(call, call.channel("read").members, *_LISTS)
    return {"members": list(chosen), "response_metadata": {"next_cursor": cursor}}


def opened(call: Call) -> Json:
    """Return the direct messages with a person."""
    if call.text("channel"):
        return {"channel": {"id": _direct(call).id}}
    users = [one for one in call.text("users").split(",") if one]
    if not users:
        raise SlackRefusal("users_list_not_supplied")
    if len(users) > _OPEN_MOST:
        raise SlackRefusal("too_many_users")
    if not set(users) <= set(call.world.people):
        raise SlackRefusal("user_not_found")
    if len(users) > 1:
        call.want("mpim:write")
        raise SlackRefusal("method_not_supported_for_channel_type")
    call.want("im:write")
    if call.world.people[users[0]].deleted:
        raise SlackRefusal("user_disabled")
    channel = call.world.direct(users[0])
    return {"channel": {"id": channel.id}}


def _direct(call: Call) -> Channel:
    found = call.world.channels.get(call.text("channel"))
    if found is None or BOT_USER not in found.members:
        raise SlackRefusal("channel_not_found")
    if found.kind != "im":
        raise SlackRefusal("method_not_supported_for_channel_type")
    return found


def join(call: Call) -> Json:
    """Make the bot a member of a public channel."""
    found = call.world.channels.get(call.need("channel"))
    if found is None or (found.kind == "private" and BOT_USER not in found.members):
        raise SlackRefusal("channel_not_found")
    if found.kind != "public":
        raise SlackRefusal("method_not_supported_for_channel_type")
    if found.archived:
        raise SlackRefusal("is_archived")
    if BOT_USER in found.members:
        return {"channel": channel_json(call.world, found), "warning": "already_in_channel"}
    found.members.append(BOT_USER)
    call.world.feed.tell("channel", channel=found.id)
    return {"channel": channel_json(call.world, found)}


def _within(call: Call, message: Message) -> bool:
    """Tell whether a message is between `oldest` and `latest`, ends counted if `inclusive`."""
    ts = float(message.ts)
    oldest, latest = _time(call, "oldest"), _time(call, "latest")
    if call.flag("inclusive"):
        return (oldest is None or ts >= oldest) and (latest is None or ts <= latest)
    return (oldest is None or ts > oldest) and (latest is None or ts < latest)


def _time(call: Call, name: str) -> float | None:
    given = call.text(name)
    if given in ("", "0"):
        return None
    try:
        return float(given)
    except ValueError:
        raise SlackRefusal(f"invalid_ts_{name}") from None


def _page(call: Call, messages: Sequence[Message], default: int, most: int) -> Json:
    chosen, cursor = _slice(call, messages, default, most)
    metadata = call.flag("include_all_metadata")
    answer: Json = {
        "messages": [message_json(call.world, one, metadata=metadata) for one in chosen],
        "has_more": bool(cursor),
    }
    return answer | ({"response_metadata": {"next_cursor": cursor}} if cursor else {})


def _slice(call: Call, items: Sequence[_T], default: int, most: int) -> tuple[Sequence[_T], str]:
    first = 0
    if given := call.text("cursor"):
        try:
            first = int(base64.b64decode(given, validate=True).decode().removeprefix("next:"))
        except ValueError:
            raise SlackRefusal("invalid_cursor") from None
    end = first + call.number("limit", default, most)
    cursor = base64.b64encode(f"next:{end}".encode()).decode() if end < len(items) else ""
    return items[first:end], cursor
