"""Put messages into channels, change and take them away, and tell the app of it."""

from __future__ import annotations

import json
from typing import Any

from playground.slack.errors import SlackRefusal, with_messages
from playground.slack.kit.payload import judge_blocks, several_tables, too_long, with_ids
from playground.slack.kit.rules import Json
from playground.slack.model import Channel, Message
from playground.slack.pictures import judge_pictures
from playground.slack.show import message_json
from playground.slack.workspace import APP_ID, BOT_ID, BOT_USER, Workspace

#: The text of a message (docs.slack.dev/reference/methods/chat.update: «cannot exceed 4,000»).
#: The page of chat.postMessage still speaks of 40,000, yet apps see the error from about here on.
TEXT_MOST = 4000
#: docs.slack.dev/reference/methods/chat.postMessage, `markdown_text` and `too_many_attachments`
MARKDOWN_TEXT_MOST = 12_000
ATTACHMENTS_MOST = 100
#: docs.slack.dev/messaging/message-metadata: the payload as JSON
METADATA_MOST = 16_000

_KINDS = {"public": "message.channels", "private": "message.groups", "im": "message.im"}
_CHANNEL_TYPES = {"public": "channel", "private": "group", "im": "im"}


def list_of(value: object, code: str) -> list[Json]:
    """Return an array that may have come as JSON text; refuse everything else."""
    if isinstance(value, str):
        try:
            value = json.loads(value) if value else []
        except ValueError:
            raise SlackRefusal(code) from None
    if value is None:
        return []
    if not isinstance(value, list) or not all(isinstance(one, dict) for one in value):
        raise SlackRefusal(code)
    return value


def content(args: Json) -> Json:
    """Judge what a message is to hold and return it: text, blocks, attachments, metadata.

    Raises SlackRefusal with one of the errors on the page of chat.postMessage.
    """
    text = str(args.get("text") or "")
    markdown = str(args.get("markdown_text") or "")
    blocks = list_of(args.get("blocks"), "invalid_blocks_format")
    attachments = list_of(args.get("attachments"), "invalid_attachments")
    if markdown and (text or blocks):
        raise SlackRefusal("markdown_text_conflict")
    if len(text) > TEXT_MOST or len(markdown) > MARKDOWN_TEXT_MOST:
        raise SlackRefusal("msg_too_long")
    if wrong := judge_blocks(blocks):
        raise with_messages("invalid_blocks", wrong)
    if several_tables(blocks):
        raise with_messages("invalid_attachments", ["only_one_table_allowed"])
    if too_long(blocks):
        raise SlackRefusal("msg_blocks_too_long")
    _judge_attachments(attachments)
    if not (text or markdown or blocks or attachments):
        raise SlackRefusal("no_text")
    return {
        "text": text or markdown,
        "blocks": with_ids(blocks),
        "attachments": attachments,
        "metadata": _metadata(args.get("metadata")),
    }


def _judge_attachments(attachments: list[Json]) -> None:
    if len(attachments) > ATTACHMENTS_MOST:
        raise SlackRefusal("too_many_attachments")
    for place, one in enumerate(attachments):
        if wrong := judge_blocks(one.get("blocks", []), f"/attachments/{place}/blocks"):
            raise with_messages("invalid_attachments", wrong)


def _metadata(value: Any) -> Json | None:  # noqa: ANN401 # what an argument may be
    if isinstance(value, str) and value:
        try:
            value = json.loads(value)
        except ValueError:
            raise SlackRefusal("invalid_metadata_format") from None
    if not value:
        return None
    if not isinstance(value, dict) or not isinstance(value.get("event_type"), str):
        raise SlackRefusal("invalid_metadata_schema")
    if not isinstance(value.get("event_payload"), dict):
        raise SlackRefusal("invalid_metadata_schema")
    if len(json.dumps(value)) > METADATA_MOST:
        raise SlackRefusal("metadata_too_large")
    return value


def thread_of(channel: Channel, thread_ts: str) -> str:
    """Return the parent's ts of a thread named by any of its messages.

    Raises SlackRefusal with `thread_not_found` where no such message is.
    """
    parent = channel.messages.get(thread_ts)
    if parent is None:
        raise SlackRefusal("thread_not_found")
    return parent.thread_ts or parent.ts


def by_bot(world: Workspace, channel: str, args: Json, **more: Any) -> Message:  # noqa: ANN401
    """Return a message of the app's, not posted yet."""
    held = content(args)
    judge_pictures(world, held["blocks"])
    return Message(
        ts=world.new_ts(),
        channel=channel,
        user=BOT_USER,
        bot_id=BOT_ID,
        app_id=APP_ID,
        **held,
        **more,
    )


def post(world: Workspace, message: Message) -> Message:
    """Show a message to a channel, or to the one person it is for."""
    channel = world.channels[message.channel]
    if message.only_for:
        channel.ephemeral.append(message)
        tell_reader(world, message)
        return message
    if message.thread_ts:
        channel.messages[message.thread_ts].thread_ts = message.thread_ts
        channel.threads.setdefault(message.thread_ts, []).append(message)
    channel.messages[message.ts] = message
    for one in message.files:
        world.files[one].shares.setdefault(channel.id, []).append(message)
    world.feed.tell("message", channel=channel.id, ts=message.ts)
    _tell_app(world, channel, message)
    return message


def tell_reader(world: Workspace, message: Message) -> None:
    """Tell the page that something for one person's eyes has changed."""
    world.feed.tell("ephemeral", channel=message.channel, ts=message.ts, user=message.only_for)


def _tell_app(world: Workspace, channel: Channel, message: Message) -> None:
    event = message_json(world, message) | {
        "channel": channel.id,
        "event_ts": message.ts,
        "channel_type": _CHANNEL_TYPES[channel.kind],
    }
    if BOT_USER not in channel.members:
        return
    world.emit(_KINDS[channel.kind], event)
    mentioned = f"<@{BOT_USER}>" in message.text and message.user != BOT_USER
    if mentioned and channel.kind != "im":
        world.emit("app_mention", event | {"type": "app_mention"})
    for one in message.files:
        shared = {
            "type": "file_shared",
            "file_id": one,
            "user_id": message.user,
            "file": {"id": one},
            "channel_id": channel.id,
            "event_ts": message.ts,
        }
        world.emit("file_shared", shared)


def edit(world: Workspace, message: Message, args: Json) -> None:
    """Change what a message holds; what is not given goes, but for the metadata."""
    before = message_json(world, message)
    new = content(args)
    judge_pictures(world, new["blocks"])
    message.text, message.blocks = new["text"], new["blocks"]
    message.attachments = new["attachments"]
    message.metadata = new["metadata"] or message.metadata
    message.edited = {"user": message.user, "ts": world.new_ts()}
    if message.only_for:
        # Slack does not keep what one person alone was shown: there is no event for it.
        tell_reader(world, message)
        return
    world.feed.tell("message", channel=message.channel, ts=message.ts)
    changed = {"message": message_json(world, message), "previous_message": before}
    _tell_changed(world, message, "message_changed", changed)


def remove(world: Workspace, message: Message) -> None:
    """Take a message away; the replies of a parent stay."""
    channel = world.channels[message.channel]
    before = message_json(world, message)
    del channel.messages[message.ts]
    if message in channel.threads.get(message.thread_ts, []):
        channel.threads[message.thread_ts].remove(message)
    world.feed.tell("message", channel=channel.id, ts=message.ts)
    gone = {"deleted_ts": message.ts, "previous_message": before}
    _tell_changed(world, message, "message_deleted", gone)


def _tell_changed(world: Workspace, message: Message, subtype: str, more: Json) -> None:
    channel = world.channels[message.channel]
    if BOT_USER in channel.members:
        event = {
            "type": "message",
            "subtype": subtype,
            "channel": channel.id,
            "ts": world.new_ts(),
            "event_ts": world.new_ts(),
            "hidden": True,
            "channel_type": _CHANNEL_TYPES[channel.kind],
        }
        world.emit(_KINDS[channel.kind], event | more)
