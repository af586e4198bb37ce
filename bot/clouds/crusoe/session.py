"""Send signed requests to one host, at a bounded pace, and read them again where that is safe."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Generator
from dataclasses import dataclass, field
from datetime import timedelta

import httpx

from bot.clouds.crusoe import signing
from bot.clouds.crusoe.answers import Answer, read_object, unreachable, unreadable
from bot.clouds.crusoe.call import Call
from bot.clouds.crusoe.credentials import Credentials
from bot.clouds.crusoe.endpoint import Endpoint
from bot.clouds.crusoe.pace import Pace
from bot.clouds.crusoe.retry import RetryPolicy
from bot.clouds.errors import CloudError, CloudSetupError, CloudUnavailableError, RateLimitedError
from bot.clouds.timing import Timing

log = logging.getLogger(__name__)

#: A page of 500 VMs is some 2 MB.
MAX_ANSWER_BYTES = 32 * 2**20

TIME_LIMIT = timedelta(seconds=30)


class Signer(httpx.Auth):
    """Sign each request as it leaves, for one host alone."""

    def __init__(self, endpoint: Endpoint, credentials: Credentials, timing: Timing) -> None:
        self._endpoint = endpoint
        self._credentials = credentials
        self._timing = timing

    def auth_flow(self, request: httpx.Request) -> Generator[httpx.Request, httpx.Response, None]:
        """Add timestamp and signature; raises CloudSetupError for a URL that is not the API's."""
        if not self._endpoint.owns(request.url):
            raise CloudSetupError(
                f"A request to {request.url.host!r} was not signed: the key is for "
                f"{self._endpoint} alone. Nothing was sent."
            )
        stamp = signing.timestamp(self._timing.now())
        message = signing.payload(
            method=request.method,
            path=request.url.path,
            query=request.url.query.decode("ascii"),
            stamp=stamp,
        )
        signed = signing.signature(self._credentials.key, message)
        request.headers[signing.TIMESTAMP_HEADER] = stamp
        request.headers["Authorization"] = signing.authorization(
            self._credentials.access_key_id, signed
        )
        yield request


@dataclass(frozen=True, kw_only=True)
class Session:
    """One key's way to the API; projects may share it and then share its pace."""

    client: httpx.AsyncClient = field(repr=False)
    endpoint: Endpoint
    credentials: Credentials
    pace: Pace = field(repr=False)
    timing: Timing = field(repr=False)
    retries: RetryPolicy = field(default_factory=RetryPolicy)
    #: for one request, from connecting to the last byte
    time_limit: timedelta = TIME_LIMIT

    async def answer(self, call: Call) -> Answer:
        """Send a call once, signed afresh, and return whatever came back.

        Raises CloudUnavailableError where nothing did, UnreadableAnswerError where too much did.
        """
        await self.pace.turn()
        try:
            async with asyncio.timeout(self.time_limit.total_seconds()):
                answer = await self._exchange(call)
        except (TimeoutError, httpx.RequestError) as error:
            log.debug("%s %s: %s", call.method, call.path, type(error).__name__)
            raise unreachable(call, error, self.credentials) from error
        log.debug("%s %s: %s", call.method, call.path, answer.status)
        return answer

    async def once(self, call: Call) -> dict[str, object]:
        """Send a call once and return the JSON object of its answer."""
        try:
            return read_object(await self.answer(call), self.credentials)
        except (RateLimitedError, CloudUnavailableError) as error:
            if error.retry_after is not None and error.retry_after <= self.retries.patience:
                # The key is limited, not the call: whoever shares it waits, too.
                self.pace.hold(error.retry_after)
            raise

    async def read(self, call: Call) -> dict[str, object]:
        """Send a call that changes nothing, again where it fails in a way that may pass."""
        failures = 0
        while True:
            try:
                return await self.once(call)
            except CloudError as error:
                failures += 1
                wait = self.wait_after(error, failures) if error.transient else None
                if wait is None:
                    raise
            await self.timing.sleep(wait.total_seconds())

    def wait_after(self, error: CloudError, failures: int) -> timedelta | None:
        """Return how long to wait before sending again, or None to give up."""
        return self.retries.delay(
            failures,
            asked=getattr(error, "retry_after", None),
            jitter=self.timing.jitter(),
        )

    async def _exchange(self, call: Call) -> Answer:
        request = self.client.build_request(
            call.method,
            f"{self.endpoint}{call.target}",
            content=call.content,
            headers={"Accept": "application/json"}
            | ({} if call.content is None else {"Content-Type": "application/json"}),
        )
        response = await self.client.send(request, stream=True)
        try:
            body = bytearray()
            async for piece in response.aiter_bytes():
                body += piece
                if len(body) > MAX_ANSWER_BYTES:
                    raise unreadable(call, f"it is longer than {MAX_ANSWER_BYTES} bytes")
        finally:
            await response.aclose()
        return Answer(
            call=call,
            status=response.status_code,
            headers=response.headers,
            body=bytes(body),
            at=self.timing.now(),
        )
