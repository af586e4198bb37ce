"""Call those who may decide again where a step waits too long; then others, too."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime

from bot.chat.desk import Desk
from bot.chat.rendering import ESCALATED
from bot.incidents.approval import Approval


@dataclass(kw_only=True)
class Escalating:
    """Says each call once, also after a restart and by several replicas: its row is there."""

    desk: Desk
    #: number of a call → until when all that was due for it is said
    _said: dict[int, datetime] = field(default_factory=dict)

    async def due(self) -> int:
        """Say what is due by now and return how many calls those were."""
        desk, now = self.desk, self.desk.now()
        count = 0
        for number, after in enumerate(desk.rules.escalate):
            until = now - after
            since = self._said.get(number, until - desk.rules.approval)
            for approval in await desk.store.approvals.ready_between(since, until):
                count += await self._call(approval, number, now)
            # only what was said is not looked at again
            self._said[number] = until
        return count

    async def _call(self, approval: Approval, number: int, now: datetime) -> int:
        later = self.desk.rules.escalate[number + 1 :]
        over = approval.past(now) or approval.ready_at is None
        if over or any(approval.ready_at + one <= now for one in later if approval.ready_at):
            return 0
        incident = await self.desk.store.incidents.get(approval.incident_id)
        parent = await self.desk.parent(incident) if incident else None
        if incident is None or parent is None:
            return 0
        purpose = f"{ESCALATED}{approval.id}:{number}"
        await self.desk.outbox.say(self.desk.row(incident, purpose, parent=parent, live=False))
        return 1
