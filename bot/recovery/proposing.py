"""Put a step, or a chain of steps, before those who may decide: bound to what is seen now."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from datetime import datetime, timedelta
from hashlib import sha256
from typing import Any

from bot.clouds.timing import utc_now
from bot.hosts.model import Rung
from bot.incidents.approval import Approval, Proposal
from bot.incidents.ids import new_id
from bot.incidents.store import Store
from bot.recovery.errors import RefusedStepError
from bot.recovery.facts import Limits
from bot.recovery.ladder import RESTARTS, Offer, offers
from bot.recovery.steps.table import STEPS
from bot.recovery.world import Seen, World, parts


@dataclass(frozen=True, kw_only=True)
class Proposer:
    """Proposes steps; whether somebody may is asked before."""

    store: Store
    world: World
    limits: Limits = field(default_factory=Limits)
    #: how long a step waits for a decision
    waits: timedelta = timedelta(minutes=30)
    #: steps that two people have to approve
    two_people: frozenset[str] = frozenset()
    now: Callable[[], datetime] = utc_now

    async def propose(
        self, seen: Seen, chain: tuple[str, ...], *,
        by: str | None, further: Mapping[str, Any] | None = None,
    ) -> Proposal:  # fmt: skip
        """Ask for a chain on a VM as it was just seen; return the question that is open already.

        `further` is kept with it, for its steps: ids and words of ours alone.

        Raises RefusedStepError with every reason where the first step is not offered.
        """
        if why := self.refusal(seen, chain[0]):
            raise RefusedStepError(" ".join(why))
        now, bound = self.now(), parts(seen, chain[0])
        approval = Approval(
            id=new_id(),
            incident_id=seen.scene.incident_id,
            step=chain[0],
            chain=chain,
            vm_id=seen.scene.vm_id,
            vm_name=seen.scene.vm_name,
            proposed_by=by,
            proposed_at=now,
            digest=digest(bound),
            seen={**bound, **(further or {}), "scene": scene_kept(seen), "found": seen.found},
            needs=2 if self.two_people & set(chain) else 1,
            ready_at=now,
            expires_at=now + self.waits,
        )
        return await self.store.approvals.propose(approval)

    def refusal(self, seen: Seen, step: str) -> tuple[str, ...]:
        """Return everything that stands against a step now; nothing where it is offered."""
        if not STEPS[step].mutates or step not in set(Rung):
            return ()
        offer = offers(seen.facts, self.limits)[Rung(step)]
        return () if offer.offered else offer.why

    def mildest(self, seen: Seen) -> Offer | None:
        """Return the mildest restart that is offered for a VM now."""
        offered = offers(seen.facts, self.limits)
        return next((offered[rung] for rung in RESTARTS if offered[rung].offered), None)


def digest(bound: dict[str, Any]) -> str:
    """Return the digest of what an approval binds to."""
    return sha256(json.dumps(bound, sort_keys=True).encode("ascii")).hexdigest()


def scene_kept(seen: Seen) -> dict[str, Any]:
    """Return the scene as an approval keeps it, for its plan; addresses and ids alone."""
    return asdict(seen.scene)
