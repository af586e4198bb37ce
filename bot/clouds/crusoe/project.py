"""A project by its name, which is looked up when something is first asked of it."""

from __future__ import annotations

from collections.abc import Collection

from bot.clouds.crusoe.account import project_id
from bot.clouds.crusoe.cloud import CrusoeCloud
from bot.clouds.crusoe.session import Session
from bot.clouds.model import Action, Operation, Vm
from bot.clouds.port import Cloud


class NamedProject(Cloud):
    """One project's VMs. Every method may raise CloudSetupError where no one project fits."""

    def __init__(self, session: Session, name_or_id: str) -> None:
        self._session = session
        self._name = name_or_id
        self._found: CrusoeCloud | None = None

    async def _cloud(self) -> CrusoeCloud:
        if self._found is None:
            project = await project_id(self._session, self._name)
            self._found = CrusoeCloud(self._session, project=project)
        return self._found

    async def list(
        self, *, names: Collection[str] | None = None, ids: Collection[str] | None = None
    ) -> tuple[Vm, ...]:
        """Return the project's VMs, or those whose name (exactly) and id are among the given."""
        return await (await self._cloud()).list(names=names, ids=ids)

    async def get(self, vm_id: str) -> Vm:
        """Return one VM; raises VmNotFoundError."""
        return await (await self._cloud()).get(vm_id)

    async def act(self, vm_id: str, action: Action) -> Operation:
        """Begin an action; raises as `Cloud.act` does."""
        return await (await self._cloud()).act(vm_id, action)

    async def operation(self, operation_id: str) -> Operation:
        """Return how far an operation is."""
        return await (await self._cloud()).operation(operation_id)

    async def operations(self, vm_id: str) -> tuple[Operation, ...]:
        """Return the operations on a VM that the cloud still shows."""
        return await (await self._cloud()).operations(vm_id)
