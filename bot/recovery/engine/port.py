"""What recovery needs of a durable engine."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable
from datetime import timedelta
from enum import StrEnum
from typing import Any

#: What a part returns: JSON, for it is kept.
Part = Callable[[], Awaitable[Any]]


class Durable(ABC):
    """One workflow, from inside: parts that are done once each, in the same order every time."""

    @abstractmethod
    async def once(self, name: str, part: Part) -> Any:  # noqa: ANN401 - any JSON value
        """Do a part and keep what it returned; after a crash, return that and do nothing.

        A part that was cut off before its result was kept is done again: it looks before it acts.
        What a part raises ends the workflow; expected failures are returned.
        """

    @abstractmethod
    async def sleep(self, lasting: timedelta) -> None:
        """Wait; a crash does not begin the wait anew."""


class Status(StrEnum):
    """Where a workflow stands."""

    UNKNOWN = "unknown"
    RUNNING = "running"
    DONE = "done"
    CANCELLED = "cancelled"
    #: an error of ours, or it took its process down too often: somebody has to look
    BROKEN = "broken"


class Engine(ABC):
    """Runs one kind of workflow: the chain of an approval, whose id is the workflow's."""

    @abstractmethod
    async def start(self, approval_id: str) -> None:
        """Start the chain of an approval; one that was started before is left alone."""

    @abstractmethod
    async def status(self, approval_id: str) -> Status:
        """Return where the chain of an approval stands."""

    @abstractmethod
    async def cancel(self, approval_id: str) -> None:
        """Begin no further part of a chain."""

    @abstractmethod
    async def wait(self, approval_id: str) -> None:
        """Return once the chain of an approval has ended, however that was."""

    @abstractmethod
    def holds(self) -> bool:
        """Tell whether nobody can have taken over what runs here: asked before each call."""


#: Carries out the chain of an approval.
Carry = Callable[[Durable, str], Awaitable[None]]
