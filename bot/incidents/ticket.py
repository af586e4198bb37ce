"""A version of an incident's support ticket, and what machines answered at one look."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any

from bot.incidents.fields import look_over


class Mail(StrEnum):
    """What became of sending a ticket as mail."""

    NONE = "none"
    #: somebody confirmed it; nobody else sends it
    SENDING = "sending"
    SENT = "sent"
    #: the server took nothing
    FAILED = "failed"
    #: the server may have taken it; it is not sent again
    UNKNOWN = "unknown"


@dataclass(frozen=True, kw_only=True, slots=True)
class Ticket:
    """A version as the store keeps it; none is ever changed but for its mail."""

    id: str
    incident_id: str
    #: 1, 2, …; the store gives it
    number: int = 0
    at: datetime
    #: who made it; None for the bot
    who: str | None = None
    #: what it says, redacted; None once it was forgotten for its age
    content: Mapping[str, Any] | None = field(hash=False)
    mail: Mail = Mail.NONE
    mail_by: str | None = None
    mail_at: datetime | None = None
    #: whom it went to, or why it did not
    mail_said: str = ""

    def __post_init__(self) -> None:
        """Refuse what the store cannot keep; raises InputError or ValueError."""
        look_over(self, "id", "incident_id", "who", "mail_by")


@dataclass(frozen=True, kw_only=True, slots=True)
class Capture:
    """What machines, cloud and scheduler answered at one look."""

    id: str
    incident_id: str
    at: datetime
    #: `look`, or the step before which it was taken
    why: str
    #: name → text, redacted; None once it was forgotten for its age
    outputs: Mapping[str, str] | None = field(hash=False)

    def __post_init__(self) -> None:
        """Refuse what the store cannot keep; raises InputError or ValueError."""
        look_over(self, "id", "incident_id", "why")
