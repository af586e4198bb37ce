"""The addresses that apps call: the Web API, uploads, private files, `response_url`s."""

from __future__ import annotations

import asyncio
import enum
import json
from dataclasses import dataclass

from aiohttp import web

from playground.slack.answers import respond
from playground.slack.api.call import Call
from playground.slack.api.files import FILE_MOST
from playground.slack.api.table import METHODS, Method
from playground.slack.errors import SlackRefusal, TooFastError
from playground.slack.kit.rules import Json
from playground.slack.model import File, Token
from playground.slack.rates import Rates
from playground.slack.socket_mode import SocketMode
from playground.slack.workspace import Called, Workspace

_FORMS = ("application/x-www-form-urlencoded", "multipart/form-data")
_JSON = "application/json"
_LOOK_S = 0.05


class Outage(enum.Enum):
    """Ways for Slack to be away."""

    NONE = "Slack is there"
    REFUSE = "every request is answered with 503"
    DROP = "every connection is cut"
    CLOSED = "nobody listens: connections are refused"
    HANG = "connections are taken, and nothing is ever answered"


@dataclass(kw_only=True)
class Web:
    """Everything that is served to apps."""

    world: Workspace
    rates: Rates
    sockets: SocketMode
    outage: Outage = Outage.NONE
    #: where downloads are sent to instead, for an app that must not take its token there
    leads_to: str = ""

    def routes(self) -> list[web.RouteDef]:
        """Return the addresses."""
        return [
            web.get("/api/{method}", self.api),
            web.post("/api/{method}", self.api),
            web.post("/upload/v1/{key}", self.upload),
            web.get("/files-pri/{file}/{name}", self.download),
            web.get("/files-pri/{file}/download/{name}", self.download),
            web.post("/actions/{team}/{key}", self.answer),
            web.get("/link/", self.link),
            web.get("/login", self.login),
        ]

    async def away(self, request: web.Request) -> web.Response | None:
        """Return what is answered during an outage; None when there is none."""
        while self.outage is Outage.HANG:  # noqa: ASYNC110 - tests set the field, no event
            await asyncio.sleep(_LOOK_S)
        if self.outage in {Outage.DROP, Outage.CLOSED} and request.transport:
            request.transport.abort()
        if self.outage is Outage.NONE:
            return None
        return web.Response(status=503, text="Service Unavailable")

    async def api(self, request: web.Request) -> web.Response:
        """Answer one call of the Web API; refusals, too, have status 200."""
        if away := await self.away(request):
            return away
        name = request.match_info["method"]
        args: Json = {}
        headers: dict[str, str] = {}
        try:
            method = _method(name)
            args, given = await _arguments(request, method)
            body = {"ok": True, **self._run(name, method, args, given, headers)}
        except TooFastError as refusal:
            self.world.called.append(Called(method=name, args=args, error=refusal.code))
            headers["Retry-After"] = str(refusal.retry_after)
            return web.json_response(refusal.body(), status=429, headers=headers)
        except SlackRefusal as refusal:
            body = refusal.body()
        self.world.called.append(Called(method=name, args=args, error=str(body.get("error", ""))))
        return web.json_response(body, headers=headers)

    def _run(
        self, name: str, method: Method, args: Json, given: str, headers: dict[str, str]
    ) -> Json:
        token = self._token(given)
        if token.kind not in method.tokens:
            raise SlackRefusal("not_allowed_token_type")
        headers["X-OAuth-Scopes"] = ",".join(sorted(token.scopes))
        headers["X-Accepted-OAuth-Scopes"] = ",".join(method.scopes)
        call = Call(world=self.world, rates=self.rates, token=token, args=args)
        call.want(*method.scopes)
        self.rates.call(name, token.value, method.tier)
        if name == "apps.connections.open":
            return {"url": self.sockets.address(self.world.socket_url)}
        return method.run(call)

    def _token(self, given: str) -> Token:
        if not given:
            raise SlackRefusal("not_authed")
        token = self.world.tokens.get(given)
        if token is None:
            raise SlackRefusal("invalid_auth")
        if token.revoked:
            raise SlackRefusal("token_revoked")
        if token.inactive:
            raise SlackRefusal("account_inactive")
        return token

    async def upload(self, request: web.Request) -> web.Response:
        """Take a file's bytes, as they are or as a form's `file`."""
        if away := await self.away(request):
            return away
        file = self.world.files.get(self.world.uploads.get(request.match_info["key"], ""))
        if file is None or file.uploaded:
            return web.Response(status=404, text="unknown upload")
        data = await _upload(request)
        if len(data) != file.size:
            return web.Response(status=400, text=f"expected {file.size} bytes")
        file.data, file.uploaded = data, True
        return web.Response(text=f"OK - {file.size}")

    async def download(self, request: web.Request) -> web.Response:
        """Give a file to a token that may read it; send everybody else to the login page."""
        if away := await self.away(request):
            return away
        if self.leads_to:
            return web.Response(status=302, headers={"Location": self.leads_to})
        file = self.world.files.get(request.match_info["file"].partition("-")[2])
        given = request.headers.get("Authorization", "").removeprefix("Bearer ")
        token = self.world.tokens.get(given)
        allowed = token and not token.revoked and "files:read" in token.scopes
        if not allowed:
            return web.Response(status=302, headers={"Location": f"/login?redir={request.path}"})
        if file is None or file.deleted or not file.completed:
            return web.Response(status=404)
        return _bytes_of(file)

    async def login(self, request: web.Request) -> web.Response:
        """Show a page: what a download without the right token gets instead of the file."""
        del request
        page = "<!DOCTYPE html><html><head><title>Sign in | Slack</title></head></html>"
        return web.Response(text=page, content_type="text/html")

    async def answer(self, request: web.Request) -> web.Response:
        """Take what an app sends to a `response_url`."""
        if away := await self.away(request):
            return away
        try:
            respond(self.world, request.match_info["key"], await _object(request))
        except SlackRefusal as refusal:
            gone = refusal.code in ("used_url", "expired_url")
            return web.json_response(refusal.body(), status=404 if gone else 400)
        return web.Response(text="ok")

    async def link(self, request: web.Request) -> web.StreamResponse:
        """Serve a connection of Socket Mode."""
        return await self.away(request) or await self.sockets.serve(request)


def _method(name: str) -> Method:
    method = METHODS.get(name)
    if method is None:
        raise SlackRefusal("unknown_method")
    return method


async def _object(request: web.Request) -> Json:
    try:
        body = await request.json()
    except ValueError:
        raise SlackRefusal("invalid_payload") from None
    if not isinstance(body, dict):
        raise SlackRefusal("invalid_payload")
    return body


async def _arguments(request: web.Request, method: Method) -> tuple[Json, str]:
    """Return a call's arguments and its token, which no query may carry."""
    args: Json = dict(request.query)
    args.pop("token", None)
    body = await _body(request)
    given = str(body.pop("token", ""))
    header = request.headers.get("Authorization", "")
    if request.content_type != _JSON or method.takes_json:
        args |= body
    return args, header.removeprefix("Bearer ") if header.startswith("Bearer ") else given


async def _body(request: web.Request) -> Json:
    if not request.can_read_body:
        return {}
    if request.content_type in _FORMS:
        return dict(await request.post())
    if request.content_type != _JSON:
        typed = "Content-Type" in request.headers
        raise SlackRefusal("invalid_post_type" if typed else "missing_post_type")
    try:
        body = json.loads(await request.text() or "{}")
    except ValueError:
        raise SlackRefusal("invalid_json") from None
    if not isinstance(body, dict):
        raise SlackRefusal("json_not_object")
    return body


async def _upload(request: web.Request) -> bytes:
    if request.content_type != "multipart/form-data":
        return await request.read()
    for part in (await request.post()).values():
        if isinstance(part, web.FileField):
            return part.file.read()
    return b""


def _bytes_of(file: File) -> web.Response:
    headers = {"Content-Disposition": "attachment"}
    return web.Response(body=file.data, content_type=file.mimetype, headers=headers)


def application(served: Web) -> web.Application:
    """Return the server's application, which takes bodies as large as files may be."""
    app = web.Application(client_max_size=FILE_MOST + 1)
    app.add_routes(served.routes())
    return app
