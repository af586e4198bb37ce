"""Rungs 3 and 4, and the two calls beside the ladder: PATCH RESET, STOP, START at the cloud."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar

from bot.clouds.errors import CloudError, OutcomeUnknownError
from bot.clouds.follow import PROVES, Patience, follow
from bot.clouds.follow import Verdict as Followed
from bot.clouds.model import Action, Operation, OperationState, VmState
from bot.clouds.timing import Timing
from bot.hosts.model import Rung
from bot.recovery.doing import Doing
from bot.recovery.errors import OutcomeUnknownStepError, StepFailedError
from bot.recovery.steps import draining
from bot.recovery.steps.guest import back
from bot.recovery.steps.proof import names_resolve
from bot.recovery.steps.step import Ended, Step
from bot.recovery.world import Scene, Verdict


class Reset(Step):
    """Reset the VM, and wait until the guest is back with another boot id."""

    name: ClassVar[str] = Rung.RESET
    title: ClassVar[str] = "Reset the VM"

    def plan(self, scene: Scene) -> tuple[str, ...]:
        """Return the calls in order."""
        return (
            draining.planned(scene), _patch(scene, Action.RESET), _back(scene),
            draining.planned_end(scene),
        )  # fmt: skip

    async def act(self, doing: Doing) -> Mapping[str, Any]:
        """Drain, reset once, wait."""
        drained = await draining.drain(doing, f"reset of {doing.scene.vm_name}")
        await call(doing, Action.RESET)
        await doing.tell(f"Waiting until {doing.scene.host} is back.")
        await doing.once("back", lambda: back(doing))
        return {"drained": drained}

    async def verify(self, doing: Doing, acted: Mapping[str, Any]) -> Ended:
        """Prove that names resolve after another boot."""
        ended = await names_resolve(doing, booted_since=doing.scene.boot_id)
        return await draining.given_back(doing, ended, acted.get("drained"))


class StopStart(Step):
    """Stop the VM and start it again; its local NVMe does not come back."""

    name: ClassVar[str] = Rung.STOP_START
    title: ClassVar[str] = "Stop and start the VM"

    def plan(self, scene: Scene) -> tuple[str, ...]:
        """Return the calls in order."""
        return (
            draining.planned(scene), _patch(scene, Action.STOP), "Wait until it is stopped.",
            _patch(scene, Action.START), _back(scene), draining.planned_end(scene),
        )  # fmt: skip

    async def act(self, doing: Doing) -> Mapping[str, Any]:
        """Drain, stop once, start once, wait."""
        drained = await draining.drain(doing, f"stop and start of {doing.scene.vm_name}")
        await call(doing, Action.STOP)
        told = await call(doing, Action.START)
        await doing.tell(f"Waiting until {doing.scene.host} is back.")
        await doing.once("back", lambda: back(doing))
        return {"drained": drained, **told}

    async def verify(self, doing: Doing, acted: Mapping[str, Any]) -> Ended:
        """Prove that names resolve after another boot; say where its public address is new."""
        ended = await names_resolve(doing, booted_since=doing.scene.boot_id)
        ended = await draining.given_back(doing, ended, acted.get("drained"))
        return replace(ended, why=ended.why + _new_address(doing.scene, acted))


class StopForSupport(Step):
    """Stop a VM in ERROR, so that support can work on its host."""

    name: ClassVar[str] = Rung.STOP_FOR_SUPPORT
    title: ClassVar[str] = "Stop for support"

    def plan(self, scene: Scene) -> tuple[str, ...]:
        """Return the call."""
        return (_patch(scene, Action.STOP), "Wait until it is stopped.")

    async def act(self, doing: Doing) -> Mapping[str, Any]:
        """Stop once."""
        return await call(doing, Action.STOP)

    async def verify(self, doing: Doing, acted: Mapping[str, Any]) -> Ended:
        """Prove by the API that it is stopped."""
        stopped = acted["state"] == VmState.STOPPED
        why = f"{doing.scene.vm_name} is {acted['raw_state']} at the API."
        return Ended(verdict=Verdict.PASSED if stopped else Verdict.UNKNOWN, why=why)


class Start(Step):
    """Start a stopped VM."""

    name: ClassVar[str] = Rung.START
    title: ClassVar[str] = "Start the VM"

    def plan(self, scene: Scene) -> tuple[str, ...]:
        """Return the call, and what is waited for."""
        return (_patch(scene, Action.START), _back(scene))

    async def act(self, doing: Doing) -> Mapping[str, Any]:
        """Start once, and wait until the guest lets us in."""
        told = await call(doing, Action.START)
        await doing.tell(f"Waiting until {doing.scene.host} lets us in.")
        await doing.once("back", lambda: back(doing))
        return told

    async def verify(self, doing: Doing, acted: Mapping[str, Any]) -> Ended:
        """Prove that names resolve."""
        ended = await names_resolve(doing)
        return replace(ended, why=ended.why + _new_address(doing.scene, acted))


def _patch(scene: Scene, action: Action) -> str:
    return f"PATCH …/compute/vms/instances/{scene.vm_id} {{action: {action}}} ({scene.vm_name})."


def _back(scene: Scene) -> str:
    return f"Wait until {scene.host} lets us in, then prove that it resolves the failing names."


def _new_address(scene: Scene, acted: Mapping[str, Any]) -> str:
    now = tuple(acted.get("public_ips", ()))
    if not scene.public_ips or now == scene.public_ips:
        return ""
    return f" Its public address was {', '.join(scene.public_ips)} and is {', '.join(now) or '–'}."


async def call(doing: Doing, action: Action) -> Mapping[str, Any]:
    """Ask the cloud for an action, once, follow it to its end, and return the VM as it is then.

    Raises StepFailedError where the cloud says that it failed, such as `out_of_stock`, and
    OutcomeUnknownStepError where neither operation nor state can tell.
    """
    scene, verb = doing.scene, action.lower()
    await doing.tell(f"Sending {action} for {scene.vm_name} to the cloud.")
    operation = await doing.send(
        verb,
        note=lambda: _operations(doing),
        go=lambda: _sent(doing, action),
        look=lambda before: _found(doing, action, before),
    )
    await doing.tell(f"{action} of {scene.vm_name} is under way (operation {operation or '–'}).")
    told: Mapping[str, Any] = await doing.once(
        f"{verb}.follow", lambda: _followed(doing, action, str(operation))
    )
    await doing.once(f"{verb}.state", lambda: _kept(doing, told["raw_state"]))
    return told


async def _kept(doing: Doing, word: str) -> None:
    await doing.state_read(word)


async def _operations(doing: Doing) -> Mapping[str, Any]:
    scene = doing.scene
    found = await doing.tools.world.cloud(scene).operations(scene.vm_id)
    return {"operations": sorted(one.id for one in found)}


async def _sent(doing: Doing, action: Action) -> str:
    scene = doing.scene
    try:
        return (await doing.tools.world.cloud(scene).act(scene.vm_id, action)).id
    except OutcomeUnknownError as error:
        raise OutcomeUnknownStepError(f"{error} It is not sent again.") from error
    except CloudError as error:
        raise StepFailedError(f"The cloud did not take {action}: {error}") from error


async def _found(doing: Doing, action: Action, before: Mapping[str, Any]) -> str:
    """Return the operation that an earlier try has begun; nothing is sent."""
    scene, cloud = doing.scene, doing.tools.world.cloud(doing.scene)
    known = set(before["operations"])
    new = [one for one in await cloud.operations(scene.vm_id) if one.id not in known]
    mine = [one for one in new if one.action in {action, None}]
    if mine:
        return mine[0].id
    state = (await cloud.get(scene.vm_id)).state
    if action in PROVES and state is PROVES[action]:
        return ""
    raise OutcomeUnknownStepError(
        f"Whether {action} of {scene.vm_name} was sent is not known: the process that was about "
        "to send it ended, the cloud lists no such operation, and the VM's state does not tell. "
        "It is not sent again; look at the VM, then ask for the step anew."
    )


async def _followed(doing: Doing, action: Action, operation_id: str) -> dict[str, Any]:
    scene, tools = doing.scene, doing.tools
    cloud = tools.world.cloud(scene)
    state = OperationState.IN_PROGRESS if operation_id else OperationState.LOST
    operation = Operation(
        id=operation_id, vm_id=scene.vm_id, action=action, state=state, read_at=tools.now()
    )
    patience = Patience(every=tools.waits.look, longest=tools.waits.operation)
    timing = Timing(now=tools.now, sleep=tools.sleep)
    try:
        outcome = await follow(cloud, operation, timing=timing, patience=patience)
    except CloudError as error:
        raise OutcomeUnknownStepError(
            f"{action} was sent, and the cloud does not tell how it went: {error}"
        ) from error
    vm = outcome.vm
    if outcome.verdict is Followed.FAILED:
        code = outcome.operation.code or outcome.operation.raw_state
        said = f"{code}: {outcome.operation.message}".rstrip(": ")
        raise StepFailedError(f"{action} failed at the cloud ({said}); the VM is {vm.raw_state}.")
    if outcome.verdict is Followed.STILL_RUNNING:
        raise OutcomeUnknownStepError(
            f"{action} is still under way after {tools.waits.operation}; the VM is {vm.raw_state}."
        )
    # a reset that the cloud has lost is proven by the boot id, or not at all
    return {
        "operation": outcome.operation.id,
        "state": str(vm.state),
        "raw_state": vm.raw_state,
        "public_ips": [one.address for one in vm.public_ips],
    }
