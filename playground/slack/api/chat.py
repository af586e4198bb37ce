"""`chat.*` and `reactions.*`."""

from __future__ import annotations

import re

from playground.slack.api.call import Call
from playground.slack.errors import SlackRefusal
from playground.slack.kit.rules import Json
from playground.slack.model import Channel, Message
from playground.slack.posting import by_bot, edit, post, remove, thread_of
from playground.slack.show import message_json, permalink
from playground.slack.workspace import BOT_ID, BOT_USER


def post_message(call: Call) -> Json:
    """Post to a channel, or as a reply."""
    channel = call.where()
    if any(call.text(name) for name in ("username", "icon_emoji", "icon_url")):
        call.want("chat:write.customize")
    message = by_bot(call.world, channel.id, call.args)
    if call.text("thread_ts"):
        message.thread_ts = thread_of(channel, call.text("thread_ts"))
        message.broadcast = call.flag("reply_broadcast")
    call.rates.message(channel.id)
    post(call.world, message)
    return {
        "channel": channel.id,
        "ts": message.ts,
        "message": message_json(call.world, message, metadata=True),
    }


def post_ephemeral(call: Call) -> Json:
    """Post for one member's eyes."""
    channel = call.where()
    user = call.need("user")
    if user not in channel.members:
        raise SlackRefusal("user_not_in_channel")
    message = by_bot(call.world, channel.id, call.args, only_for=user)
    message.thread_ts = call.text("thread_ts")
    post(call.world, message)
    return {"message_ts": message.ts}


def update(call: Call) -> Json:
    """Change one of the app's messages."""
    channel = _seen(call)
    if channel.archived:
        raise SlackRefusal("is_inactive")
    message = _message(channel, call.need("ts"))
    if message.bot_id != BOT_ID:
        raise SlackRefusal("cant_update_message")
    edit(call.world, message, call.args)
    return {
        "channel": channel.id,
        "ts": message.ts,
        "text": message.text,
        "message": message_json(call.world, message, metadata=True),
    }


def delete(call: Call) -> Json:
    """Take one of the app's messages away."""
    channel = _seen(call)
    message = _message(channel, call.need("ts"))
    if message.bot_id != BOT_ID:
        raise SlackRefusal("cant_delete_message")
    remove(call.world, message)
    return {"channel": channel.id, "ts": message.ts}


def get_permalink(call: Call) -> Json:
    """Return the address of a message in Slack's client."""
    channel = _seen(call)
    message = _message(channel, call.need("message_ts"))
    return {"channel": channel.id, "permalink": permalink(channel.id, message)}


def add_reaction(call: Call) -> Json:
    """Put an emoji on a message."""
    channel = _seen(call)
    if channel.archived:
        raise SlackRefusal("is_archived")
    if not re.fullmatch(r"[a-z0-9_+'-]{1,100}", call.need("name")):
        raise SlackRefusal("invalid_name")
    if not call.text("timestamp"):
        raise SlackRefusal("no_item_specified")
    if not re.fullmatch(r"\d+\.\d{6}", call.text("timestamp")):
        raise SlackRefusal("bad_timestamp")
    message = _message(channel, call.text("timestamp"))
    users = message.reactions.setdefault(call.text("name"), [])
    if BOT_USER in users:
        raise SlackRefusal("already_reacted")
    users.append(BOT_USER)
    call.world.feed.tell("message", channel=channel.id, ts=message.ts)
    return {}


def _seen(call: Call) -> Channel:
    found = call.world.channels.get(call.need("channel"))
    if found is None or (found.kind != "public" and BOT_USER not in found.members):
        raise SlackRefusal("channel_not_found")
    return found


def _message(channel: Channel, ts: str) -> Message:
    message = channel.messages.get(ts)
    if message is None:
        raise SlackRefusal("message_not_found")
    return message
