"""What a step needs to see of the world before it acts and after it has. A port."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from bot.clouds.port import Cloud
from bot.hosts.model import Rung
from bot.hosts.port import Backups, Repairs, Target
from bot.hosts.probes import ProofKind
from bot.hosts.words import Address, Proof
from bot.recovery.errors import RefusedStepError
from bot.recovery.facts import Facts
from bot.schedulers.port import Scheduler


@dataclass(frozen=True, kw_only=True, slots=True)
class Scene:
    """Where a step acts: which VM, how it is reached. JSON-able, for it is kept with the run."""

    incident_id: str
    #: as the scheduler names the machine
    host: str
    vm_name: str
    #: empty without a cloud
    vm_id: str = ""
    cluster: str = ""
    job: str = ""
    address: str = ""
    proof_kind: ProofKind = "product_uuid"
    proof: str = ""
    boot_id: str = ""
    #: public addresses that a stop and start may change
    public_ips: tuple[str, ...] = ()

    @property
    def target(self) -> Target:
        """Return the machine as it is logged in to; raises UnsafeWordError."""
        return Target(
            vm_id=self.vm_id or self.host,
            name=self.host,
            address=Address(self.address),
            proof_kind=self.proof_kind,
            proof=Proof(self.proof),
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class Seen:
    """A VM as it is now: what the ladder is asked with, and what an approval binds to."""

    scene: Scene
    facts: Facts
    #: who has work on it: `user: a job` or `user: processes`
    work: frozenset[str] = frozenset()
    #: one sentence on what was found
    found: str = ""
    #: what each rung would lose on this VM, as far as it was seen; foreign names among it
    losses: Mapping[Rung, tuple[str, ...]] = field(default_factory=dict)


class Verdict(StrEnum):
    """What a look after a step proves."""

    PASSED = "passed"
    FAILED = "failed"
    UNKNOWN = "unknown"


@dataclass(frozen=True, kw_only=True, slots=True)
class Shown:
    """A machine's answers after a step."""

    verdict: Verdict
    #: one sentence
    why: str
    #: name → output, redacted
    outputs: Mapping[str, str] = field(default_factory=dict)
    boot_id: str = ""


class World(ABC):
    """Everything a step looks at; every method raises a BotError with a sentence."""

    @abstractmethod
    async def look(self, incident_id: str, vm_name: str) -> Seen:
        """Read everything about a VM of an incident again, now."""

    @abstractmethod
    async def prove(self, scene: Scene) -> Shown:
        """Ask the machine and a healthy peer whether names resolve there now."""

    @abstractmethod
    async def boot_id(self, scene: Scene) -> str:
        """Return the machine's boot id; empty where nobody answers. Raises nothing."""

    @abstractmethod
    def cloud(self, scene: Scene) -> Cloud:
        """Return the cloud of a machine; raises a BotError where there is none."""

    @abstractmethod
    def scheduler(self, scene: Scene) -> Scheduler:
        """Return the scheduler of a machine; raises a BotError where there is none."""

    @abstractmethod
    def repairs(self) -> Repairs:
        """Return the account that mends machines; raises a BotError where there is none."""

    def backups(self) -> Backups:
        """Return the account that backs up; raises a BotError where there is none."""
        raise RefusedStepError("There is no account that backs up.")


#: Parts of what was seen that an earlier step of the same chain is meant to change.
MEANT_TO_CHANGE = frozenset({"boot", "state", "work", "data"})


def parts(seen: Seen, step: str) -> dict[str, Any]:
    """Return what an approval of a step binds to, part by part; ids and our own words alone."""
    return {
        "vm": seen.scene.vm_id or seen.scene.host,
        "boot": seen.scene.boot_id,
        "state": seen.facts.state or "",
        "step": step,
        "findings": sorted(seen.facts.findings),
        "work": sorted(seen.work),
        "data": seen.facts.data.value,
    }


_CALLED = {
    "vm": "the VM",
    "boot": "the boot (it was booted since)",
    "state": "the VM's state at the API",
    "step": "the step",
    "findings": "what probes found",
    "work": "who has work on it",
    "data": "the status of its data",
}


def differences(
    before: Mapping[str, Any], now: Mapping[str, Any], *, left_out: frozenset[str] = frozenset()
) -> tuple[str, ...]:
    """Say which parts are not as they were when an approval was asked for."""
    found = []
    for name, called in _CALLED.items():
        old, new = before.get(name), now.get(name)
        if name in left_out or old == new:
            continue
        if name in {"vm", "boot"}:
            found.append(f"{called} is another one")
        else:
            found.append(f"{called}: it was {_word(old)}, it is {_word(new)}")
    return tuple(found)


def _word(value: object) -> str:
    if isinstance(value, list):
        return ", ".join(map(str, value)) or "nothing"
    return str(value) or "not known"
