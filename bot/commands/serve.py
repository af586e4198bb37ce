"""`nccl-dns serve`: the bot in Slack, from its settings until a signal ends it."""

from __future__ import annotations

import asyncio
import gc
import logging
import os
import secrets
import signal
import socket as sockets
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import timedelta
from functools import partial
from pathlib import Path
from urllib.parse import urlsplit

from starlette.routing import Route

from bot.acting import recovering
from bot.app import build, network_of
from bot.chat import deciding, pausing, summing
from bot.chat.desk import Desk
from bot.chat.errors import AwayError
from bot.chat.escalating import Escalating
from bot.chat.intake import Intake
from bot.chat.outbox import Outbox
from bot.chat.people import People
from bot.chat.port import Identity
from bot.chat.rendering import Renderer
from bot.chat.rules import Rules
from bot.chat.slack import SlackChat
from bot.chat.socket import SILENT_S, Socket
from bot.clouds.crusoe.endpoint import endpoint
from bot.commands.heartbeat import beat
from bot.errors import BotError, StoreError
from bot.incidents import heads
from bot.incidents.store import Store
from bot.network.way import Network
from bot.settings import HeartbeatSettings, Settings, SettingsError, SlackSettings, load
from bot.settings.policy import policy_of
from bot.settings.secrets import secret
from bot.triage.aside import Threads, apart
from bot.triage.services import Services, sharing
from bot.web import health, slack
from bot.web.server import serving

_LOG = logging.getLogger(__name__)
#: Objects made before each generation is looked through.
_COLLECT = (20_000, 20, 20)
#: How long a thread that computes may keep the interpreter from the event loop, in seconds. The
#: loop gives it away at each system call; with Python's 5 ms and three logs being read it waited
#: for 100 ms in one turn.
_SWITCH_S = 0.0005
_EVERY_S = 1.0
_AWAY_S = 5.0
#: Who ends an incident by a click sums it up at once; this is for all others, and for what is
#: due in minutes.
_ENDED_EVERY_S = 5.0
_FORGET_EVERY_S = 3600.0
#: An outage of DNS finds no address older than this.
_REFRESH_EVERY_S = 600.0
#: An event comes again for up to a day.
_REPEATED = timedelta(days=2)
#: The audit's newest row is kept outside the database so often.
_HEAD_EVERY_S = 30.0
_GRACE = timedelta(seconds=20)


@dataclass(frozen=True, kw_only=True)
class Serving:
    """The bot, running."""

    desk: Desk
    intake: Intake
    #: None in HTTP mode
    socket: Socket | None
    port: int


def run(config: Path | None) -> None:
    """Serve until SIGTERM or SIGINT; raises a BotError with a sentence for what cannot be used."""
    logging.basicConfig(
        level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s: %(message)s"
    )
    for noisy in ("slack_sdk", "slack_bolt", "asyncssh", "httpx", "alembic"):
        logging.getLogger(noisy).setLevel(logging.WARNING)
    asyncio.run(_until_signalled(load(config)))


def settle() -> None:
    """Let the loop have its turn: from threads that read logs, and from the garbage collector.

    The collector would look through a quarter of a million objects of libraries, that stay for
    the life of the process, every second under load.
    """
    sys.setswitchinterval(_SWITCH_S)
    gc.collect()
    gc.freeze()
    gc.set_threshold(*_COLLECT)


async def _until_signalled(settings: Settings) -> None:
    stop = asyncio.Event()
    for name in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(name, stop.set)
    async with apart() as aside, running(settings, aside=aside) as bot:
        _LOG.info(
            "serving as %s in team %s; health at port %d",
            bot.desk.identity.name, bot.desk.identity.team, bot.port,
        )  # fmt: skip
        settle()
        await stop.wait()
        _LOG.info("stopping: what was begun ends first")


@asynccontextmanager
async def running(
    settings: Settings,
    *,
    environ: Mapping[str, str] | None = None,
    grace: timedelta = _GRACE,
    aside: Threads | None = None,
) -> AsyncIterator[Serving]:
    """Run the bot until the block ends; then acks are finished and what was begun may end.

    Logs are read `aside`, in threads where nothing is given.

    Raises SettingsError for what is not set, TokenError for what Slack does not take, StoreError.
    """
    told = settings.slack
    if told is None:
        raise SettingsError("[slack] is not set: serve needs bot_token and app_token there.")
    async with AsyncExitStack() as stack:
        network = network_of(settings, environ)
        services = await stack.enter_async_context(
            build(settings, environ=environ, network=network)
        )
        services = replace(services, aside=aside or services.aside)
        chat = SlackChat(_needed(told, "bot_token"), base_url=told.base_url, network=network)
        await stack.enter_async_context(chat.connected())
        identity = await _identity(chat)
        shared = await stack.enter_async_context(sharing(services))
        desk = _desk(settings, told, shared, chat, identity)
        desk.recovery = await stack.enter_async_context(recovering(settings, services))
        intake = _intake(desk)
        entry = _Entry(settings=told, desk=desk, intake=intake, network=network)
        port = await stack.enter_async_context(entry.web())
        # on the way out: first nothing more comes in, then what was begun ends
        stack.push_async_callback(intake.close, grace)
        socket = await stack.enter_async_context(entry.socket())
        loops = (
            intake.run(),
            _over_and_over(desk.outbox.catch_up),
            _over_and_over(partial(deciding.expire, desk)),
            _over_and_over(partial(deciding.say_proofs, desk, set())),
            _over_and_over(partial(pausing.say_switched, desk, set())),
            _over_and_over(Escalating(desk=desk).due, every_s=_ENDED_EVERY_S),
            _over_and_over(partial(summing.say_ended, desk, set()), every_s=_ENDED_EVERY_S),
            *([_over_and_over(desk.recovery.reconcile)] if desk.recovery else []),
            _over_and_over(partial(_forget, desk, settings.store.keep), every_s=_FORGET_EVERY_S),
            _over_and_over(
                partial(heads.follow, desk.store.audit, settings.state_dir), every_s=_HEAD_EVERY_S
            ),
            _over_and_over(
                partial(network.names.refresh, _endpoints(settings)), every_s=_REFRESH_EVERY_S
            ),
            *entry.heartbeat(settings.heartbeat),
        )
        await stack.enter_async_context(_beside(*loops))
        yield Serving(desk=desk, intake=intake, socket=socket, port=port)


def _needed(told: SlackSettings, name: str) -> str:
    """Return a secret of [slack]; raises SettingsError where it is not set."""
    found = secret(getattr(told, name), getattr(told, f"{name}_file"), f"slack.{name}_file")
    if not found:
        raise SettingsError(
            f"slack.{name} is not set: give it in the settings, as slack.{name}_file, or as "
            f"SLACK_{name.upper()}."
        )
    return found


async def _identity(chat: SlackChat) -> Identity:
    """Ask Slack who the bot is, until Slack is there; raises TokenError."""
    while True:
        try:
            return await chat.identity()
        except AwayError as error:
            _LOG.warning("waiting for Slack: %s", error)
            await asyncio.sleep(_AWAY_S)


def _desk(
    settings: Settings, told: SlackSettings, services: Services, chat: SlackChat, identity: Identity
) -> Desk:
    store = _store(services)
    rules = Rules(
        command=told.command,
        policy=policy_of(settings),
        escalate=settings.waits.escalate,
        escalate_to=settings.actions.policy.escalate_to,
        audit_channel=settings.actions.policy.audit_channel,
        approval=settings.waits.approval,
        two_people=settings.actions.by_two,
        console=told.links.console,
        job=told.links.job,
        resources=told.links.resources,
        home_channel=told.home_channel,
    )
    me = f"{sockets.gethostname()}:{os.getpid()}:{secrets.token_hex(3)}"
    renderer = Renderer(store=store, rules=rules, address=chat.permalink)
    outbox = Outbox(chat=chat, messages=store.messages, renderer=renderer, me=me)
    return Desk(
        chat=chat, services=services, store=store, outbox=outbox,
        people=People(chat=chat, rules=rules, team=identity.team), rules=rules, identity=identity,
    )  # fmt: skip


def _store(services: Services) -> Store:
    if services.store is None:
        why = next((one for one in services.missing if "kept" in one), "")
        raise StoreError(f"serve keeps what Slack delivers, and there is no store. {why}")
    return services.store


def _intake(desk: Desk) -> Intake:
    """Return the door, with the listeners behind it: the only place where bot meets its edge."""
    from handlers.app import answer, bolt, worker

    return Intake(
        deliveries=desk.store.deliveries,
        work=worker(bolt(desk), desk),
        answer=answer,
        me=desk.outbox.me,
    )


@dataclass(frozen=True, kw_only=True)
class _Entry:
    """The ways in: one port for health and HTTP, and the socket where that is the mode."""

    settings: SlackSettings
    desk: Desk
    intake: Intake
    network: Network
    #: the open connection, if any
    open: list[Socket] = field(default_factory=list)

    @asynccontextmanager
    async def web(self) -> AsyncIterator[int]:
        """Serve health and metrics, and Slack's requests in HTTP mode; yield the port."""
        routes = [
            Route("/healthz", health.healthz),
            Route("/readyz", health.readyz(self._ready)),
            Route("/metrics", health.metrics(self._numbers)),
        ]
        if self.settings.mode == "http":
            signing = _needed(self.settings, "signing_secret")
            taking = slack.endpoint(signing, self.intake.receive)
            routes.append(Route("/slack/events", taking, methods=["POST"]))
        try:
            async with serving(routes, host=self.settings.host, port=self.settings.port) as port:
                yield port
        except OSError as error:
            where = f"{self.settings.host}:{self.settings.port}"
            raise SettingsError(f"{where} (slack.host, slack.port): {error.strerror}.") from error

    @asynccontextmanager
    async def socket(self) -> AsyncIterator[Socket | None]:
        """Connect by Socket Mode, and keep connected, where that is the mode."""
        if self.settings.mode == "http":
            yield None
            return
        token = _needed(self.settings, "app_token")
        socket = Socket(token, self.intake, base_url=self.settings.base_url, network=self.network)
        await socket.open()
        self.open.append(socket)
        try:
            async with _beside(socket.keep_open()):
                yield socket
        finally:
            self.open.clear()
            await socket.close()

    def heartbeat(self, told: HeartbeatSettings) -> tuple[Awaitable[None], ...]:
        """Return what tells the watchdog of the settings, if there is one."""
        url = told.url.get_secret_value()
        return (beat(url, told.every, self.network, self._ready),) if url else ()

    async def _ready(self) -> health.Readiness:
        problems = []
        silent = next((one.silent_s for one in self.open), None)
        if silent is not None and silent > SILENT_S:
            problems.append(f"Nothing was heard of Slack for {silent:.0f} s.")
        try:
            await self.desk.store.deliveries.undone()
        except BotError as error:
            problems.append(str(error))
        return health.Readiness(silent_s=silent, problems=tuple(problems))

    def _numbers(self) -> Mapping[str, float]:
        counted = {f"deliveries_{name}": float(n) for name, n in self.intake.counts.items()}
        heard = dict.fromkeys(["slack_silent_seconds"], self.open[0].silent_s) if self.open else {}
        return {**counted, **heard, "deliveries_worked_on": float(self.intake.busy)}


def _endpoints(settings: Settings) -> frozenset[str]:
    """Return the hosts of the settings' APIs, whose addresses are kept for an outage of DNS."""
    urls = [rest.url for one in settings.clusters.values() if (rest := one.rest)]
    if settings.cloud.kind != "none":
        urls.append(str(endpoint(settings.cloud.base_url)))
    return frozenset(filter(None, (urlsplit(url).hostname for url in urls)))


async def _forget(desk: Desk, keep: timedelta) -> None:
    """Forget what people wrote once it is old, and deliveries once Slack repeats them no more."""
    now = desk.now()
    await desk.store.deliveries.purge(now - _REPEATED)
    await desk.store.forget(now - keep)


async def _over_and_over(
    doing: Callable[[], Awaitable[object]], *, every_s: float = _EVERY_S
) -> None:
    while True:
        try:
            await doing()
        except BotError as error:
            _LOG.warning("%s", error)
        await asyncio.sleep(every_s)


@asynccontextmanager
async def _beside(*loops: Awaitable[None]) -> AsyncIterator[None]:
    """Run endless loops beside the block."""
    tasks = [asyncio.ensure_future(one) for one in loops]
    try:
        yield
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
