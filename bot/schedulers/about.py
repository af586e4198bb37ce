"""How the configured ways to a scheduler answer, and what it tells of itself: values, free of I/O.

A way that does not answer is an answer, too: all of them are asked, and none hides another.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta


@dataclass(frozen=True, kw_only=True, slots=True)
class About:
    """What one way tells."""

    #: as reports name it
    way: str
    #: why it does not answer, a sentence; empty where it does
    problem: str = ""
    #: release, such as `22.05.8`; empty where it is not told
    version: str = ""
    #: host names of the controllers, as far as they are told
    controllers: tuple[str, ...] = ()
    #: whether there is accounting; None where that is not told
    accounting: bool | None = None
    #: after which the controller forgets an ended job; None where that is not told
    forgets_after: timedelta | None = None
    #: whether our user may drain nodes and requeue others' jobs; None where it cannot be asked
    may_change: bool | None = None
    #: how that is known, or why it is not, a sentence
    rights: str = ""
