"""The table of repairs from within a machine, and what their answers say. Pure.

Only rungs that need a login are here; what the cloud's API does is no command. Which probes show
that a repair worked stands in its row: a command's own word is never enough.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from typing import Literal

from bot.hosts import probes
from bot.hosts.model import Evidence, ProbeResult, Row, Rung
from bot.hosts.probes import ProofKind, Question, Table
from bot.hosts.words import Proof

GuestRung = Literal[Rung.RESTART_RESOLVER, Rung.REBOOT]
_RESOLVER = "systemd-resolved"
_MOST_BYTES = 4096
#: What a person is shown of a command that failed.
_SHOWN = 200


@dataclass(frozen=True, kw_only=True, slots=True)
class Command:
    """One command of a repair; the next is run only if it succeeds."""

    name: str
    argv: tuple[str, ...]
    timeout: timedelta


@dataclass(frozen=True, kw_only=True, slots=True)
class Repair:
    """One row: what a rung runs on the machine."""

    rung: GuestRung
    #: in this order
    commands: tuple[Command, ...]
    #: what will not come back
    loses: str
    #: probes that show whether it worked
    shown_by: Table


RESTART_RESOLVER = Repair(
    rung=Rung.RESTART_RESOLVER,
    commands=(
        # A unit that failed too often is not started again before its counter is reset
        # (systemd.unit(5), StartLimitBurst).
        Command(
            name="reset_failed",
            argv=("systemctl", "reset-failed", _RESOLVER),
            timeout=timedelta(seconds=5),
        ),
        # A process that does not end is killed after 90 s (systemd-system.conf(5),
        # DefaultTimeoutStopSec).
        Command(
            name="restart",
            argv=("systemctl", "restart", _RESOLVER),
            timeout=timedelta(seconds=100),
        ),
    ),
    loses="nothing; a job that still waits in its lookup loop goes on by itself",
    shown_by=(
        probes.IDENTITY, probes.UNIT, probes.JOURNAL, probes.RESOLVER_PROCESS, probes.STUB,
        probes.LOOKUPS,
    ),
)  # fmt: skip
REBOOT = Repair(
    rung=Rung.REBOOT,
    commands=(
        Command(name="reboot", argv=("systemctl", "reboot"), timeout=timedelta(seconds=15)),
    ),
    loses="memory, tmpfs, and whatever boot scripts format or assemble anew; local NVMe is kept "
    "otherwise",
    shown_by=(
        probes.IDENTITY, probes.BOOT_ID, probes.UPTIME, probes.MOUNTS, probes.UNIT, probes.STUB,
        probes.LOOKUPS,
    ),
)  # fmt: skip

REPAIRS: tuple[Repair, ...] = (RESTART_RESOLVER, REBOOT)


def of(rung: GuestRung) -> Repair:
    """Return a rung's row."""
    return next(repair for repair in REPAIRS if repair.rung is rung)


def within(rung: GuestRung) -> timedelta:
    """Return how long a rung's commands may take, the proof of identity included."""
    return sum((one.timeout for one in of(rung).commands), probes.IDENTITY.timeout)


def rows(rung: GuestRung, kind: ProofKind, proof: Proof) -> tuple[Row, ...]:
    """Return what is sent: the machine's proof of identity, then the commands, one by one."""
    commands = (
        Row(name=one.name, argv=one.argv, timeout=one.timeout, most_bytes=_MOST_BYTES, gate=True)
        for one in of(rung).commands
    )
    return (*probes.rows(Question(), kind, proof, (probes.IDENTITY,)), *commands)


class Result(StrEnum):
    """How far a repair got; none of these says that it helped."""

    #: every command says that it went well
    RAN = "ran"
    #: nothing on the machine was changed
    NOT_RUN = "not run"
    FAILED = "failed"
    #: it was begun, and how it ended is not known
    UNKNOWN = "unknown"


@dataclass(frozen=True, kw_only=True, slots=True)
class Outcome:
    """What became of a repair's commands."""

    result: Result
    #: a sentence
    why: str


def outcome(rung: GuestRung, told: Evidence) -> Outcome:
    """Return what a repair's answer comes to; what was not answered is unknown, not undone."""
    if told.failure is not None:
        return Outcome(result=Result.NOT_RUN, why=told.detail)
    for number, command in enumerate(of(rung).commands):
        answer = told.results.get(command.name)
        if answer is None or answer.timed_out:
            why = f"{told.name} did not say how `{' '.join(command.argv)}` ended; probe it."
            return Outcome(result=Result.UNKNOWN, why=why)
        if answer.rc != 0:
            first = number == 0 and answer.rc in _NEVER_RUN
            result = Result.NOT_RUN if first else Result.FAILED
            return Outcome(result=result, why=_failed(told.name, command, answer))
    return Outcome(result=Result.RAN, why=f"{told.name} ran it; whether it helped, probes show.")


#: The helper may not run it, or there is no such program.
_NEVER_RUN = frozenset({126, 127})


def _failed(name: str, command: Command, answer: ProbeResult) -> str:
    said = ascii(answer.text.strip())[:_SHOWN]
    return f"`{' '.join(command.argv)}` failed on {name} with code {answer.rc}: {said}."
