"""Bring events, commands and interactions to the app, and bring events again if need be."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Awaitable
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, Protocol

from playground.slack.app import EVENT_SCOPES
from playground.slack.kit.rules import Json
from playground.slack.workspace import APP_ID, BOT_USER, TEAM, Workspace

#: How long Slack waits for an answer (docs.slack.dev/interactivity/handling-user-interaction).
ACK_WITHIN = timedelta(seconds=3)

#: Waits before an unanswered event comes again: nearly at once, after one and after five minutes
#: (docs.slack.dev/apis/events-api, «Retries»).
RETRIES = (timedelta(0), timedelta(minutes=1), timedelta(minutes=5))

#: The legacy verification token that every payload still carries.
VERIFICATION = "playground-verification"


@dataclass(frozen=True, kw_only=True, slots=True)
class Retry:
    """Why a delivery is not the first one."""

    number: int
    reason: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Outcome:
    """What came of a delivery."""

    #: the answer's body: an object, a text, or nothing
    body: Any = None
    #: empty if the app answered; else what Slack calls it, such as `timeout`
    failed: str = ""
    #: the app asked not to be told again
    no_retry: bool = False


class Transport(Protocol):
    """A way to the app."""

    async def send(self, kind: str, payload: Json, retry: Retry | None = None) -> Outcome:
        """Bring a payload of `events_api`, `slash_commands` or `interactive`, and wait."""


async def within(answer: asyncio.Future[Any], wait: Awaitable[None]) -> bool:
    """Wait for an answer or the end of the time for it; return whether it came."""
    timer = asyncio.ensure_future(wait)
    try:
        await asyncio.wait({answer, timer}, return_when=asyncio.FIRST_COMPLETED)
        return answer.done()
    finally:
        timer.cancel()


@dataclass(kw_only=True)
class Delivery:
    """Everything on its way to the app."""

    world: Workspace
    transport: Transport
    _tasks: set[asyncio.Task[None]] = field(default_factory=set)

    def event(self, name: str, event: Json) -> None:
        """Send an event, if the app subscribed to it and may have it."""
        needed = EVENT_SCOPES.get(name)
        allowed = needed is None or needed in self.world.app.scopes
        if name in self.world.app.events and allowed:
            task = asyncio.ensure_future(self._event(self._wrapped(event)))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    def _wrapped(self, event: Json) -> Json:
        channel = self.world.channels.get(str(event.get("channel")))
        return {
            "token": VERIFICATION,
            "team_id": TEAM,
            "api_app_id": APP_ID,
            "event": event,
            "type": "event_callback",
            "event_id": f"Ev{secrets.token_hex(5).upper()}",
            "event_time": self.world.seconds(),
            "authorizations": [
                {
                    "enterprise_id": None,
                    "team_id": TEAM,
                    "user_id": BOT_USER,
                    "is_bot": True,
                    "is_enterprise_install": False,
                }
            ],
            "is_ext_shared_channel": bool(channel and channel.shared_with),
            "event_context": secrets.token_urlsafe(12),
        }

    async def _event(self, body: Json) -> None:
        outcome = await self.transport.send("events_api", body)
        for number, wait in enumerate(RETRIES, start=1):
            if not outcome.failed or outcome.no_retry:
                return
            if wait:
                await self.world.clock.sleep(wait)
            retry = Retry(number=number, reason=outcome.failed)
            outcome = await self.transport.send("events_api", body, retry)

    async def interactive(self, payload: Json) -> Outcome:
        """Send an interaction; it comes once, whatever becomes of it."""
        if not self.world.app.interactivity:
            return Outcome(failed="interactivity_disabled")
        about = {"token": VERIFICATION, "api_app_id": APP_ID}
        return await self.transport.send("interactive", payload | about)

    async def command(self, payload: Json) -> Outcome:
        """Send a slash command; it comes once."""
        about = {"token": VERIFICATION, "api_app_id": APP_ID}
        return await self.transport.send("slash_commands", payload | about)

    async def close(self) -> None:
        """Give up what is still on its way."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
