"""The first steps that the page shows to somebody who is new to it."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Literal

from playground.slack.kit.rules import Json

#: What ticks a step: a message or command was sent, something was pressed, a thread was opened, a
#: message's shortcut was taken, somebody else is acted as.
Done = Literal["said", "press", "thread", "shortcut", "became"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Step:
    """One step."""

    text: str
    done: Done


@dataclass(frozen=True, kw_only=True, slots=True)
class Guide:
    """The steps in order, and what stands ready in the message field."""

    steps: tuple[Step, ...]
    line: str = ""

    def shown(self) -> Json:
        """Return it as JSON for the page."""
        return asdict(self)
