"""Machines in memory, for tests and for a bot without SSH."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime

from bot.hosts import privileges, probes, repairs, wire
from bot.hosts.errors import LoginError, SilentError
from bot.hosts.evidence import evidence, unreachable
from bot.hosts.model import Evidence, ProbeResult, Row
from bot.hosts.port import Hosts, Repairs, Target
from bot.hosts.privileges import Privileges
from bot.hosts.probes import PROBES, Question, Table
from bot.hosts.repairs import GuestRung

#: Answers rows as a machine would, or raises a LoginError.
Machine = Callable[[Sequence[Row]], Iterable[ProbeResult]]


def _now() -> datetime:
    return datetime.now(UTC)


class MemoryHosts(Hosts, Repairs):
    """Machines that answer in process; their answers pass through the wire form."""

    def __init__(self, now: Callable[[], datetime] = _now) -> None:
        self._now = now
        self._machines: dict[str, Machine] = {}
        #: what `sudo -n -l` prints at an address
        self.sudo: dict[str, str] = {}

    def put(self, address: str, machine: Machine) -> None:
        """Let a machine answer at an address, in place of what was there."""
        self._machines[address] = machine

    async def probe(self, target: Target, question: Question, table: Table = PROBES) -> Evidence:
        """Ask the machine at the target's address."""
        return self._ask(target, probes.rows(question, target.proof_kind, target.proof, table))

    async def privileges(self, target: Target) -> Privileges:
        """Return what was put down for the address; nothing is allowed where nothing was."""
        return privileges.read(self.sudo.get(target.address, "sudo: command not found"))

    async def repair(self, target: Target, rung: GuestRung) -> Evidence:
        """Let the machine at the target's address mend itself."""
        return self._ask(target, repairs.rows(rung, target.proof_kind, target.proof))

    def _ask(self, target: Target, rows: Sequence[Row]) -> Evidence:
        machine = self._machines.get(target.address)
        if machine is None:
            return unreachable(target, self._now(), _nobody(target))
        answers = wire.Answers(rows)
        try:
            for result in machine(rows):
                answers.feed(wire.line(result))
        except LoginError as error:
            return unreachable(target, self._now(), error)
        return evidence(target, self._now(), answers)


def _nobody(target: Target) -> LoginError:
    return SilentError(f"Nothing answers at {target.address}.")
