"""Be a person at Slack's client: write, share files, run commands and shortcuts."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from playground.slack.answers import say
from playground.slack.api.files import FILE_MOST, new_file
from playground.slack.composing import as_rich_text, composed
from playground.slack.delivery import Delivery, Outcome
from playground.slack.errors import PlayError, SlackRefusal
from playground.slack.kit.rules import Json
from playground.slack.model import Channel, File, Message, Person
from playground.slack.posting import post, thread_of
from playground.slack.show import message_json
from playground.slack.workspace import BOT_USER, DOMAIN, TEAM, Workspace

#: What Slack's client lets a person type into one message; longer text becomes a snippet.
TYPED_MOST = 12_000
#: A file in a modal's file_input (docs.slack.dev/…/block-elements/file-input-element).
FILE_INPUT_MOST = 10_000_000

_TIMEOUTS = ("timeout", "http_timeout")


@dataclass(frozen=True, kw_only=True, slots=True)
class Acting:
    """One person; every act raises PlayError for what Slack's client does not let them do."""

    world: Workspace
    delivery: Delivery
    person: Person

    @property
    def id(self) -> str:
        """Return the person's id."""
        return self.person.id

    def about(self) -> Json:
        """Return what every interaction says of the person and their workspace."""
        domain = DOMAIN if self.person.team == TEAM else "elsewhere"
        return {
            "team": {"id": self.person.team, "domain": domain},
            "user": {
                "id": self.person.id,
                "username": self.person.name,
                "name": self.person.name,
                "team_id": self.person.team,
            },
            "enterprise": None,
            "is_enterprise_install": False,
        }

    def channel(self, wanted: str) -> Channel:
        """Return a channel that the person is in; `@` alone means direct messages with the bot."""
        if wanted == "@":
            return self.world.direct(self.person.id)
        found = self.world.channel(wanted)
        if found is None or self.person.id not in found.members:
            raise PlayError(f"{self.person.real_name} is not in a channel «{wanted}».")
        return found

    def _writable(self, wanted: str) -> Channel:
        channel = self.channel(wanted)
        if channel.archived:
            raise PlayError(f"The channel «{channel.name}» is archived.")
        if channel.restricted and not self.person.admin:
            raise PlayError(f"Only admins may post in «{channel.name}».")
        return channel

    def says(
        self, channel: str, text: str, *, thread_ts: str = "", files: list[File] | None = None
    ) -> Message:
        """Write a message, in a thread if one is named; `@name` mentions."""
        where = self._writable(channel)
        if len(text) > TYPED_MOST:
            raise PlayError("The message is too long; share it as a file.")
        if not (text.strip() or files):
            raise PlayError("There is nothing to send.")
        message = Message(
            ts=self.world.new_ts(),
            channel=where.id,
            user=self.person.id,
            bot_id=self.person.bot_id,
            app_id=self.person.app_id,
            text=composed(self.world, text),
            blocks=as_rich_text(text),
            files=[one.id for one in files or []],
            subtype="file_share" if files else "",
        )
        if thread_ts:
            message.thread_ts = _thread(where, thread_ts)
        return post(self.world, message)

    def shares(
        self, channel: str, name: str, data: bytes, *,
        text: str = "", thread_ts: str = "", snippet: bool = False,
    ) -> Message:  # fmt: skip
        """Share a file in a channel, with a text if there is one."""
        self._writable(channel)
        brought = self.brings(name, data, snippet=snippet)
        return self.says(channel, text, thread_ts=thread_ts, files=[brought])

    def brings(self, name: str, data: bytes, *, snippet: bool = False) -> File:
        """Upload a file without sharing it, as for a modal's file input."""
        if len(data) > FILE_MOST:
            raise PlayError("Files may have at most 1 GB.")
        file = new_file(self.world, name, len(data))
        file.user, file.data, file.snippet = self.person.id, data, snippet
        file.uploaded = file.completed = True
        return file

    def reacts(self, channel: str, ts: str, name: str) -> None:
        """Put an emoji on a message."""
        where = self.channel(channel)
        message = _message(self.world, where, ts, self.person.id)
        users = message.reactions.setdefault(name, [])
        if self.person.id not in users:
            users.append(self.person.id)
        self.world.feed.tell("message", channel=where.id, ts=ts)
        event = {
            "type": "reaction_added",
            "user": self.person.id,
            "reaction": name,
            "item_user": message.user,
            "item": {"type": "message", "channel": where.id, "ts": ts},
            "event_ts": self.world.new_ts(),
        }
        if BOT_USER in where.members:
            self.world.emit("reaction_added", event)

    async def commands(self, channel: str, line: str, *, thread_ts: str = "") -> Outcome:
        """Run a slash command; what the app acknowledges with is shown as Slack shows it."""
        where = self._writable(channel)
        command, _, text = line.partition(" ")
        if thread_ts:
            raise PlayError(f"{command} is not supported in threads. Sorry!")
        known = command in self.world.app.commands and "commands" in self.world.app.scopes
        if not known or self.person.team != TEAM:
            raise PlayError(f"{command} is not a valid command.")
        url = self.world.new_response_url(self.person.id, where.id)
        payload = {
            "team_id": TEAM,
            "team_domain": DOMAIN,
            "channel_id": where.id,
            "channel_name": _name(where),
            "user_id": self.person.id,
            "user_name": self.person.name,
            "command": command,
            "text": text.strip(),
            "is_enterprise_install": "false",
            "response_url": url,
            "trigger_id": self.world.new_trigger(self.person.id),
        }
        outcome = await self.delivery.command(payload)
        self._shown(where, command, url, outcome)
        return outcome

    def _shown(self, where: Channel, command: str, url: str, outcome: Outcome) -> None:
        error = ""
        if outcome.failed:
            error = "operation_timeout" if outcome.failed in _TIMEOUTS else "dispatch_failed"
        elif body := _said(outcome.body):
            try:
                say(self.world, self.world.response_urls[url.rpartition("/")[2]], body)
            except SlackRefusal:
                error = "invalid_command_response"
        if error:
            self._slackbot(where, f'{command} failed with the error "{error}"')

    def _slackbot(self, where: Channel, text: str) -> None:
        """Show the person what Slack itself says."""
        message = Message(
            ts=self.world.new_ts(), channel=where.id, user=self.person.id, text=text,
            subtype="slackbot", only_for=self.person.id,
        )  # fmt: skip
        post(self.world, message)

    async def takes_shortcut(self, callback_id: str, *, channel: str = "", ts: str = "") -> Outcome:
        """Take a shortcut: on a message if one is named, else a global one."""
        kind = "message" if ts else "global"
        if (callback_id, kind) not in self.world.app.shortcuts or self.person.team != TEAM:
            raise PlayError(f"There is no {kind} shortcut «{callback_id}».")
        payload: Json = {
            **self.about(),
            "type": "message_action" if ts else "shortcut",
            "callback_id": callback_id,
            "trigger_id": self.world.new_trigger(self.person.id),
            "action_ts": self.world.new_ts(),
        }
        if ts:
            where = self.channel(channel)
            message = _message(self.world, where, ts, self.person.id)
            payload |= {
                "message_ts": ts,
                "channel": {"id": where.id, "name": _name(where)},
                "message": message_json(self.world, message),
                "response_url": self.world.new_response_url(
                    self.person.id, where.id, message=message
                ),
            }
        return await self.delivery.interactive(payload)

    def opens_home(self) -> None:
        """Look at the app's Home tab."""
        if not self.world.app.home_tab:
            raise PlayError("The app has no Home tab.")
        view = self.world.views.get(self.world.homes.get(self.person.id, ""))
        event: Json = {
            "type": "app_home_opened",
            "user": self.person.id,
            "channel": self.world.direct(self.person.id).id,
            "tab": "home",
            "event_ts": self.world.new_ts(),
        }
        self.world.emit("app_home_opened", event | ({"view": view.shown()} if view else {}))

    def invites_bot(self, channel: str) -> None:
        """Add the app's bot to a channel."""
        where = self._writable(channel)
        if BOT_USER in where.members:
            return
        where.members.append(BOT_USER)
        self.world.feed.tell("channel", channel=where.id)
        joined = {
            "type": "member_joined_channel",
            "user": BOT_USER,
            "channel": where.id,
            "inviter": self.person.id,
            "team": TEAM,
            "event_ts": self.world.new_ts(),
        }
        self.world.emit("member_joined_channel", joined)


def _said(body: Any) -> Json | None:  # noqa: ANN401 # an object, a text or nothing
    """Return the message in an acknowledgement; plain text is one, too."""
    if isinstance(body, str):
        try:
            body = json.loads(body)
        except ValueError:
            return {"text": body} if body.strip() else None
    return body if isinstance(body, dict) and body else None


def _thread(channel: Channel, ts: str) -> str:
    try:
        return thread_of(channel, ts)
    except SlackRefusal:
        raise PlayError("The message to reply to is gone.") from None


def _message(world: Workspace, channel: Channel, ts: str, reader: str) -> Message:
    message = world.message(channel.id, ts, reader)
    if message is None:
        raise PlayError("The message is gone.")
    return message


def _name(channel: Channel) -> str:
    """Return what payloads call a channel."""
    return {"im": "directmessage", "private": "privategroup"}.get(channel.kind, channel.name)
