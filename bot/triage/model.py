"""What a check answers: plain values, whose JSON form is the contract `nccl-dns/check/1`."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import ClassVar, Literal

from bot.clouds.model import VmState
from bot.diagnosis.kinds import Confidence
from bot.diagnosis.result import Diagnosis

#: Read by pydantic where the contract is made of these classes.
_STRICT = {"extra": "forbid", "use_attribute_docstrings": True}


@dataclass(frozen=True, kw_only=True)
class JobFacts:
    """The job as its scheduler tells of it, or as it was seen before that forgot it."""

    __pydantic_config__: ClassVar[dict[str, object]] = _STRICT

    id: str
    cluster: str
    state: str
    """The scheduler's own word."""
    name: str
    user: str
    nodes: tuple[str, ...]
    known_from: str
    """controller, accounting, completion file, or store: what this product had seen."""
    started_at: datetime | None
    ended_at: datetime | None


@dataclass(frozen=True, kw_only=True)
class LogRead:
    """One log file that was looked for."""

    __pydantic_config__: ClassVar[dict[str, object]] = _STRICT

    path: str
    reading: Literal["read", "missing", "unreadable"]
    because: str
    """Why it was not read."""
    host: str
    """Machine it was read on; empty for the login node or this one."""
    size_bytes: int
    cut: bool
    """More lines were worth reading than were carried over."""


@dataclass(frozen=True, kw_only=True)
class VmFacts:
    """A VM as the cloud described it."""

    __pydantic_config__: ClassVar[dict[str, object]] = _STRICT

    id: str
    name: str
    type: str
    location: str
    project: str
    state: VmState
    raw_state: str
    """The cloud's own word."""
    private_ips: tuple[str, ...]
    read_at: datetime
    matched_by: tuple[str, ...]
    """What ties the host to the VM: uuid, providerID, name, address."""


@dataclass(frozen=True, kw_only=True)
class FindingFacts:
    """One thing that was found on a machine."""

    __pydantic_config__: ClassVar[dict[str, object]] = _STRICT

    finding: str
    why: str
    advice: str
    helps: tuple[str, ...]
    cannot_help: tuple[str, ...]
    fleet_wide: bool
    """A peer shows it, too: it names no machine."""


@dataclass(frozen=True, kw_only=True)
class OfferFacts:
    """One rung of the repair ladder for this machine."""

    __pydantic_config__: ClassVar[dict[str, object]] = _STRICT

    rung: str
    number: int | None
    what: str
    loses: str
    offered: bool
    why: tuple[str, ...]
    """The reason for it, or everything that stands against it."""


@dataclass(frozen=True, kw_only=True)
class Probed:
    """How the look at a machine went."""

    __pydantic_config__: ClassVar[dict[str, object]] = _STRICT

    at: datetime
    failure: str | None
    """Where the way in ended: route, silent, hangs, access."""
    detail: str
    login_ms: int | None
    shell_ms: int | None
    """From asking for a command until the login shell ran it."""
    helper_ms: int | None
    """From there until the probes began, sudo included."""
    host_key_on_first_use: bool
    names: tuple[str, ...]
    """Names that were looked up there."""


@dataclass(frozen=True, kw_only=True)
class Machine:
    """One machine: where its ranks are known from, its VM, and what was found."""

    __pydantic_config__: ClassVar[dict[str, object]] = _STRICT

    host: str
    ranks: tuple[int, ...]
    known_from: Literal["log", "launch", "guess", "asked"]
    because: str
    vm: VmFacts | None
    vm_problem: str
    """Why the host is no one VM, or why no cloud could be asked."""
    probed: Probed | None
    findings: tuple[FindingFacts, ...]
    untold: str
    """Why nothing is found where nothing is."""
    offers: tuple[OfferFacts, ...]
    held: str
    """Another's claim on the node, quoted."""


@dataclass(frozen=True, kw_only=True)
class Checked:
    """What a check comes down to."""

    __pydantic_config__: ClassVar[dict[str, object]] = _STRICT

    schema: Literal["nccl-dns/check/1"] = "nccl-dns/check/1"
    headline: str
    confidence: Confidence
    wrong: bool
    """Something is wrong: with the job, with a machine, or with who resolves whom."""
    level: int
    """0 paste, 1 look, 2 probe, 3 act: how much the settings let the product do."""
    missing: tuple[str, ...]
    """What the level lacks or could not be reached, one sentence each."""
    job: JobFacts | None
    logs: tuple[LogRead, ...]
    diagnosis: Diagnosis | None
    machines: tuple[Machine, ...]
    """Those that are affected or were asked about, the likeliest culprit first."""
    compared_with: Machine | None
    """The healthy machine that answered the same questions."""
    notes: tuple[str, ...]
    """What a reader must know: disagreements, guesses, names that were refused."""
