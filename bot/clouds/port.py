"""What the product needs of a cloud. One object speaks for one project and no other."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection

from bot.clouds.model import Action, Operation, Vm, only_vm


class Cloud(ABC):
    """The VMs of one project. Every method may raise a CloudError."""

    @abstractmethod
    async def list(
        self, *, names: Collection[str] | None = None, ids: Collection[str] | None = None
    ) -> tuple[Vm, ...]:
        """Return the project's VMs, or those whose name (exactly) and id are among the given.

        One call answers for many VMs: ask so rather than one by one.
        """

    @abstractmethod
    async def get(self, vm_id: str) -> Vm:
        """Return one VM; raises VmNotFoundError."""

    @abstractmethod
    async def act(self, vm_id: str, action: Action) -> Operation:
        """Begin an action and return its operation, which is seldom over by then.

        Raises VmNotFoundError; VmBusyError where another operation is under way;
        OutcomeUnknownError where it cannot be known whether the action was taken. After any other
        error nothing was done.

        Whoever may be cut off before the operation is noted down notes `operations` first: one that
        is new afterwards is the one that was begun.
        """

    @abstractmethod
    async def operation(self, operation_id: str) -> Operation:
        """Return how far an operation is; LOST where the cloud no longer tells (read the VM)."""

    @abstractmethod
    async def operations(self, vm_id: str) -> tuple[Operation, ...]:
        """Return the operations on a VM that the cloud still shows, those in flight among them."""

    async def named(self, *names: str) -> tuple[Vm, ...]:
        """Return the one VM of each name, in order and in one call; raises NotOneVmError."""
        vms = await self.list(names=names)
        return tuple(only_vm(vms, name) for name in names)
