"""Read the API's JSON into our values.

Field names are those of the published `InstanceV1` and `Operation`. Only what we cannot do without
is required; a list or object that is null is an empty one, as Go writes it.
"""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime
from typing import Annotated, TypeVar

from pydantic import BaseModel, BeforeValidator, Field, ValidationError

from bot.clouds.model import Action, Operation, OperationState, PublicAddress, Vm, state_of

Model = TypeVar("Model", bound=BaseModel)


class ShapeError(Exception):
    """JSON of another shape; the message names the place and never the value."""


def _time(value: object) -> datetime | None:
    """Read RFC 3339; empty, senseless and Go's zero time are None."""
    if not isinstance(value, str):
        return None
    try:
        when = datetime.fromisoformat(value)
    except ValueError:
        return None
    when = when.replace(tzinfo=UTC) if when.tzinfo is None else when
    return None if when.year == 1 else when.astimezone(UTC)


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _no_null(value: object) -> object:
    return [] if value is None else value


Time = Annotated[datetime | None, BeforeValidator(_time)]
Text = Annotated[str, BeforeValidator(_text)]
Stated = Annotated[str, Field(min_length=1)]


class _Address(BaseModel):
    address: Text = ""
    type: Text = ""


class _Addresses(BaseModel):
    private_ipv4: _Address | None = None
    public_ipv4: _Address | None = None


class _Interface(BaseModel):
    ips: Annotated[list[_Addresses], BeforeValidator(_no_null)] = []


class _Instance(BaseModel):
    id: Stated
    name: Stated
    project_id: Stated
    state: str
    type: Text = ""
    location: Text = ""
    created_at: Time = None
    updated_at: Time = None
    billing_type: Text = ""
    reservation_id: Text = ""
    instance_group_id: Text = ""
    network_interfaces: Annotated[list[_Interface], BeforeValidator(_no_null)] = []


class _Operation(BaseModel):
    operation_id: Stated
    state: str
    metadata: object = None
    result: object = None
    started_at: Time = None
    completed_at: Time = None


class _Page(BaseModel):
    items: Annotated[list[object], BeforeValidator(_no_null)]
    next_page_token: Text = ""


def read_page(found: object) -> tuple[list[object], str]:
    """Return the items of a list's answer and the token of the next page, empty at the end."""
    page = _validated(_Page, found)
    return page.items, page.next_page_token


def read_vm(found: object, *, read_at: datetime) -> Vm:
    """Read one InstanceV1; raises ShapeError."""
    told = _validated(_Instance, found)
    pairs = [pair for interface in told.network_interfaces for pair in interface.ips]
    return Vm(
        id=told.id,
        name=told.name,
        type=told.type,
        location=told.location,
        project=told.project_id,
        state=state_of(told.state),
        raw_state=told.state,
        private_ips=tuple(
            pair.private_ipv4.address
            for pair in pairs
            if pair.private_ipv4 and pair.private_ipv4.address
        ),
        public_ips=tuple(
            PublicAddress(address=pair.public_ipv4.address, kind=pair.public_ipv4.type)
            for pair in pairs
            if pair.public_ipv4 and pair.public_ipv4.address
        ),
        read_at=read_at,
        created_at=told.created_at,
        updated_at=told.updated_at,
        billing=told.billing_type,
        reservation_id=told.reservation_id,
        instance_group_id=told.instance_group_id,
    )


#: Published states; any other word counts as under way.
OPERATION_STATES = {
    "IN_PROGRESS": OperationState.IN_PROGRESS,
    "SUCCEEDED": OperationState.SUCCEEDED,
    "FAILED": OperationState.FAILED,
}


def read_operation(found: object, *, read_at: datetime) -> Operation:
    """Read one Operation; raises ShapeError.

    `metadata` and `result` have no published shape: `{operation_name, id, type, request}` and
    `{code, message}` are what clients rely on, so nothing in them is required.
    """
    told = _validated(_Operation, found)
    metadata = told.metadata if isinstance(told.metadata, dict) else {}
    result = told.result if isinstance(told.result, dict) else {}
    return Operation(
        id=told.operation_id,
        vm_id=_text(metadata.get("id")),
        action=_action(metadata),
        state=OPERATION_STATES.get(told.state, OperationState.IN_PROGRESS),
        raw_state=told.state,
        started_at=told.started_at,
        completed_at=told.completed_at,
        code=_text(result.get("code")),
        message=_text(result.get("message")),
        read_at=read_at,
    )


def _action(metadata: dict[str, object]) -> Action | None:
    """Return the action that an operation's metadata tells of, in its request or its name."""
    request = metadata.get("request")
    if isinstance(request, str):
        try:
            request = json.loads(request)
        except ValueError:
            request = None
    asked = _text(request.get("action")) if isinstance(request, dict) else ""
    words = [asked, *re.split(r"[^A-Za-z]+", _text(metadata.get("operation_name")))]
    known = [Action(word.upper()) for word in words if word.upper() in Action.__members__]
    return known[0] if known else None


def _validated(model: type[Model], found: object) -> Model:
    try:
        return model.model_validate(found)
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False)[0]
        place = ".".join(str(part) for part in first["loc"]) or "the whole"
        # From None: pydantic's own text repeats the input.
        raise ShapeError(f"{place}: {first['msg']}") from None
