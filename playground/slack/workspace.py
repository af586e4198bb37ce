"""Everything that the workspace knows, and how it is found."""

from __future__ import annotations

import itertools
import secrets
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta

from playground.slack.app import AppConfig
from playground.slack.clock import Clock
from playground.slack.feed import Feed
from playground.slack.kit.rules import Json
from playground.slack.model import (
    Channel,
    File,
    Message,
    Person,
    ResponseUrl,
    Token,
    Trigger,
    UserGroup,
    View,
)

#: A `trigger_id` lives so long, and a `response_url` so long
#: (docs.slack.dev/interactivity/handling-user-interaction).
TRIGGER_LIVES = timedelta(seconds=3)
RESPONSE_URL_LIVES = timedelta(minutes=30)

TEAM = "T0PLAY0001"
DOMAIN = "playground"
APP_ID = "A0PLAY0001"
BOT_USER = "U0PLAYBOT1"
BOT_ID = "B0PLAY0001"


def _ignore(name: str, event: Json) -> None:
    del name, event


@dataclass(frozen=True, kw_only=True, slots=True)
class Called:
    """One call of the Web API."""

    method: str
    args: Json
    #: the answer's error; empty is success
    error: str = ""


@dataclass(kw_only=True)
class Workspace:
    """One workspace with one app installed."""

    clock: Clock
    app: AppConfig
    base_url: str = ""
    #: the real-time address, same port
    socket_url: str = ""
    people: dict[str, Person] = field(default_factory=dict)
    channels: dict[str, Channel] = field(default_factory=dict)
    files: dict[str, File] = field(default_factory=dict)
    views: dict[str, View] = field(default_factory=dict)
    #: user → ids of the views of the open modal, the visible one last
    modals: dict[str, list[str]] = field(default_factory=dict)
    #: user → id of the Home tab's view
    homes: dict[str, str] = field(default_factory=dict)
    groups: dict[str, UserGroup] = field(default_factory=dict)
    tokens: dict[str, Token] = field(default_factory=dict)
    triggers: dict[str, Trigger] = field(default_factory=dict)
    response_urls: dict[str, ResponseUrl] = field(default_factory=dict)
    #: key in an upload's URL → file
    uploads: dict[str, str] = field(default_factory=dict)
    called: list[Called] = field(default_factory=list)
    feed: Feed = field(default_factory=Feed)
    #: takes an event for the app, by its name in a manifest
    emit: Callable[[str, Json], None] = _ignore
    _numbers: itertools.count[int] = field(default_factory=lambda: itertools.count(1))
    _last: int = 0

    @property
    def bot(self) -> Person:
        """Return the app's bot user."""
        return self.people[BOT_USER]

    def new_id(self, letter: str) -> str:
        """Return an id that no other thing has."""
        return f"{letter}0PLAY{next(self._numbers):05d}"

    def new_ts(self) -> str:
        """Return a message's ts: the time, and never the same twice."""
        now = round(self.clock.now().timestamp() * 1_000_000)
        self._last = max(now, self._last + 1)
        return f"{self._last // 1_000_000}.{self._last % 1_000_000:06d}"

    def seconds(self) -> int:
        """Return the time in whole seconds since 1970."""
        return int(self.clock.now().timestamp())

    def person(self, wanted: str) -> Person | None:
        """Return a person by id or name."""
        return self.people.get(wanted) or next(
            (one for one in self.people.values() if one.name == wanted), None
        )

    def channel(self, wanted: str) -> Channel | None:
        """Return a channel by id, or by name with or without `#`."""
        name = wanted.removeprefix("#")
        return self.channels.get(wanted) or next(
            (one for one in self.channels.values() if one.name == name != ""), None
        )

    def direct(self, user: str) -> Channel:
        """Return the direct messages of a person and the bot."""
        for one in self.channels.values():
            if one.kind == "im" and set(one.members) == {user, BOT_USER}:
                return one
        channel = Channel(
            id=self.new_id("D"), kind="im", created=self.seconds(), members=[user, BOT_USER]
        )
        self.channels[channel.id] = channel
        return channel

    def message(self, channel: str, ts: str, reader: str = "") -> Message | None:
        """Return a message; one for a reader's eyes alone only to them."""
        found = self.channels.get(channel)
        if found is None:
            return None
        return found.messages.get(ts) or next(
            (one for one in found.ephemeral if one.ts == ts and one.only_for == reader), None
        )

    def new_trigger(self, user: str, *, view: str = "") -> str:
        """Return a `trigger_id` for what a person has just done."""
        number = next(self._numbers)
        trigger = Trigger(
            id=f"{number}.{self.seconds()}.{secrets.token_hex(16)}",
            user=user,
            expires=self.clock.now() + TRIGGER_LIVES,
            view=view,
        )
        self.triggers[trigger.id] = trigger
        return trigger.id

    def new_response_url(self, user: str, channel: str, *, message: Message | None = None) -> str:
        """Return a `response_url` for what a person has just done."""
        key = secrets.token_urlsafe(18)
        self.response_urls[key] = ResponseUrl(
            key=key,
            user=user,
            channel=channel,
            expires=self.clock.now() + RESPONSE_URL_LIVES,
            message=message.ts if message and not message.only_for else "",
            ephemeral=message if message and message.only_for else None,
        )
        return f"{self.base_url}/actions/{TEAM}/{key}"

    def visible_view(self, user: str) -> View | None:
        """Return the view that a person sees in the open modal."""
        stack = self.modals.get(user)
        return self.views[stack[-1]] if stack else None
