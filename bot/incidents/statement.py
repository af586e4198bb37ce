"""What a person, or a reading, said of a VM in an incident, and what steps may rest on."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from bot.incidents.fields import look_over


class Kind(StrEnum):
    """What was said."""

    #: what the VM holds may go; the text is the person's own words
    NOTHING_TO_KEEP = "nothing_to_keep"
    #: a rung is asked for, whatever probes say; `about` is the rung, the text the reason
    ASKED_FOR = "asked_for"
    #: a job or process on the VM may end; `about` names it
    DISPENSABLE = "dispensable"
    #: support said that the host is healthy
    SUPPORT_CONFIRMED = "support_confirmed"
    #: an approver goes on without support's word
    PROCEED_WITHOUT = "proceed_without"
    #: the number of a support ticket
    TICKET = "ticket"
    #: the VM's name as a person typed it
    NAME_TYPED = "name_typed"
    #: who picked the VM where its placement was a guess
    PICKED = "picked"
    #: the cloud's state of the VM as it was read; `about` is the word
    STATE = "state"
    #: what would be lost: the text says what, `about` how many bytes
    AT_RISK = "at_risk"
    #: a backup was verified; `about` is its run, the text where it lies
    BACKED_UP = "backed_up"


@dataclass(frozen=True, kw_only=True, slots=True)
class Statement:
    """One row; nothing is ever changed in it, a later one of its kind counts instead."""

    id: str
    incident_id: str
    vm_name: str
    vm_id: str = ""
    kind: Kind
    #: what exactly it is about, if that is not the VM as a whole
    about: str = ""
    #: the person's words, redacted; empty once they were forgotten for their age
    text: str = ""
    #: Slack user, or the account of the command line; None for the bot
    who: str | None = None
    at: datetime

    def __post_init__(self) -> None:
        """Refuse what the store cannot keep; raises InputError or ValueError."""
        look_over(self, "id", "incident_id", "vm_name", "vm_id", "about", "who")
