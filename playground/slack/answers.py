"""What apps answer with: in an acknowledgement, or to a `response_url`.

Source: docs.slack.dev/interactivity/handling-user-interaction and …/implementing-slash-commands.
"""

from __future__ import annotations

from playground.slack.errors import SlackRefusal
from playground.slack.kit.rules import Json
from playground.slack.model import Message, ResponseUrl
from playground.slack.posting import by_bot, edit, post, remove, tell_reader
from playground.slack.workspace import Workspace

#: Uses of one `response_url`.
USES_MOST = 5


def respond(world: Workspace, key: str, body: Json) -> None:
    """Do what an app asks of a `response_url`.

    Raises SlackRefusal: `used_url` after five uses, `expired_url` after half an hour or for one
    that never was, and what a message may be refused for.
    """
    url = world.response_urls.get(key)
    if url is None or world.clock.now() > url.expires:
        raise SlackRefusal("expired_url")
    if url.uses >= USES_MOST:
        raise SlackRefusal("used_url")
    if body.get("delete_original"):
        _delete(world, url)
    elif body.get("replace_original"):
        _replace(world, url, body)
    else:
        say(world, url, body)
    url.uses += 1


def say(world: Workspace, url: ResponseUrl, body: Json) -> Message:
    """Post an answer: for everybody if it says `in_channel`, else for the person alone.

    The bot need not be in the channel. Raises SlackRefusal like chat.postMessage.
    """
    everybody = body.get("response_type") == "in_channel"
    message = by_bot(world, url.channel, body, only_for="" if everybody else url.user)
    thread = str(body.get("thread_ts") or "")
    if thread in world.channels[url.channel].messages:
        message.thread_ts = thread
    return post(world, message)


def _original(world: Workspace, url: ResponseUrl) -> Message:
    message = url.ephemeral or world.channels[url.channel].messages.get(url.message)
    if message is None:
        raise SlackRefusal("message_not_found")
    return message


def _replace(world: Workspace, url: ResponseUrl, body: Json) -> None:
    edit(world, _original(world, url), body)


def _delete(world: Workspace, url: ResponseUrl) -> None:
    message = _original(world, url)
    if message.only_for:
        world.channels[url.channel].ephemeral.remove(message)
        tell_reader(world, message)
    else:
        remove(world, message)
