"""One step of an approved chain as it is carried out: how far it is, and how it ended."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum

from bot.errors import InputError
from bot.incidents.fields import look_over

#: Characters of a run's sentence.
LONGEST_SENTENCE = 1_000


class RunState(StrEnum):
    """Where a step of a chain stands."""

    WAITING = "waiting"
    #: the world is read again
    CHECKING = "checking"
    ACTING = "acting"
    #: what was done is proven
    VERIFYING = "verifying"
    PASSED = "passed"
    FAILED = "failed"
    #: it was begun, and what came of it is not known
    UNKNOWN = "unknown"
    #: the world is not as it was approved: nothing was done
    REFUSED = "refused"
    #: a person stopped it before anything was done, or between two of its parts
    CANCELLED = "cancelled"
    #: a step before it did not pass
    LEFT_OUT = "left out"


#: None of these changes any more.
OVER = frozenset(
    {
        RunState.PASSED, RunState.FAILED, RunState.UNKNOWN, RunState.REFUSED, RunState.CANCELLED,
        RunState.LEFT_OUT,
    }
)  # fmt: skip
#: Something may be happening to the VM right now.
UNDER_WAY = frozenset({RunState.CHECKING, RunState.ACTING, RunState.VERIFYING})


@dataclass(frozen=True, kw_only=True, slots=True)
class Run:
    """A step's run as the store keeps it."""

    #: from `run_id`: the approval's id and the step's place in the chain
    id: str
    approval_id: str
    incident_id: str
    #: place in the chain, from 0
    number: int
    step: str
    vm_id: str = ""
    vm_name: str = ""
    state: RunState = RunState.WAITING
    #: what it is doing, or how it ended; ours, redacted
    sentence: str = ""
    #: how far it is, of `total`, in `unit`; None where that is not known
    done: int | None = None
    total: int | None = None
    unit: str = ""
    #: name → output that proves the outcome, redacted
    proof: Mapping[str, str] = field(default_factory=dict)
    #: what later steps of the chain need of it; ids, names and numbers alone
    result: Mapping[str, object] = field(default_factory=dict)
    started_at: datetime | None = None
    ended_at: datetime | None = None
    revision: int = 1

    def __post_init__(self) -> None:
        """Refuse what the store cannot keep; raises InputError or ValueError."""
        look_over(self, "id", "approval_id", "incident_id", "step", "vm_id", "vm_name")
        if len(self.sentence) > LONGEST_SENTENCE:
            raise InputError(f"A run's sentence has at most {LONGEST_SENTENCE:,} characters.")

    @property
    def over(self) -> bool:
        """Tell whether nothing changes any more."""
        return self.state in OVER

    def moved(self, state: RunState, *, at: datetime, **changes: object) -> Run:
        """Return it in another state; one that is over stays as it is."""
        if self.over:
            return self
        if self.started_at is None and state is not RunState.LEFT_OUT:
            changes.setdefault("started_at", at)
        if state in OVER:
            changes.setdefault("ended_at", at)
        return replace(self, state=state, revision=self.revision + 1, **changes)  # type: ignore[arg-type]


def run_id(approval_id: str, number: int) -> str:
    """Return the id of a chain's step."""
    return f"{approval_id}.{number}"


def cut(sentence: str) -> str:
    """Return a sentence that fits, cut where it does not."""
    return sentence if len(sentence) <= LONGEST_SENTENCE else sentence[: LONGEST_SENTENCE - 1] + "…"
