"""The VMs of one Crusoe project, through the API."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Callable, Collection, Iterable, Iterator
from contextlib import asynccontextmanager
from http import HTTPStatus
from typing import TypeVar
from urllib.parse import quote_plus

import httpx

from bot.clouds.crusoe.acting import Attempt
from bot.clouds.crusoe.answers import unreadable
from bot.clouds.crusoe.call import Call
from bot.clouds.crusoe.credentials import Credentials
from bot.clouds.crusoe.endpoint import Endpoint
from bot.clouds.crusoe.pace import Pace
from bot.clouds.crusoe.session import TIME_LIMIT, Session, Signer
from bot.clouds.crusoe.wire import ShapeError, read_operation, read_page, read_vm
from bot.clouds.errors import (
    CloudSetupError,
    PermissionDeniedError,
    RequestRefusedError,
    VmNotFoundError,
)
from bot.clouds.model import Action, Operation, OperationState, Vm
from bot.clouds.port import Cloud
from bot.clouds.timing import Timing

#: VMs a page; Crusoe's node remediation asks for as many.
PAGE = 500

#: More pages than any project has: an API that never ends its list must not keep us.
MAX_PAGES = 200

#: Characters of names or ids in one request, as escaped; proxies cut URLs at about 8,000.
MAX_FILTER = 4_000

#: What may stand in a path or in a list with commas. Ids are UUIDs; names are DNS labels.
_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,252}")

Value = TypeVar("Value")


@asynccontextmanager
async def open_session(
    endpoint: Endpoint,
    credentials: Credentials,
    *,
    timing: Timing | None = None,
    pace: Pace | None = None,
    transport: httpx.AsyncBaseTransport | None = None,
) -> AsyncIterator[Session]:
    """Open the connections of one key; several projects may use them.

    Without a `transport`, proxies of the environment are used (they tunnel https and cannot change
    what is signed), but not to reach this machine.
    """
    timing = timing or Timing()
    async with httpx.AsyncClient(
        auth=Signer(endpoint, credentials, timing),
        follow_redirects=False,
        timeout=TIME_LIMIT.total_seconds(),
        trust_env=not endpoint.is_loopback,
        transport=transport,
    ) as client:
        yield Session(
            client=client,
            endpoint=endpoint,
            credentials=credentials,
            pace=pace or Pace(timing=timing),
            timing=timing,
        )


class CrusoeCloud(Cloud):
    """One project's VMs; every path it can ask for lies below that project."""

    def __init__(self, session: Session, *, project: str) -> None:
        if not _ID.fullmatch(project):
            raise CloudSetupError(
                f"{project!r} is not the id of a Crusoe project. Look the id up in the console "
                "(names are resolved beforehand)."
            )
        self._session = session
        self._project = project
        self._vms = f"/projects/{project}/compute/vms/instances"

    async def list(
        self, *, names: Collection[str] | None = None, ids: Collection[str] | None = None
    ) -> tuple[Vm, ...]:
        """Return the project's VMs, or those whose name (exactly) and id are among the given."""
        # A name or id that could not stand in a filter is none that a VM can have.
        wanted_names = None if names is None else {name for name in names if _NAME.fullmatch(name)}
        wanted_ids = None if ids is None else {i.casefold() for i in ids if _ID.fullmatch(i)}
        found: dict[str, Vm] = {}
        for query in _filters(wanted_names, wanted_ids):
            async for vm in self._listed(query):
                found[vm.id] = vm
        # Whether the API's filter by name is exact is not documented.
        return tuple(
            vm
            for vm in found.values()
            if (wanted_names is None or vm.name in wanted_names)
            and (wanted_ids is None or vm.id.casefold() in wanted_ids)
        )

    async def get(self, vm_id: str) -> Vm:
        """Return one VM; raises VmNotFoundError."""
        call = Call(
            method="GET",
            path=f"{self._vms}/{_checked(vm_id)}",
            what=f"show VM {vm_id}",
            vm_id=vm_id,
        )
        return self._read(call, self._vm, await self._session.read(call))

    async def act(self, vm_id: str, action: Action) -> Operation:
        """Begin an action and return its operation."""
        call = Call(
            method="PATCH",
            path=f"{self._vms}/{_checked(vm_id)}",
            body={"action": action.value},
            what=f"{action.value} VM {vm_id}",
            vm_id=vm_id,
        )
        attempt = Attempt(
            session=self._session,
            call=call,
            vm_id=vm_id,
            action=action,
            look=lambda: self.get(vm_id),
            operations=lambda: self.operations(vm_id),
            read=lambda found: self._read(call, self._begun, found),
        )
        return await attempt.run()

    async def operation(self, operation_id: str) -> Operation:
        """Return how far an operation is.

        The API answers 403 where it is absent, expired or another user's: that is LOST.
        """
        if not _ID.fullmatch(operation_id):
            return self._lost(operation_id)
        call = Call(
            method="GET",
            path=f"{self._vms}/operations/{operation_id}",
            what=f"show operation {operation_id}",
        )
        try:
            found = await self._session.read(call)
        except PermissionDeniedError:
            return self._lost(operation_id)
        except RequestRefusedError as error:
            if error.status == HTTPStatus.NOT_FOUND:
                return self._lost(operation_id)
            raise
        return self._read(call, self._operation, found)

    async def operations(self, vm_id: str) -> tuple[Operation, ...]:
        """Return the VM's operations that the API still shows: in flight or not yet asked for."""
        call = Call(
            method="GET",
            path=f"{self._vms}/operations",
            query=(("resource_id", _checked(vm_id)),),
            what=f"list the operations of VM {vm_id}",
        )
        items, _ = self._read(call, read_page, await self._session.read(call))
        found = [self._read(call, self._operation, item) for item in items]
        # An operation without the VM's id is kept: the API was asked for this VM's alone.
        return tuple(o for o in found if o.vm_id.casefold() in ("", vm_id.casefold()))

    async def _listed(self, query: tuple[tuple[str, str], ...]) -> AsyncIterator[Vm]:
        token, seen = "", {""}
        for _ in range(MAX_PAGES):
            # Asymmetric: the answer's `next_page_token` is the request's `next_token`.
            page = (("limit", str(PAGE)), *((("next_token", token),) if token else ()))
            call = Call(
                method="GET",
                path=self._vms,
                query=(*query, *page),
                what=f"list the VMs of project {self._project}",
            )
            items, token = self._read(call, read_page, await self._session.read(call))
            for item in items:
                yield self._read(call, self._vm, item)
            if not token:
                return
            if token in seen:
                break
            seen.add(token)
        raise unreadable(call, "its pages never end")

    def _lost(self, operation_id: str) -> Operation:
        return Operation(
            id=operation_id, state=OperationState.LOST, read_at=self._session.timing.now()
        )

    def _vm(self, found: object) -> Vm:
        vm = read_vm(found, read_at=self._session.timing.now())
        if vm.project.casefold() != self._project.casefold():
            raise ShapeError("project_id: it is another project's")
        return vm

    def _operation(self, found: object) -> Operation:
        return read_operation(found, read_at=self._session.timing.now())

    def _begun(self, found: object) -> Operation:
        return self._operation(found.get("operation") if isinstance(found, dict) else None)

    def _read(self, call: Call, reader: Callable[[object], Value], found: object) -> Value:
        try:
            return reader(found)
        except ShapeError as error:
            raise unreadable(call, f"it is of another shape ({error})") from None


def _checked(vm_id: str) -> str:
    """Return an id that may stand in a path."""
    if not _ID.fullmatch(vm_id):
        raise VmNotFoundError(f"{vm_id[:80]!r} is not the id of a VM. Nothing was sent.")
    return vm_id


def _filters(
    names: Collection[str] | None, ids: Collection[str] | None
) -> Iterator[tuple[tuple[str, str], ...]]:
    """Yield the queries that together ask for all of the names and ids."""
    by_id = [()] if ids is None else [(("ids", part),) for part in _joined(ids)]
    by_name = [()] if names is None else [(("names", part),) for part in _joined(names)]
    for one in by_id:
        for other in by_name:
            yield (*one, *other)


def _joined(words: Iterable[str]) -> Iterator[str]:
    """Join words with commas into as few texts as fit into a URL."""
    part: list[str] = []
    length = 0
    for word in sorted(words):
        size = len(quote_plus(word)) + len("%2C")
        if part and length + size > MAX_FILTER:
            yield ",".join(part)
            part, length = [], 0
        part.append(word)
        length += size
    if part:
        yield ",".join(part)
