"""`/_play`: be a person of the workspace, from a page in the browser or from a test.

Every act says who does it in `as`, a name or an id. What Slack's client would not let that person
do is answered with status 409 and a sentence.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from aiohttp import web

from playground.slack import clicking, modal, suggesting
from playground.slack.acting import Acting
from playground.slack.clicking import NeedsConfirmationError, Press
from playground.slack.delivery import Delivery, Outcome
from playground.slack.errors import PlayError
from playground.slack.feed import END
from playground.slack.kit.rules import Json
from playground.slack.model import File, View
from playground.slack.page.guide import Guide
from playground.slack.show import file_json
from playground.slack.socket_mode import SocketMode
from playground.slack.state import messages_json, state_json
from playground.slack.workspace import Workspace

#: A comment down the stream of changes keeps proxies and browsers from hanging up.
_STILL_HERE_S = 20

#: What a browser on this machine calls it.
_HERE = ("127.0.0.1", "localhost", "::1")


@dataclass(kw_only=True)
class Play:
    """Acts of people, over HTTP."""

    world: Workspace
    delivery: Delivery
    sockets: SocketMode
    #: what the page shows to somebody who is new
    guide: Guide | None = None
    #: the app is reached at a request URL, which is there or not at each request
    by_http: bool = False

    def routes(self) -> list[web.RouteDef]:
        """Return the addresses; each act is a POST of JSON, but for files."""
        acts: dict[str, Callable[[Acting, Json], Awaitable[Json]]] = {
            "message": self._message,
            "command": self._command,
            "shortcut": self._shortcut,
            "react": self._react,
            "invite": self._invite,
            "press": self._press,
            "suggest": self._suggest,
            "fill": self._fill,
            "submit": self._submit,
            "close": self._close,
            "home": self._home,
        }
        return [
            web.get("/_play/state", self.state),
            web.get("/_play/messages", self.messages),
            web.get("/_play/feed", self.feed),
            web.get("/_play/files/{file}", self.file_bytes),
            web.post("/_play/file", self.file),
            *(web.post(f"/_play/{name}", self._act(act)) for name, act in acts.items()),
        ]

    def acting(self, wanted: str) -> Acting:
        """Return a person to act as; raise PlayError where nobody is called so."""
        person = self.world.person(wanted)
        if person is None:
            raise PlayError(f"Nobody here is called «{wanted}».")
        return Acting(world=self.world, delivery=self.delivery, person=person)

    def _act(
        self, act: Callable[[Acting, Json], Awaitable[Json]]
    ) -> Callable[[web.Request], Awaitable[web.Response]]:
        async def handler(request: web.Request) -> web.Response:
            if strange := _strange(request):
                return strange
            try:
                given = await request.json()
                who = self.acting(str(given["as"]))
                return web.json_response({"ok": True, **await act(who, given)})
            except NeedsConfirmationError as question:
                return _refused(str(question), confirm=question.dialog)
            except PlayError as refusal:
                return _refused(str(refusal))
            except KeyError as missing:
                return _refused(f"The request lacks {missing}.", status=400)
            except ValueError:
                return _refused("The request is not JSON.", status=400)

        return handler

    async def state(self, request: web.Request) -> web.Response:
        """Return what a person sees, without messages."""
        person = self.world.person(request.query.get("as", ""))
        if person is None:
            return _refused("Say who is looking: ?as=NAME.", status=400)
        shown = state_json(self.world, person)
        # A page can say that the app is not running before somebody waits for it in vain.
        connections = len(self.sockets.connections)
        more: Json = {
            "connections": connections,
            "reachable": self.by_http or connections > 0,
            "guide": self.guide.shown() if self.guide else None,
        }
        return web.json_response(shown | more)

    async def messages(self, request: web.Request) -> web.Response:
        """Return what a person sees of a channel."""
        try:
            who = self.acting(request.query.get("as", ""))
            channel = who.channel(request.query.get("channel", ""))
        except PlayError as refusal:
            return _refused(str(refusal))
        shown = messages_json(self.world, channel, who.person)
        return web.json_response({"channel": channel.id, "messages": shown})

    async def feed(self, request: web.Request) -> web.StreamResponse:
        """Stream changes as server-sent events, until the watcher leaves."""
        stream = web.StreamResponse(
            headers={"Content-Type": "text/event-stream", "Cache-Control": "no-store"}
        )
        await stream.prepare(request)
        # A watcher who has left is noticed at the next write.
        with self.world.feed.watching() as changes, suppress(ConnectionResetError):
            await stream.write(b": watching\n\n")
            change: Json = {}
            while change.get("kind") != END:
                try:
                    change = await asyncio.wait_for(changes.get(), _STILL_HERE_S)
                    await stream.write(f"data: {json.dumps(change)}\n\n".encode())
                except TimeoutError:
                    await stream.write(b": still here\n\n")
        return stream

    async def file_bytes(self, request: web.Request) -> web.Response:
        """Return a file's bytes to the page, which has no token."""
        file = self.world.files.get(request.match_info["file"])
        if file is None or file.deleted:
            return web.Response(status=404)
        headers = {"X-Content-Type-Options": "nosniff", "Content-Security-Policy": "sandbox"}
        return web.Response(body=file.data, content_type=file.mimetype, headers=headers)

    async def file(self, request: web.Request) -> web.Response:
        """Share a file from a form: `as`, `file`, and `channel` unless a modal wants it.

        With `snippet` it is one, as what is pasted into Slack's client becomes.
        """
        if strange := _strange(request):
            return strange
        form = await request.post()
        given = form.get("file")
        if not isinstance(given, web.FileField):
            return _refused("The form has no file.", status=400)
        try:
            who = self.acting(str(form.get("as", "")))
            data = given.file.read()
            if not form.get("channel"):
                return _brought(self.world, who.brings(given.filename, data))
            message = who.shares(
                str(form["channel"]), given.filename, data, text=str(form.get("text", "")),
                thread_ts=str(form.get("thread_ts", "")), snippet=bool(form.get("snippet")),
            )  # fmt: skip
        except PlayError as refusal:
            return _refused(str(refusal))
        return web.json_response({"ok": True, "ts": message.ts, "file": message.files[0]})

    async def _message(self, who: Acting, given: Json) -> Json:
        message = who.says(given["channel"], given["text"], thread_ts=given.get("thread_ts", ""))
        return {"ts": message.ts, "channel": message.channel}

    async def _command(self, who: Acting, given: Json) -> Json:
        return _came_of(
            await who.commands(
                given["channel"], given["text"], thread_ts=given.get("thread_ts", "")
            )
        )

    async def _shortcut(self, who: Acting, given: Json) -> Json:
        return _came_of(
            await who.takes_shortcut(
                given["callback_id"], channel=given.get("channel", ""), ts=given.get("ts", "")
            )
        )

    async def _react(self, who: Acting, given: Json) -> Json:
        who.reacts(given["channel"], given["ts"], given["name"])
        return {}

    async def _invite(self, who: Acting, given: Json) -> Json:
        who.invites_bot(given["channel"])
        return {}

    async def _press(self, who: Acting, given: Json) -> Json:
        press = _press(given)
        if "view_id" in given:
            outcome = await clicking.in_view(who, self._view(who, given), press)
            return _came_of(outcome) if outcome else {"sent": False}
        return _came_of(await clicking.in_message(who, given["channel"], given["ts"], press))

    async def _suggest(self, who: Acting, given: Json) -> Json:
        if "view_id" in given:
            options = await suggesting.in_view(who, self._view(who, given), _press(given))
        else:
            options = await suggesting.in_message(who, given["channel"], given["ts"], _press(given))
        return {"options": options}

    async def _fill(self, who: Acting, given: Json) -> Json:
        modal.fill(who, self._view(who, given), given["values"])
        return {}

    async def _submit(self, who: Acting, given: Json) -> Json:
        view = self._view(who, given)
        outcome = await modal.submit(who, view, given.get("values", {}))
        return _came_of(outcome) | {"errors": view.errors}

    async def _close(self, who: Acting, given: Json) -> Json:
        await modal.close(who, self._view(who, given), everything=bool(given.get("everything")))
        return {}

    async def _home(self, who: Acting, given: Json) -> Json:
        del given
        who.opens_home()
        return {}

    def _view(self, who: Acting, given: Json) -> View:
        view = self.world.views.get(given["view_id"])
        top = self.world.modals.get(who.id, [])[-1:]
        if view is None or view.user != who.id or view.id not in (
            *top, self.world.homes.get(who.id)
        ):  # fmt: skip
            raise PlayError("That view is not open.")
        return view


def _press(given: Json) -> Press:
    return Press(
        action_id=given["action_id"],
        block_id=given.get("block_id", ""),
        value=given.get("value"),
        confirmed=bool(given.get("confirmed")),
    )


def _brought(world: Workspace, file: File) -> web.Response:
    return web.json_response({"ok": True, "file": file.id, "shown": file_json(world, file)})


def _strange(request: web.Request) -> web.Response | None:
    """Refuse what another site's page sends: whoever acts here needs no password."""
    origin = request.headers.get("Origin")
    # A name that somebody leads to this machine is another site, too.
    here = request.url.host in _HERE and origin in (None, f"http://{request.host}")
    if here:
        return None
    return _refused("Only the workspace's own page may act here.", status=403)


def _came_of(outcome: Outcome) -> Json:
    return {"sent": outcome.failed != "not_sent", "failed": outcome.failed}


def _refused(sentence: str, *, status: int = 409, **more: Any) -> web.Response:  # noqa: ANN401
    return web.json_response({"ok": False, "error": sentence, **more}, status=status)
