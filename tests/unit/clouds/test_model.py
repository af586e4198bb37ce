"""Prove what a cloud's words come to."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.clouds.errors import NotOneVmError
from bot.clouds.model import STATES, Action, PublicAddress, Vm, VmState, only_vm, state_of

VM = Vm(
    id="0a1b2c3d-0000-4000-8000-00000000abcd",
    name="gpu-1",
    type="h100-80gb-sxm-ib.8x",
    location="us-east1-a",
    project="project-1",
    state=VmState.RUNNING,
    raw_state="STATE_RUNNING",
    read_at=datetime(2026, 1, 2, tzinfo=UTC),
)


@pytest.mark.parametrize(
    ("words", "state"),
    [
        (("RUNNING", "STATE_RUNNING", "Running"), VmState.RUNNING),
        (
            ("STATE_SHUTOFF", "SHUTOFF", "STATE_STOPPED", "Stopped", "STATE_SHUTDOWN"),
            VmState.STOPPED,
        ),
        (("Error", "STATE_ERROR", "CRASHED", "Crashed"), VmState.ERROR),
        (("STATE_DELETING", "STATE_DELETED"), VmState.DELETED),
        (
            ("BLOCKED", "DEFINING", "PAUSED", "PMSUSPENDED", "UNSPECIFIED", "Power Suspended"),
            VmState.TRANSITIONAL,
        ),
        (("Initializing", "Starting", "Undefined", "PROVISIONING"), VmState.TRANSITIONAL),
        (("STATE_PROVISIONING", "STATE_RESOURCING_AGENT", "", "STATE_"), VmState.TRANSITIONAL),
    ],
)
def test_every_word_that_was_ever_seen(words: tuple[str, ...], state: VmState) -> None:
    """With or without `STATE_`, in any case, each has its meaning."""
    assert {state_of(word) for word in words} == {state}


@given(st.text())
def test_an_unknown_word_is_transitional(word: str) -> None:
    """No word is an error, and none but those listed is a settled state."""
    known = word.strip().upper().removeprefix("STATE_") in STATES

    assert known or state_of(word) is VmState.TRANSITIONAL


def test_nothing_but_start_stop_and_reset() -> None:
    """There is no way to ask for a deletion, an update or anything else."""
    assert [action.value for action in Action] == ["START", "STOP", "RESET"]


def test_a_guest_is_its_vm_in_any_case() -> None:
    """SMBIOS may spell the id in capitals and end it with a line end."""
    assert VM.is_machine(f"{VM.id.upper()}\n")
    assert not VM.is_machine(VM.id[:-1])


@pytest.mark.parametrize(
    ("kinds", "loses"), [((), False), (("static",), False), (("dynamic",), True), (("",), True)]
)
def test_only_a_static_address_survives_a_stop(kinds: tuple[str, ...], loses: bool) -> None:  # noqa: FBT001
    """An address of unknown kind counts as one that may be lost."""
    ips = tuple(PublicAddress(address="203.0.113.7", kind=kind) for kind in kinds)

    assert replace(VM, public_ips=ips).loses_address is loses


def test_one_of_a_name_is_it() -> None:
    """Names are compared whole and case-sensitively."""
    other = replace(VM, name="gpu-10")

    assert only_vm([other, VM], "gpu-1") is VM
    with pytest.raises(NotOneVmError, match="No VM is named 'GPU-1'"):
        only_vm([VM], "GPU-1")


def test_two_of_a_name_are_named_by_id() -> None:
    """The error gives a person what to choose by."""
    twin = replace(VM, id="ffff")

    with pytest.raises(NotOneVmError, match=rf"2 VMs.*{VM.id}, ffff.*None was picked"):
        only_vm([VM, twin], "gpu-1")
