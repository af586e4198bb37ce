"""Tell a watchdog that the bot is well, and be silent where it is not."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from datetime import timedelta

import httpx

from bot.network.telling import why
from bot.network.way import Network
from bot.network.with_httpx import Transport
from bot.web.health import Readiness

_LOG = logging.getLogger(__name__)
_TIMEOUT_S = 10.0
_FROM_HTTP_ERROR = 400


async def beat(
    url: str, every: timedelta, network: Network, ready: Callable[[], Awaitable[Readiness]]
) -> None:
    """Fetch the watchdog's address again and again, for ever, while nothing is wrong.

    The address is a secret: whoever knows it can keep the watchdog quiet. It is not logged.
    """
    async with httpx.AsyncClient(
        transport=Transport(network), timeout=_TIMEOUT_S, trust_env=False
    ) as client:
        while True:
            found = await ready()
            if found.problems:
                _LOG.warning("no heartbeat is sent: %s", " ".join(found.problems))
            else:
                await _once(client, url)
            await asyncio.sleep(every.total_seconds())


async def _once(client: httpx.AsyncClient, url: str) -> None:
    try:
        answer = await client.get(url)
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        said = why(error) or type(error).__name__
        _LOG.warning("the heartbeat did not get through (heartbeat.url): %s", said)
        return
    if answer.status_code >= _FROM_HTTP_ERROR:
        status = answer.status_code
        _LOG.warning("the heartbeat was answered with status %d (heartbeat.url)", status)
