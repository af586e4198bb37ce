"""Slack behind the port: the only place that knows its library and its words."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import Any

import aiohttp
from slack_sdk.errors import SlackApiError, SlackClientError
from slack_sdk.http_retry.builtin_async_handlers import AsyncRateLimitErrorRetryHandler
from slack_sdk.web.async_client import AsyncWebClient
from slack_sdk.web.async_slack_response import AsyncSlackResponse
from slack_sdk.webhook.async_client import AsyncWebhookClient

from bot.chat.downloading import Downloader
from bot.chat.errors import AwayError, ChatError, GoneError, RefusedError, of_slack
from bot.chat.port import Chat, Identity, Person, Said, SharedFile
from bot.network.telling import why
from bot.network.way import Network
from bot.network.with_aiohttp import session
from bot.reports.slack.message import EVENT_TYPE, Attachment, Message, View

Json = dict[str, Any]

_TIMEOUT_S = 10
_WAITS = aiohttp.ClientTimeout(total=_TIMEOUT_S)
_TRIES_WHEN_LIMITED = 5
#: Slack's servers and the bot's clock may differ so far when a message is looked for.
_CLOCKS_DIFFER = timedelta(minutes=2)
#: Messages of a channel that are looked through for one of ours.
_LOOKED_THROUGH = 200
_FROM_HTTP_ERROR = 400
_NOT_FOUND = 404


@dataclass(frozen=True, kw_only=True, slots=True)
class Granted:
    """What Slack says of a token."""

    identity: Identity
    team_name: str
    scopes: frozenset[str]
    #: Slack's time less ours; None where its answer has no date
    skew: timedelta | None


class SlackChat(Chat):
    """One workspace, by its Web API."""

    def __init__(self, token: str, *, base_url: str = "", network: Network | None = None) -> None:
        self._network = network or Network()
        # a lost connection is not tried again here: the message may have been posted
        limited = AsyncRateLimitErrorRetryHandler(max_retry_count=_TRIES_WHEN_LIMITED)
        self.client = AsyncWebClient(
            token=token,
            base_url=base_url or AsyncWebClient.BASE_URL,
            timeout=_TIMEOUT_S,
            retry_handlers=[limited],
            ssl=self._network.trust,
        )
        # given to the constructor, none would mean the variable HTTPS_PROXY without NO_PROXY
        self.client.proxy = self._network.proxy_for(self.client.base_url)
        self._downloader = Downloader(token, base_url=base_url, network=self._network)

    @asynccontextmanager
    async def connected(self) -> AsyncIterator[None]:
        """Keep connections to Slack within the block, which a failure of its name survives.

        Without it each call opens its own.
        """
        async with session(self._network, timeout=_WAITS) as kept:
            self.client.session = kept
            try:
                yield
            finally:
                self.client.session = None

    async def identity(self) -> Identity:
        """Return who the bot is."""
        found = await self._call("auth.test")
        return Identity(
            team=found["team_id"], user=found["user_id"], name=found.get("user", "nccl-dns")
        )

    async def granted(self) -> Granted:
        """Return whose token it is, what it may do, and how far the clocks are apart.

        Raises TokenError for one that Slack does not take.
        """
        answer = await self._answer("auth.test", json={})
        found, headers = answer.data, {k.lower(): v for k, v in answer.headers.items()}
        if not isinstance(found, dict):
            raise RefusedError("Slack's answer to auth.test cannot be read.")
        # https://docs.slack.dev/authentication/installing-with-oauth: "X-OAuth-Scopes"
        scopes = frozenset(
            filter(None, headers.get("x-oauth-scopes", "").replace(" ", "").split(","))
        )
        date = headers.get("date")
        skew = parsedate_to_datetime(date) - datetime.now(UTC) if date else None
        return Granted(
            identity=Identity(
                team=found["team_id"], user=found["user_id"], name=found.get("user", "nccl-dns")
            ),
            team_name=str(found.get("team", "")),
            scopes=scopes,
            skew=skew,
        )

    async def readable(self, channel: str) -> None:
        """Find out whether a channel is there and ours to read; raises NotMemberError where not."""
        await self._get("conversations.history", {"channel": channel, "limit": 1})

    async def post(self, channel: str, message: Message, *, thread: str = "") -> str:
        """Post a message, into a thread if one is named, and return its `ts`."""
        where = {"thread_ts": thread} if thread else {}
        said = await self._call(
            "chat.postMessage", {"channel": channel, **where, **message.to_post()}
        )
        return str(said["ts"])

    async def update(self, channel: str, ts: str, message: Message) -> None:
        """Put a message into the place of one of ours."""
        await self._call("chat.update", {"channel": channel, "ts": ts, **message.to_update()})

    async def delete(self, channel: str, ts: str) -> None:
        """Take one of our messages away."""
        await self._call("chat.delete", {"channel": channel, "ts": ts})

    async def whisper(self, channel: str, user: str, message: Message, *, thread: str = "") -> None:
        """Say something that one person sees."""
        where = {"thread_ts": thread} if thread else {}
        said = {"channel": channel, "user": user, **where, **message.to_ephemeral()}
        await self._call("chat.postEphemeral", said)

    async def respond(self, url: str, message: Message) -> None:
        """Answer a click or a command privately, also where the bot is no member."""
        webhook = AsyncWebhookClient(
            url, timeout=_TIMEOUT_S, session=self.client.session, ssl=self._network.trust
        )
        webhook.proxy = self._network.proxy_for(url)
        private = {"response_type": "ephemeral", "replace_original": False}
        try:
            answer = await webhook.send_dict({**private, **message.to_ephemeral()})
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            raise _away(error) from error
        if answer.status_code == _NOT_FOUND:
            raise GoneError("The address for this answer is good for half an hour, which is over.")
        if answer.status_code >= _FROM_HTTP_ERROR:
            raise of_slack("response_url", f"status {answer.status_code}")

    async def upload(self, channel: str, thread: str, attachments: Sequence[Attachment]) -> None:
        """Put files into a thread."""
        files = [
            {
                "content": one.content,
                "filename": one.name,
                "title": one.title or one.name,
                "alt_txt": one.alt or None,
            }
            for one in attachments
        ]
        try:
            await self.client.files_upload_v2(channel=channel, thread_ts=thread, file_uploads=files)
        except (SlackClientError, aiohttp.ClientError, TimeoutError, OSError) as error:
            raise _ours("files.completeUploadExternal", error) from error

    async def find(self, channel: str, row: str, *, since: datetime, thread: str = "") -> str:
        """Return the `ts` of our message of a row, by its metadata; empty where there is none."""
        asked = {
            "channel": channel,
            "oldest": f"{(since - _CLOCKS_DIFFER).timestamp():.6f}",
            "include_all_metadata": True,
            "limit": _LOOKED_THROUGH,
        }
        method = "conversations.replies" if thread else "conversations.history"
        answer = await self._get(method, {**asked, **({"ts": thread} if thread else {})})
        mine = (one for one in answer.get("messages", ()) if _row_of(one) == row)
        return next((str(one["ts"]) for one in mine), "")

    async def permalink(self, channel: str, ts: str) -> str:
        """Return a message's address."""
        answer = await self._get("chat.getPermalink", {"channel": channel, "message_ts": ts})
        return str(answer["permalink"])

    async def open_view(self, trigger: str, view: View) -> str:
        """Open a form and return its id; raises TooLateError three seconds after the click."""
        opened = await self._call("views.open", {"trigger_id": trigger, "view": view.to_view()})
        return str(opened["view"]["id"])

    async def update_view(self, view_id: str, view: View) -> None:
        """Put a form into the place of one that is open; does nothing where it was closed."""
        with suppress(GoneError):
            await self._call("views.update", {"view_id": view_id, "view": view.to_view()})

    async def publish_home(self, user: str, view: View) -> None:
        """Put a view on somebody's Home tab."""
        await self._call("views.publish", {"user_id": user, "view": view.to_view()})

    async def person(self, user: str) -> Person:
        """Return somebody."""
        found = (await self._get("users.info", {"user": user}))["user"]
        return Person(
            id=user,
            team=found.get("team_id", ""),
            guest=bool(found.get("is_restricted") or found.get("is_ultra_restricted")),
            stranger=bool(found.get("is_stranger")),
            bot=bool(found.get("is_bot")),
            deactivated=bool(found.get("deleted")),
            admin=bool(found.get("is_admin") or found.get("is_owner")),
        )

    async def members_of(self, group: str) -> frozenset[str]:
        """Return the people of a user group."""
        answer = await self._get("usergroups.users.list", {"usergroup": group})
        return frozenset(answer.get("users", ()))

    async def last_editor(self, group: str) -> str:
        """Return who changed a user group last; empty where Slack does not tell."""
        groups = (await self._get("usergroups.list", {"include_disabled": "true"}))["usergroups"]
        found: Mapping[str, Any] = next((one for one in groups if one.get("id") == group), {})
        return str(found.get("updated_by") or found.get("created_by") or "")

    async def direct(self, user: str) -> str:
        """Return the channel of direct messages with somebody."""
        return str((await self._call("conversations.open", {"users": user}))["channel"]["id"])

    async def thread(self, channel: str, ts: str) -> tuple[Said, ...]:
        """Return the messages of a thread, its parent first."""
        answer = await self._get("conversations.replies", {"channel": channel, "ts": ts})
        return tuple(map(said_of, answer.get("messages", ())))

    async def file(self, file_id: str) -> SharedFile:
        """Return what is known of a file."""
        return file_of((await self._get("files.info", {"file": file_id}))["file"])

    def download(self, file: SharedFile) -> AsyncIterator[bytes]:
        """Read a file part by part; raises DownloadError with a sentence."""
        return self._downloader.parts(file)

    async def _call(self, method: str, body: Json | None = None) -> Json:
        return await self._asked(method, json=body or {})

    async def _get(self, method: str, asked: Json) -> Json:
        """Ask by form: these methods take no JSON."""
        flat = {name: "true" if value is True else value for name, value in asked.items()}
        return await self._asked(method, data=flat)

    async def _asked(self, method: str, **body: Any) -> Json:  # noqa: ANN401
        answer = await self._answer(method, **body)
        return answer.data if isinstance(answer.data, dict) else {}

    async def _answer(self, method: str, **body: Any) -> AsyncSlackResponse:  # noqa: ANN401
        try:
            return await self.client.api_call(method, **body)
        except (SlackClientError, aiohttp.ClientError, TimeoutError, OSError) as error:
            raise _ours(method, error) from error


def _ours(method: str, error: Exception) -> ChatError:
    """Return what an error of the library means."""
    if not isinstance(error, SlackApiError):
        return _away(error)
    answer = error.response
    data: Mapping[str, Any] = answer.data if isinstance(answer.data, dict) else {}
    if not data.get("error"):
        return AwayError(f"Slack answered {method} with status {answer.status_code}.")
    messages = data.get("response_metadata", {}).get("messages", [])
    return of_slack(
        method, data["error"], needed=data.get("needed", ""), more="; ".join(map(str, messages))
    )


def _away(error: BaseException) -> AwayError:
    slow = isinstance(error, asyncio.TimeoutError)
    said = why(error) or (f"no answer within {_TIMEOUT_S} s" if slow else type(error).__name__)
    return AwayError(f"Slack is not reached ({said}). What was to be said is kept.")


def _row_of(message: Json) -> str:
    metadata = message.get("metadata") or {}
    if metadata.get("event_type") != EVENT_TYPE:
        return ""
    payload = metadata.get("event_payload", {})
    return str((json.loads(payload) if isinstance(payload, str) else payload).get("row", ""))


def said_of(message: Mapping[str, Any]) -> Said:
    """Return a message of Slack's JSON."""
    return Said(
        ts=str(message.get("ts", "")),
        user=str(message.get("user", "")),
        text=str(message.get("text", "")),
        files=tuple(str(one["id"]) for one in message.get("files", ()) if one.get("id")),
        bot=bool(message.get("bot_id")),
    )


def file_of(found: Mapping[str, Any]) -> SharedFile:
    """Return a file of Slack's JSON; where it was shared is known from `files.info` alone."""
    shares: Json = found.get("shares") or {}
    threads: dict[str, list[str]] = {}
    for kind in shares.values():
        for channel, places in kind.items():
            found_in = [str(one["thread_ts"]) for one in places if one.get("thread_ts")]
            threads.setdefault(channel, []).extend(found_in)
    return SharedFile(
        id=str(found["id"]),
        name=str(found.get("name") or found["id"]),
        size_bytes=int(found.get("size") or 0),
        url=str(found.get("url_private_download") or found.get("url_private") or ""),
        mimetype=str(found.get("mimetype", "")),
        user=str(found.get("user", "")),
        threads=threads,
    )
