"""Something that Slack delivered: a row before the ack, so that none is lost or done twice."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from bot.incidents.fields import look_over


@dataclass(frozen=True, kw_only=True, slots=True)
class Delivery:
    """A delivery as the store keeps it; who receives it fills in what stands above `taken_by`."""

    #: Slack's ID of the envelope or event, the same when it is delivered again
    id: str
    #: `events_api`, `slash_commands`, `interactive`, …
    type: str
    #: as it came, other people's secrets included
    payload: Mapping[str, Any]
    received_at: datetime
    #: who works on it, and until when nobody else may
    taken_by: str | None = None
    taken_until: datetime | None = None
    #: how often somebody has begun
    tries: int = 0

    def __post_init__(self) -> None:
        """Refuse what the store cannot keep; raises InputError or ValueError."""
        look_over(self, "id", "type", "taken_by")
