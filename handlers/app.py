"""The Bolt app: every listener, run on deliveries that are kept already."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from typing import Any

from slack_bolt.async_app import AsyncApp, AsyncBoltRequest
from slack_bolt.authorization import AuthorizeResult

from bot.chat.desk import Desk
from bot.chat.errors import AwayError, ChatError, TokenError
from bot.errors import BotError, StoreError
from bot.incidents.delivery import Delivery
from handlers import actions, admission, commands, events, shortcuts, views
from handlers.payloads import asker_of

_LOG = logging.getLogger(__name__)


def bolt(desk: Desk) -> AsyncApp:
    """Return the app with every listener registered.

    It runs on stored deliveries, which are acknowledged before: an `ack()` in it goes nowhere, its
    signatures were checked where they came in, and what a listener raises comes out again.
    """

    async def authorize() -> AuthorizeResult:
        return AuthorizeResult(
            enterprise_id=None, team_id=desk.identity.team, bot_user_id=desk.identity.user
        )

    app = AsyncApp(
        name="nccl-dns",
        authorize=authorize,
        process_before_response=True,
        request_verification_enabled=False,
        ssl_check_enabled=False,
        url_verification_enabled=False,
    )

    @app.error
    async def raised(error: Exception) -> None:
        raise error

    admission.register(app, desk)
    for package in (commands, shortcuts, events, actions, views):
        package.register(app, desk)
    return app


def worker(app: AsyncApp, desk: Desk) -> Callable[[Delivery], Awaitable[None]]:
    """Return what does the work of a stored delivery.

    An error that trying again does not mend is said to whoever asked, and logged; AwayError,
    StoreError and mistakes of ours come out, so that the delivery is worked on again.
    """

    async def work(delivery: Delivery) -> None:
        request = AsyncBoltRequest(body=dict(delivery.payload), mode="socket_mode")
        try:
            await app.async_dispatch(request)
        except (AwayError, StoreError):
            raise
        except BotError as error:
            level = logging.ERROR if isinstance(error, ChatError) else logging.INFO
            _LOG.log(level, "%s was not done: %s", delivery.type, error)
            with suppress(ChatError):
                await desk.explain(asker_of(delivery.type, delivery.payload), _told(error))

    return work


def _told(error: BotError) -> str:
    """Return what a person in Slack is told: an operator's fault is named as such."""
    where = " Whoever runs me has to mend that." if isinstance(error, TokenError) else ""
    return f"{error}{where}"


def answer(kind: str, payload: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Return what a form that cannot be used is answered with at once; None for all else."""
    return views.complaint(payload) if kind == "interactive" else None
