"""What the product needs of machines."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import timedelta

from bot.hosts.backups import Copied, Going, Order, Survey
from bot.hosts.model import Evidence
from bot.hosts.privileges import Privileges
from bot.hosts.probes import PROBES, ProofKind, Question, Table
from bot.hosts.repairs import GuestRung
from bot.hosts.words import Address, Proof


@dataclass(frozen=True, kw_only=True, slots=True)
class Target:
    """A machine to look at, and how it proves that it is the one."""

    #: the cloud's id; host keys are pinned to it, not to the address
    vm_id: str
    #: for people
    name: str
    #: from the cloud's API (names are what is broken), or the scheduler's NodeAddr without a cloud
    address: Address
    proof_kind: ProofKind = "product_uuid"
    #: what the machine must say of itself; on Crusoe, its SMBIOS UUID is the VM's id
    proof: Proof


class Hosts(ABC):
    """Machines that can be looked at."""

    @abstractmethod
    async def probe(self, target: Target, question: Question, table: Table = PROBES) -> Evidence:
        """Run the read-only probes, or some of them, on one machine, within ten seconds.

        A machine that cannot be reached, hangs or is another one is an answer, too: the evidence
        then holds where the way in ended and no results.
        """

    @abstractmethod
    async def privileges(self, target: Target) -> Privileges:
        """Return what sudo lets our account do on one machine, within ten seconds.

        Asked of a machine that has proven its identity to `probe`.
        """


class Repairs(ABC):
    """Machines that can be mended from within, by another account than the one that looks."""

    @abstractmethod
    async def repair(self, target: Target, rung: GuestRung) -> Evidence:
        """Run a rung's commands on one machine, once it has proven that it is the target.

        The evidence holds each command's answer by name; `bot.hosts.repairs.outcome` reads it.
        Whether it helped is for probes to show, not for the commands to say.
        """


class Backups(ABC):
    """Machines whose own storage can be copied to a disk that stays, by an account for that."""

    @abstractmethod
    async def survey(self, target: Target, recent: timedelta) -> Survey:
        """Return what a stop of the VM would lose and where it can go; changes nothing.

        `recent`: how lately a file must have changed to be counted as such. Raises a LoginError,
        or BackupError where the machine's answer is none.
        """

    @abstractmethod
    async def copy(
        self, target: Target, order: Order, tell: Callable[[Going], Awaitable[None]]
    ) -> Copied:
        """Copy what was chosen, prove it, and tell how far it is; hours are no matter.

        The same order again goes on where it was cut off. Raises a LoginError.
        """
