"""The published shape of a pre-flight, `nccl-dns/preflight/1`, as a pydantic model."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict

from bot.hosts.matrix import Observer, Seen
from bot.hosts.remarks import headline, remarks
from bot.triage.preflight import Preflight


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)


class ObserverV1(_Part):
    """What one machine saw."""

    host: str
    reached: bool
    why: str
    """Why it was not reached, or what is odd about its answer."""
    resolved: int
    """How many of the names resolved there."""
    failed: dict[str, str]
    """Name → what came of it: told there is none, no answer, not asked. Empty where not reached."""
    login_ms: int | None


class RemarkV1(_Part):
    """One thing that stands out."""

    blame: str
    text: str
    observers: tuple[str, ...]
    names: tuple[str, ...]


class PreflightV1(_Part):
    """Who resolves whom, of all machines of a job."""

    schema_: Literal["nccl-dns/preflight/1"] = "nccl-dns/preflight/1"
    headline: str
    wrong: bool
    domain: str
    names: tuple[str, ...]
    """Every machine was asked for all of these."""
    observers: tuple[ObserverV1, ...]
    remarks: tuple[RemarkV1, ...]
    states: dict[str, str]
    """Machine → the cloud's word for its VM's state, where it is not running."""
    missing: tuple[str, ...]
    notes: tuple[str, ...]

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
        use_attribute_docstrings=True,
        alias_generator=lambda name: name.rstrip("_"),
        populate_by_name=True,
    )


def of(found: Preflight) -> PreflightV1:
    """Return a pre-flight in its published shape."""
    matrix = found.matrix
    return PreflightV1(
        headline=headline(matrix),
        wrong=found.wrong,
        domain=found.domain,
        names=matrix.names,
        observers=tuple(_observer(one, matrix.names) for one in matrix.observers),
        remarks=tuple(
            RemarkV1(blame=one.blame, text=one.text, observers=one.observers, names=one.names)
            for one in remarks(matrix)
        ),
        states=dict(found.states),
        missing=found.missing,
        notes=found.notes,
    )


def _observer(one: Observer, names: tuple[str, ...]) -> ObserverV1:
    failed = {
        name: seen.value
        for at, name in enumerate(names)
        if one.reached and (seen := one.seen(at)) is not Seen.RESOLVED
    }
    login = one.delays.login
    return ObserverV1(
        host=one.name,
        reached=one.reached,
        why=one.why,
        resolved=one.tally.get(Seen.RESOLVED, 0),
        failed=failed,
        login_ms=None if login is None else round(login.total_seconds() * 1000),
    )


def json_schema() -> dict[str, object]:
    """Return the JSON Schema of the published shape."""
    return PreflightV1.model_json_schema(mode="serialization")


def to_json(found: Preflight) -> str:
    """Return the JSON form of the contract, on one line."""
    return of(found).model_dump_json(by_alias=True)
