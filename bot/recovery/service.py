"""Recovery as the rest of the product uses it: propose, begin, and make rows true."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from bot.clouds.timing import utc_now
from bot.incidents.approval import Approval
from bot.incidents.run import OVER, RunState
from bot.incidents.store import Store
from bot.incidents.switches import Name
from bot.recovery.carrying import dry
from bot.recovery.engine.port import Engine, Status
from bot.recovery.proposing import Proposer
from bot.recovery.world import Scene

_LOG = logging.getLogger(__name__)
#: An approval is looked after for so long; a chain never takes longer.
_LOOKED_AFTER = timedelta(days=1)
_BROKEN = (
    "The engine gave this chain up: it ended in an error of ours, or took its process down too "
    "often. What came of its last step is not known; look at the VM."
)


@dataclass(kw_only=True)
class Recovery:
    """Carries out what was approved."""

    store: Store
    engine: Engine
    proposer: Proposer
    now: Callable[[], datetime] = utc_now
    #: chains that are known to have ended
    _ended: set[str] = field(default_factory=set)

    async def begin(self, approval: Approval) -> None:
        """Begin the chain of an approved approval; twice is once."""
        await self.engine.start(approval.id)

    async def reconcile(self) -> int:
        """Make rows true: what is approved runs, and what broke says so; return how many were not.

        Every replica may call it at any time: a chain's id is its approval's.
        """
        mended = 0
        since = self.now() - _LOOKED_AFTER
        for approval in await self.store.approvals.approved_since(since):
            if approval.id in self._ended:
                continue
            status = await self.engine.status(approval.id)
            if status is Status.UNKNOWN:
                await self.begin(approval)
                mended += 1
            elif status is Status.BROKEN:
                mended += await self._give_up(approval)
                self._ended.add(approval.id)
            elif status is not Status.RUNNING:
                self._ended.add(approval.id)
        return mended

    async def _give_up(self, approval: Approval) -> int:
        left = [one for one in await self.store.step_runs.of(approval.id) if one.state not in OVER]
        for run in left:
            state = RunState.LEFT_OUT if run.state is RunState.WAITING else RunState.UNKNOWN
            await self.store.step_runs.move(run.id, state, at=self.now(), sentence=_BROKEN)
        if left:
            _LOG.error("the chain of approval %s broke", approval.id)
        return len(left)


async def shut(store: Store) -> str:
    """Say why nothing may be changed now: a person paused, or the breaker is open."""
    for switch in await store.switches.on():
        what = "Paused" if switch.name is Name.PAUSE else "The breaker is open"
        reason = f": {switch.reason}" if switch.reason else ""
        return f"{what} since {switch.at:%H:%M} UTC{reason}."
    return ""


def plan_of(approval: Approval) -> tuple[str, ...]:
    """Return what the chain of an approval does, call by call, from the scene that it kept."""
    kept: dict[str, Any] | None = approval.seen.get("scene")
    if kept is None:
        return ()
    scene = Scene(**{**kept, "public_ips": tuple(kept.get("public_ips", ()))})
    return dry(scene, approval.chain)
