"""The things of a workspace, and how Slack's answers show them."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime

from playground.slack.kit.rules import Json


@dataclass(kw_only=True)
class Person:
    """Somebody with an account, or a bot's user."""

    id: str
    name: str
    real_name: str
    team: str
    email: str = ""
    title: str = ""
    admin: bool = False
    #: guests: of several channels, or of one alone
    restricted: bool = False
    ultra_restricted: bool = False
    #: from another workspace, known by a shared channel
    stranger: bool = False
    deleted: bool = False
    #: only bots have these
    bot_id: str = ""
    app_id: str = ""

    def shown(self, *, email: bool) -> Json:
        """Return it as a user object; the address only to tokens with `users:read.email`."""
        profile = {"real_name": self.real_name, "display_name": self.name, "title": self.title}
        if email and self.email:
            profile["email"] = self.email
        if self.bot_id:
            profile |= {"bot_id": self.bot_id, "api_app_id": self.app_id}
        return {
            "id": self.id,
            "team_id": self.team,
            "name": self.name,
            "real_name": self.real_name,
            "deleted": self.deleted,
            "tz": "Etc/UTC",
            "tz_offset": 0,
            "profile": profile,
            "is_admin": self.admin,
            "is_owner": False,
            "is_restricted": self.restricted,
            "is_ultra_restricted": self.ultra_restricted,
            "is_stranger": self.stranger,
            "is_bot": bool(self.bot_id),
            "is_app_user": False,
        }


@dataclass(kw_only=True, eq=False)
class Message:
    """One message, in a channel or for one person's eyes."""

    ts: str
    channel: str
    user: str
    text: str = ""
    blocks: list[Json] = field(default_factory=list)
    attachments: list[Json] = field(default_factory=list)
    #: set on the parent, too, once it has a reply
    thread_ts: str = ""
    subtype: str = ""
    bot_id: str = ""
    app_id: str = ""
    metadata: Json | None = None
    #: ids of files
    files: list[str] = field(default_factory=list)
    #: name of a reaction → users
    reactions: dict[str, list[str]] = field(default_factory=dict)
    #: when and by whom it was edited
    edited: Json | None = None
    #: an ephemeral message's only reader
    only_for: str = ""
    #: a reply that the channel sees, too
    broadcast: bool = False
    #: user → what they have chosen in it: block id → action id → value
    values: dict[str, dict[str, Json]] = field(default_factory=dict)


@dataclass(kw_only=True)
class Channel:
    """A public or private channel, or a direct message."""

    id: str
    name: str = ""
    #: `public`, `private` or `im`
    kind: str = "public"
    created: int = 0
    members: list[str] = field(default_factory=list)
    archived: bool = False
    #: a preference keeps others than admins from posting
    restricted: bool = False
    #: shared with other workspaces
    shared_with: list[str] = field(default_factory=list)
    topic: str = ""
    #: by ts, oldest first
    messages: dict[str, Message] = field(default_factory=dict)
    #: parent's ts → its replies, oldest first
    threads: dict[str, list[Message]] = field(default_factory=dict)
    #: seen by one person each
    ephemeral: list[Message] = field(default_factory=list)

    def replies(self, ts: str) -> list[Message]:
        """Return the replies of a thread, oldest first."""
        return self.threads.get(ts, [])


@dataclass(kw_only=True)
class File:
    """A file, from the moment its upload was asked for."""

    id: str
    name: str
    title: str
    size: int
    created: int
    user: str = ""
    mimetype: str = "application/octet-stream"
    filetype: str = "binary"
    snippet: bool = False
    alt_text: str = ""
    data: bytes = b""
    #: channel → messages that hold it
    shares: dict[str, list[Message]] = field(default_factory=dict)
    #: bytes have come, and then the upload was completed
    uploaded: bool = False
    completed: bool = False
    #: by a modal's file input
    given_to_app: bool = False
    deleted: bool = False


@dataclass(kw_only=True)
class View:
    """A modal's view or a Home tab."""

    id: str
    payload: Json
    user: str
    team: str
    app_id: str
    bot_id: str
    hash: str
    root: str = ""
    previous: str = ""
    #: block id → action id → value, as typed so far
    values: dict[str, Json] = field(default_factory=dict)
    #: block id → sentence, from the app or the client
    errors: dict[str, str] = field(default_factory=dict)

    def shown(self) -> Json:
        """Return it as a view object, with every field that Slack adds."""
        payload = self.payload
        kept = ("title", "submit", "close")
        return {
            "id": self.id,
            "team_id": self.team,
            "type": payload["type"],
            "blocks": payload["blocks"],
            "private_metadata": payload.get("private_metadata", ""),
            "callback_id": payload.get("callback_id", ""),
            "external_id": payload.get("external_id", ""),
            "state": {"values": self.values},
            "hash": self.hash,
            **{name: payload.get(name) for name in kept},
            "clear_on_close": payload.get("clear_on_close", False),
            "notify_on_close": payload.get("notify_on_close", False),
            "previous_view_id": self.previous or None,
            "root_view_id": self.root or self.id,
            "app_id": self.app_id,
            "app_installed_team_id": self.team,
            "bot_id": self.bot_id,
        }


@dataclass(kw_only=True)
class UserGroup:
    """People who are mentioned together."""

    id: str
    handle: str
    name: str
    users: list[str]
    disabled: bool = False
    #: who changed it last (docs.slack.dev/reference/objects/usergroup-object); an admin
    updated_by: str = "U0APPROVER"


@dataclass(kw_only=True)
class Token:
    """What lets an app call."""

    value: str
    #: `bot` or `app`
    kind: str
    scopes: frozenset[str]
    revoked: bool = False
    #: of an app that was removed
    inactive: bool = False


@dataclass(kw_only=True)
class Trigger:
    """A person's act that lets the app open one view."""

    id: str
    user: str
    expires: datetime
    #: the view that it was done in, where it was one
    view: str = ""
    used: bool = False


@dataclass(kw_only=True)
class ResponseUrl:
    """A URL for answers to one act."""

    key: str
    user: str
    channel: str
    expires: datetime
    #: the message that the act was on
    message: str = ""
    ephemeral: Message | None = None
    uses: int = 0
