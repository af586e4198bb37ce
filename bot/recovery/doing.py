"""What a step works with: parts done once, calls sent once, progress on its card."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from bot.clouds.timing import utc_now
from bot.errors import BotError
from bot.incidents.approval import ApprovalState
from bot.incidents.ids import LONG, new_id
from bot.incidents.run import cut, run_id
from bot.incidents.statement import Kind, Statement
from bot.incidents.store import Store
from bot.recovery.engine.port import Durable, Part
from bot.recovery.errors import (
    ActionError,
    OutcomeUnknownStepError,
    RefusedStepError,
    StepFailedError,
)
from bot.recovery.world import Scene, World

_ERRORS: Mapping[str, type[ActionError]] = {
    one.__name__: one for one in (RefusedStepError, StepFailedError, OutcomeUnknownStepError)
}
_FAILED = "failed"
_FENCE_S = 0.2


@dataclass(frozen=True, kw_only=True, slots=True)
class Waits:
    """How long things take; each is a setting."""

    #: between two looks at something that is awaited
    look: timedelta = timedelta(seconds=5)
    #: for an operation of the cloud
    operation: timedelta = timedelta(minutes=15)
    #: for a machine to come back and let us in
    boot: timedelta = timedelta(minutes=15)
    #: for names to resolve after a repair
    settle: timedelta = timedelta(seconds=60)
    #: verified again so long after it passed
    again: tuple[timedelta, ...] = (timedelta(minutes=2), timedelta(minutes=10))


@dataclass(frozen=True, kw_only=True)
class Tools:
    """What all steps share."""

    store: Store
    world: World
    #: this replica
    me: str
    #: tells whether nobody can have taken over what runs here
    holds: Callable[[], bool]
    #: says why nothing may be changed now: paused, or the breaker is open; empty where it may
    shut: Callable[[], Awaitable[str]]
    waits: Waits = field(default_factory=Waits)
    now: Callable[[], datetime] = utc_now
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep


@dataclass(frozen=True, kw_only=True)
class Doing:
    """One step of one chain while it is carried out."""

    tools: Tools
    durable: Durable
    approval_id: str
    number: int
    scene: Scene

    @property
    def run(self) -> str:
        """Return the id of the run."""
        return run_id(self.approval_id, self.number)

    async def once(self, name: str, part: Part) -> Any:  # noqa: ANN401 - any JSON value
        """Do a part once; an ActionError or another BotError is kept, and raised each time anew."""
        told = await self.durable.once(f"{self.number}.{name}", lambda: _told(part))
        if isinstance(told, dict) and (error := told.get(_FAILED)):
            raise _ERRORS.get(str(error[0]), StepFailedError)(error[1])
        return told["value"]

    async def send(
        self, call: str, *,
        note: Callable[[], Awaitable[Mapping[str, Any]]],
        go: Callable[[], Awaitable[Any]],
        look: Callable[[Mapping[str, Any]], Awaitable[Any]],
    ) -> Any:  # fmt: skip  # noqa: ANN401
        """Send a call that must not be sent twice, and return what came of it.

        `note` tells what there is before; it is kept before anything is sent. Where an earlier try
        was cut off, `look` finds out from that note what became of it, and nothing is sent: it
        raises OutcomeUnknownStepError where that cannot be told.
        """
        before = await self.once(f"{call}.before", note)
        return await self.once(f"{call}.send", lambda: self._send(call, before, go, look))

    async def _send(
        self, call: str, before: Mapping[str, Any],
        go: Callable[[], Awaitable[Any]], look: Callable[[Mapping[str, Any]], Awaitable[Any]],
    ) -> Any:  # fmt: skip  # noqa: ANN401
        if (why := await self._against()) and not await self._marked(call):
            raise RefusedStepError(f"{why} {call.capitalize()} was not sent.")
        # a frozen process that wakes up waits here until it is known that it is still the one
        while not self.tools.holds():
            await self.tools.sleep(_FENCE_S)
        mark = await self.tools.store.step_runs.mark_sending(
            self.run, call, at=self.tools.now(), by=self.tools.me, before=before
        )
        return await go() if mark is None else await look(before)

    async def _against(self) -> str:
        """Say why nothing more is sent: everything is stopped, or this chain is."""
        approval = await self.tools.store.approvals.get(self.approval_id)
        if approval is None or approval.state is not ApprovalState.APPROVED:
            return (approval.reason if approval else "") or "It is not approved any more."
        return await self.tools.shut()

    async def _marked(self, call: str) -> bool:
        marks = await self.tools.store.step_runs.sendings(self.run)
        return any(one["call"] == call for one in marks)

    async def tell(
        self, sentence: str, *, done: int | None = None, total: int | None = None, unit: str = ""
    ) -> None:
        """Show on the card what is being done."""
        await self.tools.store.step_runs.progress(
            self.run, cut(sentence), done=done, total=total, unit=unit
        )

    async def until(
        self, look: Callable[[], Awaitable[Any]], *, within: timedelta, or_else: ActionError
    ) -> Any:  # noqa: ANN401
        """Look until something is true and return that; raise `or_else` where it never is.

        To be called within a part: looking again after a crash does no harm.
        """
        end = self.tools.now() + within
        while True:
            if found := await look():
                return found
            if self.tools.now() >= end:
                raise or_else
            await self.tools.sleep(self.tools.waits.look.total_seconds())

    async def state_read(self, word: str, why: str = "") -> None:
        """Keep a state of the VM as it was read, so that later questions can rest on it."""
        await self.tools.store.statements.say(
            Statement(
                id=new_id(LONG),
                incident_id=self.scene.incident_id,
                vm_name=self.scene.vm_name,
                vm_id=self.scene.vm_id,
                kind=Kind.STATE,
                about=word,
                text=why,
                at=self.tools.now(),
            )
        )


async def _told(part: Part) -> dict[str, Any]:
    """Return what a part came to as JSON: the engine does not keep the class of an error."""
    try:
        return {"value": await part()}
    except BotError as error:
        return {_FAILED: [type(error).__name__, cut(str(error))]}
