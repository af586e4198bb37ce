"""Follow an operation to its end, and read the VM instead where the cloud has lost it."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from datetime import timedelta

from bot.clouds.model import Action, Operation, OperationState, Vm, VmState
from bot.clouds.port import Cloud
from bot.clouds.timing import Timing


class Verdict(enum.StrEnum):
    """What following an operation came to."""

    DONE = "done"
    FAILED = "failed"
    #: neither the operation nor the VM's state can tell; the guest's boot id may
    UNPROVEN = "unproven"
    #: patience ran out first; it may still end either way
    STILL_RUNNING = "still running"


@dataclass(frozen=True, kw_only=True, slots=True)
class Outcome:
    """How an operation ended and what the VM looked like then."""

    verdict: Verdict
    operation: Operation
    vm: Vm


#: The state that proves an action. A reset may never show: the VM runs before and after it.
PROVES = {Action.START: VmState.RUNNING, Action.STOP: VmState.STOPPED}


@dataclass(frozen=True, kw_only=True, slots=True)
class Patience:
    """How often to ask and when to stop asking."""

    #: clients of Crusoe ask every 2 to 10 s; a request a minute and VM must stay affordable
    every: timedelta = timedelta(seconds=5)
    #: a stop alone may take 90 s for the guest's shutdown scripts
    longest: timedelta = timedelta(minutes=10)


async def follow(
    cloud: Cloud, operation: Operation, *, timing: Timing, patience: Patience | None = None
) -> Outcome:
    """Ask until the operation is over and return its outcome with a fresh reading of the VM.

    `operation` is what `act` returned: it names VM and action, which a lost one no longer does.
    """
    patience = patience or Patience()
    end = timing.monotonic() + patience.longest.total_seconds()
    latest = operation
    while True:
        if not latest.is_over:
            latest = await cloud.operation(operation.id)
        if latest.is_over:
            vm = await cloud.get(operation.vm_id)
            verdict = _verdict(operation.action, latest.state, vm.state)
            if verdict is not None:
                return Outcome(verdict=verdict, operation=latest, vm=vm)
        if timing.monotonic() >= end:
            return await _out_of_patience(cloud, operation, latest)
        await timing.sleep(patience.every.total_seconds())


def _verdict(action: Action | None, operation: OperationState, vm: VmState) -> Verdict | None:
    """Judge an operation that is over; None: the VM is still to be watched."""
    if operation is OperationState.SUCCEEDED:
        return Verdict.DONE
    if operation is OperationState.FAILED:
        return Verdict.FAILED
    wanted = PROVES.get(action) if action else None
    if wanted is None:
        return Verdict.UNPROVEN
    return Verdict.DONE if vm is wanted else None


async def _out_of_patience(cloud: Cloud, asked: Operation, latest: Operation) -> Outcome:
    lost = latest.state is OperationState.LOST
    return Outcome(
        verdict=Verdict.UNPROVEN if lost else Verdict.STILL_RUNNING,
        operation=latest,
        vm=await cloud.get(asked.vm_id),
    )
