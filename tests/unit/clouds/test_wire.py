"""Prove what is read out of the API's JSON, and what is refused."""

from __future__ import annotations

from contextlib import suppress
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.clouds.crusoe.wire import ShapeError, read_operation, read_page, read_vm
from bot.clouds.model import Action, OperationState, PublicAddress, VmState

NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)

VM: dict[str, Any] = {
    "id": "ca39e669-0000-4000-8000-000000000001",
    "name": "gpu-1",
    "project_id": "project-1",
    "type": "a100.2x",
    "state": "RUNNING",
    "location": "us-east1-a",
    "created_at": "2025-12-03T19:58:34Z",
    "updated_at": "2025-12-03T19:58:34.123456789Z",
    "disks": [],
    "host_channel_adapters": [],
    "maintenance_policy": "manual",
    "billing_type": "Spot",
    "reservation_id": "reservation-1",
    "instance_group_id": "group-1",
    "network_interfaces": [
        {
            "ips": [
                {
                    "private_ipv4": {"address": "10.1.2.3"},
                    "public_ipv4": {"address": "203.0.113.7", "id": "ip-1", "type": "static"},
                },
                {"private_ipv4": {"address": "10.1.2.4"}, "public_ipv4": {"address": ""}},
            ]
        },
        {"ips": [{"private_ipv4": None, "public_ipv4": None}]},
        {"ips": None},
    ],
    "something_new": {"of": "tomorrow"},
}

OPERATION: dict[str, Any] = {
    "operation_id": "F6EF489C-0000-4000-8000-000000000002",
    "state": "IN_PROGRESS",
    "metadata": {
        "operation_name": "vm reset",
        "id": "vm-1",
        "type": "vm",
        "request": {"action": "RESET"},
    },
    "result": {},
    "started_at": "2025-12-03T19:58:34Z",
    "completed_at": "",
}

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner),
    max_leaves=6,
)


def test_a_vm_is_read_with_all_its_addresses() -> None:
    """Every interface's addresses in order; absent, null and empty ones are none."""
    vm = read_vm(VM, read_at=NOW)

    assert vm.private_ips == ("10.1.2.3", "10.1.2.4")
    assert vm.public_ips == (PublicAddress(address="203.0.113.7", kind="static"),)
    assert (vm.state, vm.raw_state) == (VmState.RUNNING, "RUNNING")
    assert (vm.billing, vm.reservation_id, vm.instance_group_id) == (
        "Spot",
        "reservation-1",
        "group-1",
    )
    assert vm.created_at == datetime(2025, 12, 3, 19, 58, 34, tzinfo=UTC)
    assert vm.updated_at == datetime(2025, 12, 3, 19, 58, 34, 123_456, tzinfo=UTC)
    assert vm.read_at == NOW


@pytest.mark.parametrize("missing", ["id", "name", "project_id", "state"])
def test_a_vm_without_what_identifies_it_is_refused(missing: str) -> None:
    """The error names the place."""
    with pytest.raises(ShapeError, match=f"^{missing}:"):
        read_vm({key: value for key, value in VM.items() if key != missing}, read_at=NOW)
    with pytest.raises(ShapeError, match=f"^{missing}:"):
        read_vm(VM | {missing: 7}, read_at=NOW)


def test_the_error_does_not_repeat_the_value() -> None:
    """What stands in a place where it does not belong may be anything."""
    with pytest.raises(ShapeError) as caught:
        read_vm(VM | {"id": ["private-thing"]}, read_at=NOW)

    assert "private-thing" not in str(caught.value)
    assert caught.value.__suppress_context__


@pytest.mark.parametrize(
    "odd", ["type", "location", "created_at", "updated_at", "billing_type", "network_interfaces"]
)
@pytest.mark.parametrize("value", [None, ""])
def test_what_is_not_needed_may_be_absent(odd: str, value: object) -> None:
    """A VM is told of even where the API leaves out what its description promises."""
    told = VM | {odd: value} if odd != "network_interfaces" else VM | {odd: None}

    assert read_vm(told, read_at=NOW).name == "gpu-1"


@pytest.mark.parametrize("odd", ["0001-01-01T00:00:00Z", "yesterday", 7])
def test_a_senseless_time_is_none(odd: object) -> None:
    """Go writes its zero time where there is none."""
    assert read_vm(VM | {"created_at": odd}, read_at=NOW).created_at is None


def test_an_operation_is_read() -> None:
    """Its VM and action come out of the metadata."""
    operation = read_operation(OPERATION, read_at=NOW)

    assert (operation.vm_id, operation.action) == ("vm-1", Action.RESET)
    assert operation.state is OperationState.IN_PROGRESS
    assert operation.completed_at is None
    assert not operation.is_over


@pytest.mark.parametrize(
    ("metadata", "action"),
    [
        ({"request": {"action": "STOP"}}, Action.STOP),
        ({"request": '{"action": "START"}'}, Action.START),
        ({"request": "not JSON", "operation_name": "vms.reset"}, Action.RESET),
        ({"request": {"action": "UPDATE"}, "operation_name": "update_vm"}, None),
        ({"operation_name": "RESTART"}, None),
        ({"operation_name": "Stop-VM"}, Action.STOP),
        ({}, None),
        (None, None),
        ("{}", None),
    ],
)
def test_the_action_is_taken_from_where_it_is_told(metadata: object, action: Action | None) -> None:
    """The request tells first, the name else; where neither does it is not known."""
    assert read_operation(OPERATION | {"metadata": metadata}, read_at=NOW).action is action


@pytest.mark.parametrize(
    ("word", "state"),
    [
        ("IN_PROGRESS", OperationState.IN_PROGRESS),
        ("SUCCEEDED", OperationState.SUCCEEDED),
        ("FAILED", OperationState.FAILED),
        ("QUEUED", OperationState.IN_PROGRESS),
        ("", OperationState.IN_PROGRESS),
    ],
)
def test_an_unknown_operation_state_is_under_way(word: str, state: OperationState) -> None:
    """It is shown as it is, and neither a success nor a failure."""
    operation = read_operation(OPERATION | {"state": word}, read_at=NOW)

    assert (operation.state, operation.raw_state) == (state, word)


@pytest.mark.parametrize("result", [None, "", [], {"code": 7}])
def test_a_failure_without_a_reason_is_one(result: object) -> None:
    """`result` has no published shape."""
    operation = read_operation(OPERATION | {"state": "FAILED", "result": result}, read_at=NOW)

    assert operation.state is OperationState.FAILED
    assert (operation.code, operation.message) == ("", "")


def test_an_end_is_told_by_the_state_alone() -> None:
    """A time of completion does not make a failure a success, nor an end of what runs on."""
    operation = read_operation(OPERATION | {"completed_at": "2025-12-03T20:00:00Z"}, read_at=NOW)

    assert not operation.is_over


def test_the_last_page_has_no_token() -> None:
    """Absent, null and empty are the same."""
    for last in ({}, {"next_page_token": None}, {"next_page_token": ""}):
        assert read_page({"items": None} | last) == ([], "")
    assert read_page({"items": [1], "next_page_token": "t"}) == ([1], "t")


@given(JSON)
def test_any_json_is_read_or_refused(found: object) -> None:
    """Nothing that an answer can hold raises anything else."""
    for reader in (
        read_page,
        lambda it: read_vm(it, read_at=NOW),
        lambda it: read_operation(it, read_at=NOW),
        lambda it: read_operation(OPERATION | {"metadata": it, "result": it}, read_at=NOW),
        lambda it: read_vm(VM | {"network_interfaces": it}, read_at=NOW),
    ):
        with suppress(ShapeError):
            reader(found)
