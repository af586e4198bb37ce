"""Send an action that must not be taken twice.

The API has no idempotency key. So the VM and its operations are read before the action is sent, and
again before it would be sent once more: an operation that is new since then is either ours, which
got through although its answer did not, or somebody else's, and then the world has changed.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace

from bot.clouds.crusoe.call import Call
from bot.clouds.crusoe.session import Session
from bot.clouds.errors import CloudError, OutcomeUnknownError, VmBusyError
from bot.clouds.model import Action, Operation, OperationState, Vm

#: Times an action is sent again after one whose fate is unknown, when nothing of it shows.
RESENDS_IN_DOUBT = 1


@dataclass(frozen=True, kw_only=True)
class Before:
    """What the VM looked like before the action was sent."""

    vm: Vm
    operations: frozenset[str]


@dataclass(kw_only=True)
class Attempt:
    """One action on one VM, from the first look to an operation or an error."""

    session: Session
    call: Call
    vm_id: str
    action: Action
    look: Callable[[], Awaitable[Vm]]
    operations: Callable[[], Awaitable[tuple[Operation, ...]]]
    read: Callable[[object], Operation]
    #: sendings that may have reached the VM
    in_doubt: int = 0

    async def run(self) -> Operation:
        """Return the operation that the action began; raises as `Cloud.act` says."""
        before = await self._first_look()
        failures = 0
        while True:
            try:
                return self._ours(self.read(await self.session.once(self.call)))
            except CloudError as error:
                failed = error
            failures += 1
            self.in_doubt += failed.in_doubt
            wait = self.session.wait_after(failed, failures) if failed.transient else None
            if wait is not None:
                await self.session.timing.sleep(wait.total_seconds())
            if landed := await self._second_look(before, failed):
                return landed
            if self.in_doubt and (wait is None or self.in_doubt > RESENDS_IN_DOUBT):
                raise self._unknown("none of its operations shows it") from failed
            if wait is None:
                raise failed

    async def _first_look(self) -> Before:
        vm = await self.look()
        operations = await self.operations()
        for one in operations:
            if one.state is OperationState.IN_PROGRESS:
                raise VmBusyError(
                    f"{self._what} was not sent: {_named(one)} is under way on it. Wait for that "
                    "to end and look at the VM again."
                )
        return Before(vm=vm, operations=frozenset(one.id for one in operations))

    async def _second_look(self, before: Before, failed: CloudError) -> Operation | None:
        """Return our operation where it shows; None where the VM is as it was before.

        Raises VmBusyError or OutcomeUnknownError where it is not.
        """
        if not self.in_doubt and not isinstance(failed, VmBusyError):
            return None
        try:
            new = [one for one in await self.operations() if one.id not in before.operations]
            vm = await self.look()
        except CloudError as error:
            if not self.in_doubt:
                raise
            raise self._unknown(f"reading the VM afterwards failed, too ({error})") from failed
        ours = [one for one in new if one.action in (self.action, None)]
        if self.in_doubt and len(new) == len(ours) == 1:
            return self._ours(ours[0])
        # A reset may leave the state alone; the time of the last change tells of it.
        unchanged = (vm.raw_state, vm.updated_at) == (before.vm.raw_state, before.vm.updated_at)
        if not new and unchanged:
            return None
        seen = ", ".join(_named(one) for one in new) or (
            f"it went from {_looks(before.vm)} to {_looks(vm)}"
        )
        if self.in_doubt:
            raise self._unknown(f"meanwhile this is seen: {seen}") from failed
        raise VmBusyError(
            f"{self._what} was not done: the VM changed meanwhile ({seen}). Look at it again and "
            "decide anew."
        ) from failed

    def _ours(self, operation: Operation) -> Operation:
        """Say what the API may leave out: which VM and which action it is."""
        return replace(operation, vm_id=self.vm_id, action=self.action)

    def _unknown(self, why: str) -> OutcomeUnknownError:
        return OutcomeUnknownError(
            f"It is not known whether {self._what} was taken: the API's answer was lost, and "
            f"{why}. It is not sent again. Look at the VM in the console, or compare the guest's "
            "boot id, before anything else is done to it."
        )

    @property
    def _what(self) -> str:
        return f"{self.action.value} of VM {self.vm_id}"


def _looks(vm: Vm) -> str:
    since = f" of {vm.updated_at:%Y-%m-%d %H:%M:%S} UTC" if vm.updated_at else ""
    return f"{vm.raw_state}{since}"


def _named(operation: Operation) -> str:
    name = operation.action.value if operation.action else "an operation"
    return f"{name} ({operation.id}, {operation.state.value})"
