"""One failing job or one paste, and the timeline of what happened about it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from hashlib import sha256
from typing import Any

from bot.errors import InputError
from bot.incidents.fields import look_over

#: Characters of a timeline entry's text, as many as a person can type into Slack's modals.
LONGEST_TEXT = 3_000


class IncidentState(StrEnum):
    """Whether it still needs anybody."""

    OPEN = "open"
    #: over: repaired, run again, or given up
    CLOSED = "closed"
    #: somebody said that it is none
    DISMISSED = "dismissed"


@dataclass(frozen=True, kw_only=True, slots=True)
class Incident:
    """An incident as the store keeps it; who opens one fills in what is known.

    The store gives `state`, `revision` and what stands below them.
    """

    #: from `ids.new_id`; sayable
    id: str
    #: what folds into one while it is open: from `job_key` or `paste_key`
    key: str
    opened_at: datetime
    #: Slack user, or None where the bot found it by itself
    asked_by: str | None = None
    #: Slack workspace of the home channel
    team: str | None = None
    #: home channel, where the one thread with buttons is
    channel: str | None = None
    cluster: str | None = None
    job_id: str | None = None
    #: the incident of the same key before this one, if any
    reopened_from: str | None = None
    #: what was found, redacted, in the shape `nccl-dns/check/1`; None with a `checked_at` was
    #: forgotten for its age
    check: Mapping[str, Any] | None = None
    checked_at: datetime | None = None
    state: IncidentState = IncidentState.OPEN
    #: 1 when opened, one more with every change
    revision: int = 1
    closed_at: datetime | None = None
    closed_by: str | None = None

    def __post_init__(self) -> None:
        """Refuse what the store cannot keep; raises InputError or ValueError."""
        look_over(
            self, "id", "key", "asked_by", "team", "channel", "cluster", "job_id", "closed_by"
        )
        if self.check is not None and self.checked_at is None:
            raise ValueError("The incident's check has no time at which it was made.")


@dataclass(frozen=True, kw_only=True, slots=True)
class Entry:
    """One thing that happened, in our own words."""

    at: datetime
    #: `opened`, `checked`, `proposed`, `approved`, … or a word of whoever records it
    kind: str
    #: Slack user, or None for the bot
    who: str | None = None
    #: ID of the approval or message that it is about
    about: str | None = None
    #: short and redacted; empty once it was forgotten for its age
    text: str = ""
    #: the incident's revision that it led to; the store gives it
    revision: int = field(default=0)

    def __post_init__(self) -> None:
        """Refuse what the store cannot keep; raises InputError or ValueError."""
        look_over(self, "kind", "who", "about")
        if len(self.text) > LONGEST_TEXT:
            message = f"The text of a timeline entry has {len(self.text):,} characters"
            raise InputError(
                f"{message}; {LONGEST_TEXT:,} are the most, attach the rest as a file."
            )


@dataclass(frozen=True, kw_only=True, slots=True)
class Change:
    """An incident as it is now, and whether this call has made it so."""

    incident: Incident
    #: False: somebody was first, the incident says who and when
    made: bool


def job_key(cluster: str, job_id: str, run: str = "") -> str:
    """Return the key of one run of a job; `run` is whatever tells runs of one ID apart."""
    return f"job:{_digest(cluster, job_id, run)}"


def paste_key(fingerprint: str) -> str:
    """Return the key of a paste, by anything that is the same for the same failure."""
    return f"paste:{_digest(fingerprint)}"


def _digest(*parts: str) -> str:
    return sha256(json.dumps(parts).encode("ascii")).hexdigest()
