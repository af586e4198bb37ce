"""What a diagnosis answers: plain values, whose JSON form is the contract `nccl-dns/diagnosis/1`.

`contract` publishes the same shape as a pydantic model; it is not loaded here, since loading it
takes longer than reading a usual paste.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import ClassVar, Literal

from bot.diagnosis.kinds import Cause, Confidence, KnownFrom, Severity

#: Read by pydantic where the contract is made of these classes.
_STRICT = {"extra": "forbid", "use_attribute_docstrings": True}


@dataclass(frozen=True, kw_only=True)
class AffectedMachine:
    """A machine, or ranks of an unnamed one, where the first fault sits."""

    __pydantic_config__: ClassVar[dict[str, object]] = _STRICT

    host: str | None
    """Short name as the log or the node list spells it; addresses are whole."""
    ranks: tuple[int, ...]
    """Global ranks, only where the log or the launch links them."""
    node_rank: int | None
    because: str
    known_from: KnownFrom


@dataclass(frozen=True, kw_only=True)
class Peer:
    """A host that somebody looked up or tried to reach; never affected on that account."""

    __pydantic_config__: ClassVar[dict[str, object]] = _STRICT

    host: str
    port: int | None
    gai_codes: tuple[int, ...]
    """getaddrinfo codes as the log prints them."""
    lookups: int
    """Failed look-ups, folded lines counted in."""


@dataclass(frozen=True, kw_only=True)
class Evidence:
    """A quoted line, redacted."""

    __pydantic_config__: ClassVar[dict[str, object]] = _STRICT

    file: str | None
    line: int
    text: str


@dataclass(frozen=True, kw_only=True)
class LogFacts:
    """What was read."""

    __pydantic_config__: ClassVar[dict[str, object]] = _STRICT

    lines: int
    bytes: int
    matched: int
    """Lines in which a message was recognised."""
    first_time: str | None
    """ISO 8601 time of the first matched line, without year or zone where the log has none."""
    last_time: str | None


@dataclass(frozen=True, kw_only=True)
class Diagnosis:
    """What a log comes down to."""

    __pydantic_config__: ClassVar[dict[str, object]] = _STRICT

    schema: Literal["nccl-dns/diagnosis/1"] = "nccl-dns/diagnosis/1"
    cause: Cause
    confidence: Confidence
    severity: Severity
    affected: tuple[AffectedMachine, ...]
    peers: tuple[Peer, ...]
    world_size: int | None
    clients_joined: int | None
    timeout_seconds: float | None
    silent_ranks: tuple[int, ...]
    restart_may_help: bool
    summary: str
    next_steps: tuple[str, ...]
    evidence: tuple[Evidence, ...]
    log: LogFacts

    def to_json(self) -> str:
        """Return the JSON form of the contract, on one line."""
        return json.dumps(asdict(self), ensure_ascii=False, separators=(",", ":"))
