"""`files.*`: an upload is asked for, sent to its own URL, and then completed."""

from __future__ import annotations

import mimetypes
import secrets
from pathlib import PurePosixPath

from playground.slack.api.call import Call
from playground.slack.errors import SlackRefusal, with_messages
from playground.slack.kit.rules import Json
from playground.slack.model import Channel, File, Message
from playground.slack.posting import by_bot, list_of, post, thread_of
from playground.slack.show import file_json
from playground.slack.workspace import APP_ID, BOT_ID, BOT_USER, Workspace

#: docs.slack.dev/reference/methods/files.getUploadURLExternal
SNIPPET_MOST = 1_000_000
ALT_TEXT_MOST = 1000
#: docs.slack.dev/messaging/working-with-files
FILE_MOST = 1024**3
#: docs.slack.dev/reference/methods/files.completeUploadExternal
CHANNELS_MOST = 100

_TEXT_TYPES = {"log": "text", "out": "text", "err": "text", "txt": "text"}


def get_upload_url(call: Call) -> Json:
    """Return where a file's bytes are to be sent."""
    name = call.need("filename")
    try:
        length = int(call.text("length") or 0)
    except ValueError:
        raise with_messages("invalid_arguments", ["length must be an integer"]) from None
    if length < 1:
        raise SlackRefusal("missing_argument")
    if length > FILE_MOST:
        raise SlackRefusal("file_upload_size_restricted")
    if call.text("snippet_type") and length > SNIPPET_MOST:
        raise SlackRefusal("snippet_too_large")
    if len(call.text("alt_txt")) > ALT_TEXT_MOST:
        raise SlackRefusal("alt_txt_too_large")
    file = new_file(call.world, name, length)
    file.user, file.alt_text = BOT_USER, call.text("alt_txt")
    file.snippet = bool(call.text("snippet_type"))
    key = secrets.token_urlsafe(24)
    call.world.uploads[key] = file.id
    return {"upload_url": f"{call.world.base_url}/upload/v1/{key}", "file_id": file.id}


def new_file(world: Workspace, name: str, size: int) -> File:
    """Add a file of a name, whose ending tells its type."""
    ending = PurePosixPath(name).suffix.removeprefix(".").lower()
    guess = mimetypes.guess_type(name)[0]
    kind = _TEXT_TYPES.get(ending) or ending or "binary"
    file = File(
        id=world.new_id("F"),
        name=name,
        title=name,
        size=size,
        created=world.seconds(),
        filetype=kind,
        mimetype="text/plain" if kind == "text" else guess or "application/octet-stream",
    )
    world.files[file.id] = file
    return file


def complete_upload(call: Call) -> Json:
    """Finish uploads and share them, all in one message for each channel."""
    asked = list_of(call.args.get("files"), "invalid_arguments")
    files = [_uploaded(call, one) for one in asked]
    if not files:
        raise with_messages("invalid_arguments", ["missing required field: files"])
    channels = [_channel(call, one) for one in _wanted(call)]
    messages = [_message(call, channel, files) for channel in channels]
    for channel in channels:
        call.rates.message(channel.id)
    for file in files:
        file.completed = True
    for message in messages:
        post(call.world, message)
    return {"files": [file_json(call.world, file, shares=False) for file in files]}


def _uploaded(call: Call, asked: Json) -> File:
    file = call.world.files.get(str(asked.get("id")))
    if file is None or not file.uploaded or file.completed:
        raise SlackRefusal("file_not_found")
    file.title = str(asked.get("title") or file.title)
    return file


def _wanted(call: Call) -> list[str]:
    listed = [one for one in call.text("channels").split(",") if one]
    wanted = [call.text("channel_id")] if call.text("channel_id") else listed
    if len(wanted) > CHANNELS_MOST:
        raise SlackRefusal("channels_limit_exceeded")
    return wanted


def _channel(call: Call, wanted: str) -> Channel:
    found = call.world.channels.get(wanted)
    if found is None or (found.kind != "public" and BOT_USER not in found.members):
        raise SlackRefusal("channel_not_found")
    if BOT_USER not in found.members:
        raise SlackRefusal("not_in_channel")
    if found.archived or found.restricted:
        raise SlackRefusal("posting_to_channel_denied")
    return found


def _message(call: Call, channel: Channel, files: list[File]) -> Message:
    ids = [file.id for file in files]
    said = {"text": call.text("initial_comment"), "blocks": call.args.get("blocks")}
    if any(said.values()):
        message = by_bot(call.world, channel.id, said, files=ids)
    else:
        message = Message(
            ts=call.world.new_ts(), channel=channel.id, user=BOT_USER, bot_id=BOT_ID,
            app_id=APP_ID, files=ids,
        )  # fmt: skip
    if call.text("thread_ts"):
        message.thread_ts = thread_of(channel, call.text("thread_ts"))
    return message


def info(call: Call) -> Json:
    """Return one file, with the messages that hold it."""
    file = call.world.files.get(call.need("file"))
    if file is None or not file.completed:
        raise SlackRefusal("file_not_found")
    if file.deleted:
        raise SlackRefusal("file_deleted")
    if not _visible(call.world, file):
        raise SlackRefusal("not_visible")
    shown = {"file": file_json(call.world, file), "comments": []}
    return shown | {"response_metadata": {"next_cursor": ""}}


def _visible(world: Workspace, file: File) -> bool:
    channels = [world.channels[one] for one in file.shares]
    return (
        file.given_to_app
        or file.user == BOT_USER
        or any(one.kind == "public" or BOT_USER in one.members for one in channels)
    )
