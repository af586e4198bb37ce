"""The published shape of a diagnosis, `nccl-dns/diagnosis/1`."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from bot.diagnosis.kinds import Cause

SCHEMA = "nccl-dns/diagnosis/1"


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)


class AffectedMachine(_Frozen):
    """A machine, or ranks of an unnamed one, where the first fault sits."""

    host: str | None = Field(
        description="Short name as the log or the node list spells it; addresses are whole."
    )
    ranks: tuple[int, ...] = Field(
        description="Global ranks, only where the log or launch links them."
    )
    node_rank: int | None
    because: str
    known_from: Literal["log", "launch", "guess"]


class Peer(_Frozen):
    """A host that somebody looked up or tried to reach; never affected on that account."""

    host: str
    port: int | None
    gai_codes: tuple[int, ...] = Field(description="getaddrinfo codes as the log prints them.")
    lookups: int = Field(description="Failed look-ups, folded lines counted in.")


class Evidence(_Frozen):
    """A quoted line, redacted."""

    file: str | None
    line: int
    text: str


class LogFacts(_Frozen):
    """What was read."""

    lines: int
    bytes: int
    matched: int = Field(description="Lines in which a message was recognised.")
    first_time: str | None = Field(
        description="ISO 8601 time of the first matched line, without year or zone where the log "
        "has none."
    )
    last_time: str | None


class Diagnosis(_Frozen):
    """What a log comes down to."""

    schema_: Literal["nccl-dns/diagnosis/1"] = Field(default="nccl-dns/diagnosis/1", alias="schema")
    cause: Cause
    confidence: Literal["high", "medium", "low"]
    severity: Literal["failure", "warning", "none"]
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


def json_schema() -> dict[str, object]:
    """Return the JSON Schema of the published shape."""
    return Diagnosis.model_json_schema(by_alias=True, mode="serialization")
