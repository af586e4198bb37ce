"""One call of the Web API: its arguments, and whom it may see."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from playground.slack.errors import SlackRefusal, with_messages
from playground.slack.kit.rules import Json
from playground.slack.model import Channel, Token
from playground.slack.rates import Rates
from playground.slack.workspace import BOT_USER, Workspace

_SCOPE_WORDS = {"public": "channels", "private": "groups", "im": "im"}
_TRUE = ("true", "1", True, 1)


@dataclass(frozen=True, kw_only=True, slots=True)
class Call:
    """What an app asks for; every look-up raises SlackRefusal with the documented error."""

    world: Workspace
    rates: Rates
    token: Token
    args: Json

    def need(self, name: str) -> str:
        """Return an argument that must be there."""
        value = self.args.get(name)
        if value in (None, ""):
            raise with_messages("invalid_arguments", [f"missing required field: {name}"])
        return str(value)

    def text(self, name: str) -> str:
        """Return an argument, empty where it is not given."""
        value = self.args.get(name)
        return "" if value is None else str(value)

    def flag(self, name: str) -> bool:
        """Return whether an argument says yes; forms write it `true` or `1`."""
        return self.args.get(name) in _TRUE

    def number(self, name: str, default: int, most: int) -> int:
        """Return a number from 1 to the most there may be."""
        try:
            value = int(self.text(name) or default)
        except ValueError:
            raise SlackRefusal("invalid_limit") from None
        if value < 1:
            raise SlackRefusal("invalid_limit")
        return min(value, most)

    def structure(self, name: str) -> Any:  # noqa: ANN401 # any JSON value
        """Return an argument that is JSON, or came as JSON text."""
        value = self.args.get(name)
        if not isinstance(value, str):
            return value
        try:
            return json.loads(value)
        except ValueError:
            raise with_messages("invalid_arguments", [f"invalid JSON: {name}"]) from None

    def want(self, *scopes: str) -> None:
        """Refuse a token that has none of these scopes."""
        if scopes and not self.token.scopes.intersection(scopes):
            raise SlackRefusal(
                "missing_scope",
                needed=",".join(scopes),
                provided=",".join(sorted(self.token.scopes)),
            )

    def channel(self, verb: str, name: str = "channel") -> Channel:
        """Return a channel that the app may see, wanting the scope of its kind.

        `verb` is `read` or `history`, the second half of the scope.
        """
        found = self.world.channels.get(self.need(name))
        if found is None or (found.kind != "public" and BOT_USER not in found.members):
            raise SlackRefusal("channel_not_found")
        self.want(f"{_SCOPE_WORDS[found.kind]}:{verb}")
        return found

    def where(self, name: str = "channel") -> Channel:
        """Return a channel that the app may post to, given by id, name or a person's id."""
        wanted = self.need(name)
        if wanted in self.world.people and wanted != BOT_USER:
            if not self.world.app.messages_tab:
                raise SlackRefusal("messages_tab_disabled")
            return self.world.direct(wanted)
        found = self.world.channel(wanted)
        member = found is not None and BOT_USER in found.members
        if found is None or (found.kind != "public" and not member):
            raise SlackRefusal("channel_not_found")
        if found.archived:
            raise SlackRefusal("is_archived")
        if not member and "chat:write.public" not in self.token.scopes:
            raise SlackRefusal("not_in_channel")
        if found.restricted:
            raise SlackRefusal("restricted_action")
        return found
