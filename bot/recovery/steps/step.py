"""What a step is: it acts, and proves what came of it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from bot.recovery.doing import Doing
from bot.recovery.world import Scene, Shown, Verdict


@dataclass(frozen=True, kw_only=True, slots=True)
class Ended:
    """How a step ended."""

    verdict: Verdict
    #: one sentence for the card
    why: str
    #: outputs that prove it: name → text, redacted
    proof: Mapping[str, str] = field(default_factory=dict)
    #: what later steps need of it
    result: Mapping[str, object] = field(default_factory=dict)

    @classmethod
    def shown(cls, shown: Shown, **result: object) -> Ended:
        """Return what a look at the machine proves."""
        return cls(verdict=shown.verdict, why=shown.why, proof=shown.outputs, result=result)


class Step(ABC):
    """One row of the table; an object without state."""

    #: the rung's name, or another word that is none
    name: ClassVar[str]
    #: what it does, for buttons and cards
    title: ClassVar[str]
    #: it changes something, so that the ladder is asked, a pause holds it up, and it is counted
    mutates: ClassVar[bool] = True
    #: parts of what was seen that may have changed since it was approved
    unbound: ClassVar[frozenset[str]] = frozenset()

    @abstractmethod
    def plan(self, scene: Scene) -> tuple[str, ...]:
        """Return the exact calls and commands, in order; for the card and the dry run."""

    @abstractmethod
    async def act(self, doing: Doing) -> Mapping[str, Any]:
        """Do it and return what the proof needs; raises an ActionError where it did not work."""

    @abstractmethod
    async def verify(self, doing: Doing, acted: Mapping[str, Any]) -> Ended:
        """Prove what came of it; never a silent success."""
