"""A Slack message of ours: a row before it is sent, so that none is lost or said twice."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from bot.incidents.fields import look_over

#: The message that shows an incident's current state and carries its buttons.
PARENT = "parent"
_CARD = "card:"


@dataclass(frozen=True, kw_only=True, slots=True)
class Message:
    """A message as the store keeps it; who wants it said fills in what is known.

    One incident says one thing once in a channel: `purpose` tells what. The store gives `ts` and
    what stands below it.
    """

    #: from `ids.new_id(LONG)`; the message carries it as metadata, by which it is found again
    id: str
    incident_id: str
    #: `parent`, `evidence`, `probes`, `link`, `summary`, … or that of `card`
    purpose: str
    team: str
    channel: str
    created_at: datetime
    #: `ts` of the message that it replies to
    thread: str | None = None
    #: False: said once and never edited, such as a reply that mentions somebody
    live: bool = True
    #: Slack's name for it, None until it is known to be posted
    ts: str | None = None
    posted_at: datetime | None = None
    #: revision that it shows: the approval's for a card, otherwise the incident's
    shown: int = 0
    #: revision that it should show
    due: int = 0
    #: of what it shows, so that an edit which would change nothing is left out
    digest: str | None = None
    #: who is sending or editing it, and until when nobody else may
    taken_by: str | None = None
    taken_until: datetime | None = None
    #: how often sending it was begun: above 1, look whether an earlier try has posted it
    tries: int = 0

    def __post_init__(self) -> None:
        """Refuse what the store cannot keep; raises InputError or ValueError."""
        look_over(self, "id", "incident_id", "purpose", "team", "channel", "thread", "ts", "digest")

    @property
    def approval_id(self) -> str | None:
        """Return the ID of the approval whose card it is."""
        return self.purpose.removeprefix(_CARD) if self.purpose.startswith(_CARD) else None


def card(approval_id: str) -> str:
    """Return the purpose of an approval's card."""
    return f"{_CARD}{approval_id}"
