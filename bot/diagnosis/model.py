"""The values that pass between the stages of a diagnosis."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from bot.diagnosis.kinds import Cause, Confidence, Kind, KnownFrom
from bot.diagnosis.origin import NOWHERE, Origin


class Observation(NamedTuple):
    """One recognised line."""

    kind: Kind
    #: what the signature's groups caught
    fields: Mapping[str, str]
    origin: Origin = NOWHERE
    #: position among all lines read, over all files
    seq: int = 0
    #: line number in its file, from 1
    line: int = 0
    #: the line without its line end
    text: str = ""
    #: ISO 8601 as far as the log tells
    time: str | None = None
    #: how many equal lines the shipper folded into this one
    repeats: int = 1


class Launch(NamedTuple):
    """How a job was launched, as someone outside the log says: a claim, not a finding."""

    #: machines in the order of their node ranks
    hosts: tuple[str, ...] = ()
    ranks_per_node: int | None = None

    def host_of(self, rank: int) -> str | None:
        """Return the machine of a rank under block distribution, or None where unknown."""
        if not self.ranks_per_node or not 0 <= rank < len(self.hosts) * self.ranks_per_node:
            return None
        return self.hosts[rank // self.ranks_per_node]

    @property
    def world_size(self) -> int | None:
        """Return how many ranks there are to be, or None where unknown."""
        return len(self.hosts) * self.ranks_per_node if self.hosts and self.ranks_per_node else None


class Affected(NamedTuple):
    """A machine (or ranks of an unnamed one) where the first fault sits."""

    host: str | None
    ranks: tuple[int, ...] = ()
    node_rank: int | None = None
    because: str = ""
    #: how the host is known: *log*, *launch* or *guess*
    known_from: KnownFrom = "log"


class Verdict(NamedTuple):
    """What the decision table says; `explain` turns it into sentences."""

    cause: Cause
    confidence: Confidence
    affected: tuple[Affected, ...] = ()
    #: what bears it out, most telling first
    evidence: tuple[Observation, ...] = ()
    #: why, in a sentence
    why: str = ""
    #: what one more thing to paste would raise the confidence
    ask: str = ""
    silent_ranks: tuple[int, ...] = ()
    #: name that matters to the sentences (target, program error, port)
    subject: str = ""
    notes: tuple[str, ...] = ()
