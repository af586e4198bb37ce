"""Take what Slack delivers: a row before the ack, the work after it, from the row alone."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from hashlib import sha256
from typing import Any

from bot.chat.errors import AwayError
from bot.clouds.timing import utc_now
from bot.errors import BotError, StoreError
from bot.incidents.deliveries import MOST_TRIES, Deliveries
from bot.incidents.delivery import Delivery

_LOG = logging.getLogger(__name__)
#: How long the insert may take: Slack waits three seconds for the whole answer.
ACK_BOUND_S = 1.0
#: How long a delivery is somebody's without a word from them; a dead one's is free after that.
_LEASE = timedelta(seconds=15)
#: Until the work begins: an insert that was given up may succeed later, with nobody to work on it.
_FIRST_LEASE = timedelta(seconds=4)
#: Deliveries that are worked on at one time. Nearly all of them wait: for turns, which bound the
#: work, or for a quiet moment to say the rest; fewer would keep new ones from their turn.
_AT_ONCE = 256
_AWAY_S = 2.0
_MOST_AWAY_S = 15.0
_AFTER_FAILURE = timedelta(seconds=5)
_LOOK_EVERY_S = 2.0

Json = Mapping[str, Any]


class NotKeptError(StoreError):
    """A delivery was not kept, so it must not be acknowledged: Slack then delivers it again."""


@dataclass(kw_only=True)
class Intake:
    """The one door for everything that Slack delivers."""

    deliveries: Deliveries
    #: does what a delivery asks for
    work: Callable[[Delivery], Awaitable[None]]
    #: what a delivery is answered with at once, if it is not to be worked on; does no I/O
    answer: Callable[[str, Json], Json | None]
    me: str
    now: Callable[[], datetime] = utc_now
    #: how many were taken, repeated and given up, for /metrics
    counts: dict[str, int] = field(
        default_factory=lambda: dict.fromkeys(("received", "repeated", "refused", "failed"), 0)
    )
    #: when the last one came
    last_at: datetime | None = None
    _tasks: set[asyncio.Task[None]] = field(default_factory=set)
    _free: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(_AT_ONCE))
    _closing: bool = False

    async def receive(self, kind: str, payload: Json) -> Json | None:
        """Keep a delivery, begin its work, and return what to acknowledge it with.

        Raises NotKeptError where the store does not take it within a second: no ack then.
        """
        self.last_at = self.now()
        at_once = self.answer(kind, payload)
        if at_once is not None:
            return at_once
        delivery = Delivery(
            id=delivery_id(kind, payload),
            type=kind,
            payload=payload,
            received_at=self.last_at,
            taken_by=self.me,
            taken_until=self.last_at + _FIRST_LEASE,
            tries=1,
        )
        try:
            async with asyncio.timeout(ACK_BOUND_S):
                new = await self.deliveries.receive(delivery)
        except (TimeoutError, BotError) as error:
            self.counts["refused"] += 1
            _LOG.error("a delivery was not kept and not acknowledged: %s", str(error) or "too slow")
            raise NotKeptError("The store did not take the delivery in time.") from error
        self.counts["received" if new else "repeated"] += 1
        if new and not self._closing:
            self._begin(delivery)
        return None

    async def run(self) -> None:
        """Take what was left undone, here before the last stop or by another replica, for ever."""
        while True:
            try:
                await self.take_left()
            except BotError as error:
                _LOG.warning("undone deliveries are not looked for: %s", error)
            await asyncio.sleep(_LOOK_EVERY_S)

    async def take_left(self) -> int:
        """Begin the work of undone deliveries that nobody works on; return how many."""
        if self._closing:
            return 0
        left = await self.deliveries.take(by=self.me, at=self.now(), lease=_LEASE)
        for delivery in left:
            self._begin(delivery)
        return len(left)

    async def close(self, grace: timedelta) -> None:
        """Stop taking, let what was begun end, and leave to others what does not in time."""
        self._closing = True
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=grace.total_seconds())
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    @property
    def busy(self) -> int:
        """Return how many deliveries are worked on."""
        return len(self._tasks)

    def _begin(self, delivery: Delivery) -> None:
        task = asyncio.create_task(self._worked(delivery))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _worked(self, delivery: Delivery) -> None:
        holding = asyncio.create_task(self._hold(delivery.id))
        try:
            async with self._free:
                await self._until_slack_is_there(delivery)
            await self.deliveries.done(delivery.id, at=self.now())
        except asyncio.CancelledError:
            await self._give_back(delivery.id, self.now())
            raise
        except Exception:  # noqa: BLE001 - whatever it was, it is tried again
            self.counts["failed"] += 1
            left = MOST_TRIES - delivery.tries
            _LOG.exception("delivery %s failed; it is tried %d more times", delivery.id, left)
            await self._give_back(delivery.id, self.now() + _AFTER_FAILURE * delivery.tries)
        finally:
            holding.cancel()

    async def _until_slack_is_there(self, delivery: Delivery) -> None:
        """Do the work, again while Slack is away: that is no failure of the work."""
        wait = _AWAY_S
        while True:
            try:
                return await self.work(delivery)
            except AwayError as error:
                _LOG.warning("delivery %s waits for Slack: %s", delivery.id, error)
            await asyncio.sleep(wait)
            wait = min(wait * 2, _MOST_AWAY_S)

    async def _hold(self, delivery_id: str) -> None:
        """Keep a delivery while it is worked on; most are done before the first lease ends."""
        await asyncio.sleep(_FIRST_LEASE.total_seconds() / 2)
        while True:
            await self._give_back(delivery_id, self.now() + _LEASE)
            await asyncio.sleep(_LEASE.total_seconds() / 3)

    async def _give_back(self, delivery_id: str, until: datetime) -> None:
        with suppress(BotError):
            await self.deliveries.extend(delivery_id, by=self.me, until=until)


def delivery_id(kind: str, payload: Json) -> str:
    """Return what is the same when a delivery comes again: its event's or its trigger's ID."""
    named = payload.get("event_id") or payload.get("trigger_id")
    if named:
        return f"{kind}:{named}"
    told = json.dumps(payload, sort_keys=True, default=str).encode("utf-8", "surrogatepass")
    return f"{kind}:{sha256(told).hexdigest()}"
