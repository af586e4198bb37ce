"""The workspace as one thing: served on loopback, with everything that a test may turn."""

from __future__ import annotations

import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from aiohttp import web

from playground.slack.acting import Acting
from playground.slack.app import AppConfig
from playground.slack.clock import Clock, RealClock
from playground.slack.delivery import Delivery
from playground.slack.door import Door
from playground.slack.http_out import HttpTransport
from playground.slack.model import Channel, Person
from playground.slack.page import serving as page
from playground.slack.page.guide import Guide
from playground.slack.play import Play
from playground.slack.rates import Rates
from playground.slack.seed import APP_TOKEN, BOT_TOKEN, settle
from playground.slack.socket_mode import SocketMode
from playground.slack.web import Outage, Web, application
from playground.slack.workspace import Called, Workspace

#: Good in this workspace alone.
SIGNING_SECRET = "playground-signing-secret"  # noqa: S105


@dataclass(kw_only=True)
class SlackServer:
    """A workspace, running."""

    world: Workspace
    web: Web
    sockets: SocketMode
    #: the other way to the app, for one that gave a request URL
    http: HttpTransport | None
    delivery: Delivery
    play: Play
    rates: Rates
    door: Door
    bot_token: str = BOT_TOKEN
    app_token: str = APP_TOKEN
    signing_secret: str = SIGNING_SECRET

    @property
    def port(self) -> int:
        """Return the port that everything is served at."""
        return self.door.port

    @property
    def base_url(self) -> str:
        """Return the address of everything."""
        return self.world.base_url

    @property
    def api_url(self) -> str:
        """Return what Slack's SDKs take as `base_url`."""
        return f"{self.world.base_url}/api/"

    def act_as(self, name: str) -> Acting:
        """Return a person to act as, such as `ada`."""
        return self.play.acting(name)

    def channel(self, name: str) -> Channel:
        """Return a channel by id or name; raise KeyError where there is none."""
        found = self.world.channel(name)
        if found is None:
            raise KeyError(name)
        return found

    def person(self, name: str) -> Person:
        """Return a person by id or name."""
        return self.act_as(name).person

    def calls(self, method: str = "") -> list[Called]:
        """Return the calls of a method so far, or of all."""
        return [one for one in self.world.called if method in ("", one.method)]

    def revoke(self, token: str = BOT_TOKEN) -> None:
        """Revoke a token."""
        self.world.tokens[token].revoked = True

    def narrow(self, *scopes: str, token: str = BOT_TOKEN) -> None:
        """Take scopes away from a token."""
        self.world.tokens[token].scopes -= set(scopes)

    async def go_away(self, outage: Outage = Outage.DROP) -> None:
        """Be out of reach: connections end, requests fail, until `come_back`."""
        self.web.outage = outage
        if outage is Outage.CLOSED:
            await self.door.close()
        await self.sockets.close()

    async def come_back(self) -> None:
        """Be there again, at the same port."""
        await self.door.open()
        self.web.outage = Outage.NONE


@asynccontextmanager
async def running(
    *,
    app: AppConfig | None = None,
    clock: Clock | None = None,
    request_url: str = "",
    port: int = 0,
    rates_on: bool = True,
    guide: Guide | None = None,
    host: str = "127.0.0.1",
    tls: ssl.SSLContext | None = None,
) -> AsyncIterator[SlackServer]:
    """Run a workspace on 127.0.0.1 with one app installed; port 0 lets the kernel choose one.

    The app is reached by Socket Mode, or at `request_url` where one is given. The page at
    `base_url` shows the guide's steps. Apps are told to call it `host`; with `tls`
    they come by https.
    """
    clock = clock or RealClock()
    door = Door(port, tls)
    place = f"{'https' if tls else 'http'}://{host}:{door.port}"
    server = _wired(app or AppConfig(), clock, request_url, door, place)
    server.rates.on = rates_on
    server.play.guide = guide
    served = application(server.web)
    served.add_routes([*server.play.routes(), *page.routes()])
    runner = web.AppRunner(served, handle_signals=False, access_log=None, shutdown_timeout=1)
    await runner.setup()
    await door.serve(runner)
    try:
        yield server
    finally:
        server.world.feed.close()
        await server.delivery.close()
        await server.sockets.close()
        if server.http:
            await server.http.close()
        await runner.cleanup()


def _wired(app: AppConfig, clock: Clock, request_url: str, door: Door, place: str) -> SlackServer:
    world = Workspace(
        clock=clock,
        app=app,
        base_url=place,
        socket_url=f"ws{place.removeprefix('http')}",
    )
    settle(world)
    rates = Rates(clock=clock)
    sockets = SocketMode(clock=clock)
    http = (
        HttpTransport(clock=clock, secret=SIGNING_SECRET, url=request_url) if request_url else None
    )
    delivery = Delivery(world=world, transport=http or sockets)
    world.emit = delivery.event
    sockets.changed = lambda: world.feed.tell("app")
    return SlackServer(
        world=world,
        web=Web(world=world, rates=rates, sockets=sockets),
        sockets=sockets,
        http=http,
        delivery=delivery,
        play=Play(world=world, delivery=delivery, sockets=sockets, by_http=http is not None),
        rates=rates,
        door=door,
    )
