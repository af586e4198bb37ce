"""What the doctor says: plain values, whose JSON form is the contract `nccl-dns/doctor/1`."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import ClassVar, Literal

#: Read by pydantic where the contract is made of these classes.
_STRICT = {"extra": "forbid", "use_attribute_docstrings": True}


class Outcome(StrEnum):
    """How a check ended."""

    OK = "OK"
    #: it works, and somebody should look at it
    WARN = "WARN"
    #: it does not work, or must not stay so
    FAIL = "FAIL"
    #: not checked, and why
    SKIP = "SKIP"


@dataclass(frozen=True, kw_only=True)
class Answer:
    """What one check found about one thing."""

    outcome: Outcome
    #: a sentence
    said: str
    #: the cluster, machine or file; empty where there is one thing only
    about: str = ""
    #: what mends it, a sentence; empty where nothing has to be mended
    mend: str = ""


def ok(said: str, about: str = "") -> Answer:
    """Return that something works."""
    return Answer(outcome=Outcome.OK, said=said, about=about)


def warn(said: str, mend: str, about: str = "") -> Answer:
    """Return that something works and should be looked at."""
    return Answer(outcome=Outcome.WARN, said=said, mend=mend, about=about)


def fail(said: str, mend: str, about: str = "") -> Answer:
    """Return that something does not work."""
    return Answer(outcome=Outcome.FAIL, said=said, mend=mend, about=about)


def skip(said: str, about: str = "", mend: str = "") -> Answer:
    """Return that something was not checked."""
    return Answer(outcome=Outcome.SKIP, said=said, about=about, mend=mend)


@dataclass(frozen=True, kw_only=True)
class Row:
    """One line of the doctor's report."""

    __pydantic_config__: ClassVar[dict[str, object]] = _STRICT

    check: str
    """Name of the check; several rows may have it."""
    about: str
    """The cluster, machine or file; empty where there is one thing only."""
    outcome: Outcome
    """OK; WARN: works, look at it; FAIL: does not work; SKIP: not checked."""
    said: str
    mend: str
    """What mends it; empty where nothing has to be mended."""


@dataclass(frozen=True, kw_only=True)
class Checkup:
    """Everything that was checked."""

    __pydantic_config__: ClassVar[dict[str, object]] = _STRICT

    schema: Literal["nccl-dns/doctor/1"] = "nccl-dns/doctor/1"
    worst: Outcome
    level: int
    """0 paste, 1 look, 2 probe, 3 act: how much the settings let the product do."""
    config: str
    """The file that was read; empty for none."""
    rows: tuple[Row, ...]
    """In the order of the table of checks."""

    @property
    def failed(self) -> bool:
        """Say whether any check failed."""
        return self.worst is Outcome.FAIL

    def of(self, outcome: Outcome) -> tuple[Row, ...]:
        """Return the rows that ended so."""
        return tuple(row for row in self.rows if row.outcome is outcome)
