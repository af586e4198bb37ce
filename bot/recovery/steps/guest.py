"""Rungs 1 and 2: what the machine does to itself, by the account that may do nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from bot.hosts import repairs
from bot.hosts.model import Rung
from bot.hosts.repairs import GuestRung, Result
from bot.recovery.doing import Doing
from bot.recovery.errors import OutcomeUnknownStepError, StepFailedError
from bot.recovery.steps import draining
from bot.recovery.steps.proof import names_resolve
from bot.recovery.steps.step import Ended, Step
from bot.recovery.world import Scene


class RestartResolver(Step):
    """Restart systemd-resolved; it loses nothing, and a job that still waits goes on."""

    name: ClassVar[str] = Rung.RESTART_RESOLVER
    title: ClassVar[str] = "Restart systemd-resolved"

    def plan(self, scene: Scene) -> tuple[str, ...]:
        """Return the commands of the repair."""
        return (*_commands(scene, Rung.RESTART_RESOLVER), _PROOF.format(host=scene.host))

    async def act(self, doing: Doing) -> Mapping[str, Any]:
        """Run the commands; an earlier try that was cut off is left to the proof to judge."""
        await doing.tell(f"Restarting systemd-resolved on {doing.scene.host}.")
        said = await doing.send(
            "restart",
            note=_nothing,
            go=lambda: _repaired(doing, Rung.RESTART_RESOLVER),
            look=_was_begun,
        )
        return {"said": said}

    async def verify(self, doing: Doing, acted: Mapping[str, Any]) -> Ended:
        """Prove that names resolve."""
        del acted
        return await names_resolve(doing)


class Reboot(Step):
    """Reboot in the guest, and wait until it is back."""

    name: ClassVar[str] = Rung.REBOOT
    title: ClassVar[str] = "Reboot in the guest"

    def plan(self, scene: Scene) -> tuple[str, ...]:
        """Return the drain, the command, and what is waited for."""
        return (
            draining.planned(scene),
            *_commands(scene, Rung.REBOOT),
            f"Wait until {scene.host} lets us in with another boot id than {scene.boot_id}.",
            _PROOF.format(host=scene.host),
            draining.planned_end(scene),
        )

    async def act(self, doing: Doing) -> Mapping[str, Any]:
        """Drain the node, send the reboot once, and wait for another boot id."""
        drained = await draining.drain(doing, f"reboot of {doing.scene.host}")
        await doing.tell(f"Rebooting {doing.scene.host}.")
        await doing.send(
            "reboot",
            note=lambda: _boot_id(doing),
            go=lambda: _repaired(doing, Rung.REBOOT),
            look=_was_begun,
        )
        await doing.tell(f"Waiting until {doing.scene.host} is back.")
        await doing.once("back", lambda: back(doing))
        return {"drained": drained}

    async def verify(self, doing: Doing, acted: Mapping[str, Any]) -> Ended:
        """Prove that names resolve after another boot; give the node back where that is so."""
        ended = await names_resolve(doing, booted_since=doing.scene.boot_id)
        return await draining.given_back(doing, ended, acted.get("drained"))


_PROOF = (
    "Prove it: systemctl status systemd-resolved, its journal, and look-ups of the failing names "
    "on {host} and on a healthy machine."
)


def _commands(scene: Scene, rung: GuestRung) -> tuple[str, ...]:
    whole = f"is VM {scene.vm_id}" if scene.vm_id else "is the machine that is pinned"
    return (
        f"Prove that {scene.host} at {scene.address} {whole}, or stop.",
        *(f"On {scene.host}, as root: {' '.join(one.argv)}" for one in repairs.of(rung).commands),
    )


async def _nothing() -> Mapping[str, Any]:
    return {}


async def _boot_id(doing: Doing) -> Mapping[str, Any]:
    return {"boot_id": doing.scene.boot_id or await doing.tools.world.boot_id(doing.scene)}


async def _was_begun(_before: Mapping[str, Any]) -> str:
    return "It was begun before this process took over; the proof tells what came of it."


async def _repaired(doing: Doing, rung: GuestRung) -> str:
    told = await doing.tools.world.repairs().repair(doing.scene.target, rung)
    outcome = repairs.outcome(rung, told)
    if outcome.result is Result.UNKNOWN and rung is Rung.REBOOT:
        return outcome.why  # a machine that goes down says nothing: its boot id tells
    if outcome.result is Result.UNKNOWN:
        raise OutcomeUnknownStepError(outcome.why)
    if outcome.result in {Result.NOT_RUN, Result.FAILED}:
        raise StepFailedError(outcome.why)
    return outcome.why


async def back(doing: Doing) -> str:
    """Wait until the machine has another boot id than in the scene, and return it."""

    async def look() -> str:
        found = await doing.tools.world.boot_id(doing.scene)
        return found if found != doing.scene.boot_id else ""

    minutes = doing.tools.waits.boot.total_seconds() / 60
    gone = OutcomeUnknownStepError(
        f"{doing.scene.host} was not back with another boot id after {minutes:.0f} minutes."
    )
    found = await doing.until(look, within=doing.tools.waits.boot, or_else=gone)
    return str(found)
