"""What a person sees, as JSON for the page."""

from __future__ import annotations

from playground.slack.clicking import current
from playground.slack.kit.rules import Json
from playground.slack.model import Channel, Message, Person, View
from playground.slack.page import markdown
from playground.slack.show import message_json
from playground.slack.workspace import BOT_USER, Workspace


def state_json(world: Workspace, person: Person) -> Json:
    """Return everything that a person sees now, without the messages."""
    return {
        "n": world.feed.number,
        "me": _person(person),
        "app": {
            "name": world.app.name,
            "bot_user": BOT_USER,
            "commands": list(world.app.commands),
            "shortcuts": [
                {"callback_id": one, "type": kind, "name": world.app.shortcut_name(one)}
                for one, kind in world.app.shortcuts
            ],
            "home_tab": world.app.home_tab,
        },
        "people": [_person(one) for one in world.people.values()],
        "groups": [
            {"id": one.id, "handle": one.handle, "users": one.users}
            for one in world.groups.values()
        ],
        "channels": [_channel(one) for one in world.channels.values() if person.id in one.members],
        "modal": [_view(world.views[one]) for one in world.modals.get(person.id, [])],
        "home": _home(world, person),
    }


def _home(world: Workspace, person: Person) -> Json | None:
    view = world.views.get(world.homes.get(person.id, ""))
    return _view(view) if view else None


def _person(person: Person) -> Json:
    return {
        "id": person.id,
        "name": person.name,
        "real_name": person.real_name,
        "title": person.title,
        "bot": bool(person.bot_id),
        "guest": person.restricted or person.ultra_restricted,
        "stranger": person.stranger,
        "deleted": person.deleted,
    }


def _channel(channel: Channel) -> Json:
    return {
        "id": channel.id,
        "name": channel.name,
        "kind": channel.kind,
        "topic": channel.topic,
        "archived": channel.archived,
        "members": channel.members,
    }


def _view(view: View) -> Json:
    """Return a view with what is in its fields and what is said under them."""
    values = current(view.payload["blocks"], view.values)
    return view.shown() | {"state": {"values": values}, "errors": view.errors}


def messages_json(world: Workspace, channel: Channel, person: Person) -> list[Json]:
    """Return all messages of a channel that a person sees, threads and all, oldest first."""
    own = [one for one in channel.ephemeral if one.only_for == person.id]
    both = sorted([*channel.messages.values(), *own], key=lambda one: float(one.ts))
    return [_message(world, one, person) for one in both]


def _message(world: Workspace, message: Message, person: Person) -> Json:
    return message_json(world, message) | {
        "ephemeral": bool(message.only_for),
        "broadcast": message.broadcast,
        "values": message.values.get(person.id, {}),
        "markdown": {
            block["block_id"]: markdown.tree(block["text"])
            for block in message.blocks
            if block["type"] == "markdown"
        },
    }
