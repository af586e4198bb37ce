"""What a support ticket says, as plain values; its JSON form is what the store keeps of it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from pydantic import RootModel

from bot.diagnosis.redact import redact
from bot.reports.slack import escaping

#: Support must not do anything that loses the disks of these VMs, or may.
WAIT, GO_ON = "do NOT power-cycle before we confirm", "you may power-cycle"


class Priority(StrEnum):
    """How bad it is, as the support system labels it."""

    P1 = "P1"
    P2 = "P2"
    P3 = "P3"
    P4 = "P4"


#: Words of the support system; those of P4 are not published.
LABELS: Mapping[Priority, str] = {
    Priority.P1: "P1 Urgent Impact – Service Unusable in Production",
    Priority.P2: "P2 High Impact – Service Use Severely Impaired",
    Priority.P3: "P3 Normal Impact – Service Use Partially Impaired",
    Priority.P4: "P4",
}


@dataclass(frozen=True, kw_only=True)
class TicketVm:
    """One VM that the ticket is about, as it was when it was drafted."""

    #: as the scheduler names it
    host: str
    name: str
    id: str
    project: str
    type: str
    location: str
    #: the cloud's own word; empty where no cloud is asked
    state: str
    read_at: datetime | None
    addresses: tuple[str, ...]
    #: what was found there, a sentence each
    found: tuple[str, ...]
    #: operations that the API lists, or why none are known, a sentence each
    operations: tuple[str, ...]
    #: what is known of the data that it holds and nothing else does
    data: str
    data_said: str
    #: somebody has decided that the data may go
    may_go: bool

    @property
    def power(self) -> str:
        """Return what support may do to it."""
        return GO_ON if self.may_go else WAIT


@dataclass(frozen=True, kw_only=True)
class Ticket:
    """A ticket; what people may edit is text."""

    incident: str
    #: `demo:48213`; empty without one
    job: str
    vms: tuple[TicketVm, ...]
    first_seen: datetime
    title: str
    priority: Priority
    what: str
    #: exact lines of the log, each with its file and number
    lines: str
    tried: str
    impact: str
    contact: str

    @property
    def power(self) -> str:
        """Return what heads the ticket: one VM that must wait makes all of it wait."""
        return GO_ON if self.vms and all(one.may_go for one in self.vms) else WAIT

    @property
    def about(self) -> str:
        """Return its VMs in a few words."""
        names = [one.name for one in self.vms]
        more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
        return f"{', '.join(names[:_NAMED])}{more}"


_NAMED = 3
#: An address alone, between blanks: one in a URL is none.
_ADDRESS = re.compile(
    r"(?<!\S)[A-Za-z0-9._+-]{1,64}@[A-Za-z0-9.-]{1,200}\.[A-Za-z]{2,24}(?=[\s,;]|$)"
)


class _Kept(RootModel[Ticket]):
    """A ticket as JSON."""


def to_content(ticket: Ticket) -> Mapping[str, Any]:
    """Return a ticket as the store keeps it: without secrets, but for the address to answer to."""
    told = _Kept(ticket).model_dump(mode="json")
    contact = told.pop("contact")
    return {**_clean(told), "contact": contact_of(contact)}


def contact_of(text: str) -> str:
    """Return who is to be answered, in clean words; the addresses that stand there stay whole."""
    parts, end = [], 0
    for found in _ADDRESS.finditer(text):
        parts += [escaping.clean(text[end : found.start()]), found[0]]
        end = found.end()
    return "".join([*parts, escaping.clean(text[end:])]).strip()


def _clean(node: Any) -> Any:  # noqa: ANN401 - any part of a JSON tree
    if isinstance(node, str):
        return redact(node).text
    if isinstance(node, list):
        return [_clean(one) for one in node]
    return {name: _clean(one) for name, one in node.items()} if isinstance(node, dict) else node


def of_content(content: Mapping[str, Any]) -> Ticket:
    """Return a ticket that was kept."""
    return _Kept.model_validate(content).root
