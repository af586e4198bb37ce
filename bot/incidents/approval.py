"""A person's decision on one step: single use, expiring, and what each click comes to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from typing import Any

from bot.incidents.fields import look_over
from bot.incidents.incident import Entry

TWO = 2


class ApprovalState(StrEnum):
    """Where the question stands."""

    OPEN = "open"
    APPROVED = "approved"
    DECLINED = "declined"
    #: nobody decided in time
    EXPIRED = "expired"
    #: what it was about has changed, before or after it was approved
    VOIDED = "voided"


class Verdict(StrEnum):
    """What a person says."""

    APPROVE = "approve"
    DECLINE = "decline"


class Answer(StrEnum):
    """What a person's click came to."""

    #: it has decided the question
    DECIDED = "decided"
    #: it counts, and one more person is needed
    FIRST = "first"
    #: the same person approved before; another one is needed
    SAME_PERSON = "same_person"
    #: the step is not ready to run, so that it cannot be approved yet
    NOT_READY = "not_ready"
    #: decided, expired or voided before; the approval says by whom and when
    LATE = "late"


@dataclass(frozen=True, kw_only=True, slots=True)
class Approval:
    """An approval as the store keeps it; who proposes it fills in what stands above `state`."""

    #: from `ids.new_id`; a button carries it and nothing else
    id: str
    incident_id: str
    #: the rung or other step that the question is about
    step: str
    #: all that one decision covers, in order
    chain: tuple[str, ...]
    #: empty for a step that is not about one VM
    vm_id: str = ""
    vm_name: str = ""
    #: Slack user, or None for the bot
    proposed_by: str | None = None
    proposed_at: datetime
    #: of what was seen, to which the decision is bound
    digest: str
    #: what was seen, part by part, so that a difference can be named; ids and words of ours alone
    seen: Mapping[str, Any] = field(default_factory=dict, hash=False)
    #: how many people have to approve, 1 or 2
    needs: int = 1
    #: when the step could run; it expires from then on, and cannot be approved before
    ready_at: datetime | None = None
    expires_at: datetime | None = None
    state: ApprovalState = ApprovalState.OPEN
    #: the first of two who approved
    first_by: str | None = None
    first_at: datetime | None = None
    #: who settled it, the second of two included; None where time or the bot did
    decided_by: str | None = None
    decided_at: datetime | None = None
    #: why it was voided, or what the decider said
    reason: str | None = None
    #: 1 when proposed, one more with every change
    revision: int = 1

    def __post_init__(self) -> None:
        """Refuse what the store cannot keep; raises InputError or ValueError."""
        look_over(
            self, "id", "incident_id", "step", "vm_id", "vm_name", "proposed_by", "digest",
            "first_by", "decided_by",
        )  # fmt: skip
        if self.needs not in {1, TWO}:
            raise ValueError(f"An approval needs one or two people, not {self.needs}.")
        if self.step not in self.chain:
            raise ValueError(f"The step {self.step} is not part of its chain.")
        if (self.ready_at is None) is not (self.expires_at is None):
            raise ValueError("An approval that is ready expires, and no other does.")

    def past(self, at: datetime) -> bool:
        """Tell whether it is open but its time is over."""
        open_still = self.state is ApprovalState.OPEN
        return open_still and self.expires_at is not None and self.expires_at <= at

    def readied(self, *, at: datetime, expires_at: datetime, digest: str) -> Approval:
        """Return it ready to be approved, bound to what is seen now; the first time counts."""
        if self.state is not ApprovalState.OPEN or self.ready_at is not None:
            return self
        return self._on(ready_at=at, expires_at=expires_at, digest=digest)

    def expired(self, *, at: datetime) -> Approval:
        """Return it expired where its time is over, and as it is where not."""
        return self._on(state=ApprovalState.EXPIRED, decided_at=at) if self.past(at) else self

    def voided(self, *, at: datetime, why: str, by: str | None = None) -> Approval:
        """Return it voided; one that was approved keeps who approved it and when."""
        if self.state is ApprovalState.APPROVED:
            return self._on(state=ApprovalState.VOIDED, reason=why)
        if self.state is not ApprovalState.OPEN:
            return self
        return self._on(state=ApprovalState.VOIDED, decided_by=by, decided_at=at, reason=why)

    def decided(
        self,
        verdict: Verdict,
        *,
        by: str,
        at: datetime,
        reason: str | None = None,
        alone: bool = False,
    ) -> Decision:
        """Return what a person's click comes to, and the approval after it.

        `alone`: the glass is broken, and one person is enough.
        """
        if self.past(at):
            return Decision(answer=Answer.LATE, approval=self.expired(at=at))
        if self.state is not ApprovalState.OPEN:
            return Decision(answer=Answer.LATE, approval=self)
        state = ApprovalState.DECLINED
        if verdict is Verdict.APPROVE:
            state = ApprovalState.APPROVED
            if self.ready_at is None:
                return Decision(answer=Answer.NOT_READY, approval=self)
            if self.first_by == by and not alone:
                return Decision(answer=Answer.SAME_PERSON, approval=self)
            if self.needs == TWO and self.first_by is None and not alone:
                first = self._on(first_by=by, first_at=at)
                return Decision(answer=Answer.FIRST, approval=first)
        settled = self._on(state=state, decided_by=by, decided_at=at, reason=reason)
        return Decision(answer=Answer.DECIDED, approval=settled)

    def _on(self, **changes: object) -> Approval:
        return replace(self, revision=self.revision + 1, **changes)  # type: ignore[arg-type]


@dataclass(frozen=True, kw_only=True, slots=True)
class Decision:
    """What a click came to, and the approval as it is now."""

    answer: Answer
    approval: Approval


@dataclass(frozen=True, kw_only=True, slots=True)
class Proposal:
    """The open approval of a step on a VM, and whether this call has proposed it."""

    approval: Approval
    made: bool


def entry_of(before: Approval, after: Approval, *, at: datetime, by: str | None) -> Entry:
    """Return the timeline's entry for a change of an approval."""
    kind: str = after.state
    if before.state is after.state:
        kind = "ready" if before.ready_at != after.ready_at else "first_approved"
    return Entry(at=at, kind=kind, who=by, about=after.id, text=after.reason or "")
