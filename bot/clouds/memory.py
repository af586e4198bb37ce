"""A cloud in memory: the same port without a network, for tests, demos and dry runs."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterable
from dataclasses import replace
from datetime import timedelta

from bot.clouds.errors import VmBusyError, VmNotFoundError
from bot.clouds.model import Action, Operation, OperationState, Vm, state_of
from bot.clouds.port import Cloud
from bot.clouds.timing import Timing

#: The word that each action ends in.
ENDS_IN = {
    Action.START: "STATE_RUNNING",
    Action.STOP: "STATE_SHUTOFF",
    Action.RESET: "STATE_RUNNING",
}


class MemoryCloud(Cloud):
    """Hold VMs and let operations take time by a given clock."""

    def __init__(
        self,
        vms: Iterable[Vm] = (),
        *,
        timing: Timing | None = None,
        takes: timedelta = timedelta(seconds=20),
    ) -> None:
        self._timing = timing or Timing()
        self._takes = takes
        self._vms = {vm.id.casefold(): vm for vm in vms}
        self._operations: dict[str, Operation] = {}
        self._failures: list[tuple[str, str]] = []
        self._numbers = itertools.count(1)

    async def list(
        self, *, names: Collection[str] | None = None, ids: Collection[str] | None = None
    ) -> tuple[Vm, ...]:
        """Return the VMs, or those whose name (exactly) and id are among the given."""
        wanted = None if ids is None else {vm_id.casefold() for vm_id in ids}
        self._settle()
        return tuple(
            self._read(vm)
            for vm in self._vms.values()
            if (names is None or vm.name in names)
            and (wanted is None or vm.id.casefold() in wanted)
        )

    async def get(self, vm_id: str) -> Vm:
        """Return one VM; raises VmNotFoundError."""
        self._settle()
        return self._read(self._known(vm_id))

    async def act(self, vm_id: str, action: Action) -> Operation:
        """Begin an action; raises VmBusyError while another one is under way on the VM."""
        self._settle()
        vm = self._known(vm_id)
        for one in self._operations.values():
            if one.vm_id == vm.id and not one.is_over:
                raise VmBusyError(
                    f"{action.value} of VM {vm.id} was not done: {one.id} is under way on it. Wait "
                    "for that to end and look at the VM again."
                )
        now = self._timing.now()
        begun = Operation(
            id=f"op-{next(self._numbers)}",
            vm_id=vm.id,
            action=action,
            state=OperationState.IN_PROGRESS,
            raw_state="IN_PROGRESS",
            started_at=now,
            read_at=now,
        )
        self._operations[begun.id] = begun
        return begun

    async def operation(self, operation_id: str) -> Operation:
        """Return how far an operation is; LOST where it is not known."""
        self._settle()
        now = self._timing.now()
        known = self._operations.get(operation_id)
        if known is None:
            return Operation(id=operation_id, state=OperationState.LOST, read_at=now)
        return replace(known, read_at=now)

    async def operations(self, vm_id: str) -> tuple[Operation, ...]:
        """Return the operations on a VM, over or not, that were not forgotten."""
        self._settle()
        now = self._timing.now()
        return tuple(
            replace(one, read_at=now)
            for one in self._operations.values()
            if one.vm_id.casefold() == vm_id.casefold()
        )

    def put(self, vm: Vm) -> None:
        """Add a VM, or put another one in its place."""
        self._vms[vm.id.casefold()] = vm

    def set_state(self, vm_id: str, word: str) -> None:
        """Let the cloud show this word for the VM's state."""
        self.put(replace(self._known(vm_id), state=state_of(word), raw_state=word))

    def fail_next(self, code: str, message: str) -> None:
        """Let the next operation to end fail with this code, such as `out_of_stock`."""
        self._failures.append((code, message))

    def forget_operations(self) -> None:
        """Lose every operation; those under way take effect all the same."""
        for one in self._operations.values():
            if not one.is_over and one.action:
                self.set_state(one.vm_id, ENDS_IN[one.action])
        self._operations.clear()

    def _known(self, vm_id: str) -> Vm:
        if vm := self._vms.get(vm_id.casefold()):
            return vm
        raise VmNotFoundError(f"There is no VM {vm_id[:80]!r} in this project. Check the id.")

    def _read(self, vm: Vm) -> Vm:
        return replace(vm, read_at=self._timing.now())

    def _settle(self) -> None:
        """Bring to an end what has had its time."""
        now = self._timing.now()
        for one in list(self._operations.values()):
            if one.is_over or one.started_at is None or now < one.started_at + self._takes:
                continue
            self._end(one)

    def _end(self, operation: Operation) -> None:
        ended = replace(
            operation,
            completed_at=self._timing.now(),
            raw_state="SUCCEEDED",
            state=OperationState.SUCCEEDED,
        )
        if self._failures:
            code, message = self._failures.pop(0)
            ended = replace(
                ended, raw_state="FAILED", state=OperationState.FAILED, code=code, message=message
            )
        elif operation.action:
            self.set_state(operation.vm_id, ENDS_IN[operation.action])
        self._operations[operation.id] = ended
