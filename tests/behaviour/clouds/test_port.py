"""Prove the rules of the port on every adapter."""

from __future__ import annotations

from datetime import timedelta

import pytest

from bot.clouds.errors import NotOneVmError, VmBusyError, VmNotFoundError
from bot.clouds.follow import Patience, Verdict, follow
from bot.clouds.model import Action, OperationState, VmState
from tests.behaviour.clouds.lab import LONG, Lab

pytestmark = pytest.mark.anyio

NOWHERE = "00000000-0000-4000-8000-000000000000"


async def test_lists_every_vm_of_the_project(lab: Lab) -> None:
    """Without a filter the answer holds each VM once."""
    ids = {lab.add(f"gpu-{number}") for number in range(5)}

    vms = await lab.cloud.list()

    assert {vm.id for vm in vms} == ids
    assert len(vms) == 5


async def test_a_name_is_matched_whole(lab: Lab) -> None:
    """A VM whose name merely begins like the one asked for is not in the answer."""
    wanted = lab.add("gpu-1")
    lab.add("gpu-10")

    vms = await lab.cloud.list(names=["gpu-1", "gpu-99"])

    assert [vm.id for vm in vms] == [wanted]


async def test_lists_by_id_without_regard_to_case(lab: Lab) -> None:
    """A guest may spell its SMBIOS UUID in capitals."""
    wanted = lab.add("gpu-1")
    lab.add("gpu-2")

    vms = await lab.cloud.list(ids=[wanted.upper(), NOWHERE])

    assert [vm.id for vm in vms] == [wanted]


@pytest.mark.parametrize("odd", ["", "a,gpu-1", "gpu-1\n", "../gpu-1", "gpu 1"])
async def test_an_impossible_name_finds_nothing(lab: Lab, odd: str) -> None:
    """A name that no VM can have matches none and never widens the question."""
    lab.add("gpu-1")

    assert await lab.cloud.list(names=[odd]) == ()
    assert await lab.cloud.list(names=[]) == ()
    assert await lab.cloud.list(ids=[odd]) == ()


async def test_gets_one_vm_with_what_a_report_needs(lab: Lab) -> None:
    """A VM carries state, addresses, project and the time at which it was read."""
    vm_id = lab.add("gpu-1", public_ip="203.0.113.7")
    lab.clock.advance(90)

    vm = await lab.cloud.get(vm_id)

    assert (vm.id, vm.name, vm.project) == (vm_id, "gpu-1", lab.project)
    assert (vm.state, vm.raw_state) == (VmState.RUNNING, "STATE_RUNNING")
    assert [ip.address for ip in vm.public_ips] == ["203.0.113.7"]
    assert vm.loses_address
    assert vm.private_ips
    assert vm.read_at == lab.clock.now
    assert vm.read_at.utcoffset() == timedelta(0)


@pytest.mark.parametrize("vm_id", [NOWHERE, "", "..", "a/b", "x?y=1", "operations\n"])
async def test_an_unknown_vm_is_an_error(lab: Lab, vm_id: str) -> None:
    """Neither reading nor acting on a VM that is not there goes through."""
    with pytest.raises(VmNotFoundError):
        await lab.cloud.get(vm_id)
    with pytest.raises(VmNotFoundError):
        await lab.cloud.act(vm_id, Action.STOP)


@pytest.mark.parametrize(
    ("word", "state"),
    [
        ("STATE_SHUTOFF", VmState.STOPPED),
        ("RUNNING", VmState.RUNNING),
        ("STATE_ERROR", VmState.ERROR),
        ("STATE_RESOURCING_AGENT", VmState.TRANSITIONAL),
        ("", VmState.TRANSITIONAL),
    ],
)
async def test_a_state_is_shown_as_it_is(lab: Lab, word: str, state: VmState) -> None:
    """The cloud's word is kept beside what it comes to, known or not."""
    vm_id = lab.add("gpu-1", state=word)

    vm = await lab.cloud.get(vm_id)

    assert (vm.state, vm.raw_state) == (state, word)


async def test_named_answers_in_the_order_asked(lab: Lab) -> None:
    """One VM for each name, in order."""
    second, first = lab.add("gpu-2"), lab.add("gpu-1")

    assert [vm.id for vm in await lab.cloud.named("gpu-1", "gpu-2")] == [first, second]


@pytest.mark.parametrize("times", [0, 2])
async def test_a_name_of_none_or_two_is_never_picked(lab: Lab, times: int) -> None:
    """None of that name, or two, is an error that a person reads."""
    ids = [lab.add("gpu-1") for _ in range(times)]

    with pytest.raises(NotOneVmError) as caught:
        await lab.cloud.named("gpu-1")

    assert all(vm_id in str(caught.value) for vm_id in ids)


@pytest.mark.parametrize(
    ("before", "action", "after"),
    [
        ("STATE_RUNNING", Action.STOP, VmState.STOPPED),
        ("STATE_SHUTOFF", Action.START, VmState.RUNNING),
        ("STATE_RUNNING", Action.RESET, VmState.RUNNING),
    ],
)
async def test_an_action_takes_effect_over_time(
    lab: Lab, before: str, action: Action, after: VmState
) -> None:
    """An action is an operation that is under way first and succeeded later."""
    vm_id = lab.add("gpu-1", state=before)

    begun = await lab.cloud.act(vm_id, action)
    assert (begun.vm_id, begun.action) == (vm_id, action)
    assert begun.state is OperationState.IN_PROGRESS
    assert begun.completed_at is None

    lab.clock.advance(LONG)
    ended = await lab.cloud.operation(begun.id)

    assert ended.state is OperationState.SUCCEEDED
    assert ended.completed_at is not None
    assert (await lab.cloud.get(vm_id)).state is after


async def test_two_actions_on_one_vm_exclude_each_other(lab: Lab) -> None:
    """The second one is refused while the first is under way, and taken after it."""
    vm_id = lab.add("gpu-1")
    await lab.cloud.act(vm_id, Action.RESET)

    with pytest.raises(VmBusyError):
        await lab.cloud.act(vm_id, Action.STOP)

    lab.clock.advance(LONG)
    assert (await lab.cloud.act(vm_id, Action.STOP)).action is Action.STOP


async def test_the_operations_of_a_vm_are_its_own(lab: Lab) -> None:
    """What was begun shows among them, and another VM's does not."""
    one, other = lab.add("gpu-1"), lab.add("gpu-2")
    assert await lab.cloud.operations(one) == ()

    begun = await lab.cloud.act(one, Action.RESET)
    await lab.cloud.act(other, Action.STOP)

    (shown,) = await lab.cloud.operations(one)
    assert (shown.id, shown.vm_id, shown.action) == (begun.id, one, Action.RESET)
    assert shown.state is OperationState.IN_PROGRESS


async def test_an_operation_nobody_knows_is_lost_and_not_failed(lab: Lab) -> None:
    """Absence of an operation says nothing about the action."""
    for operation_id in (NOWHERE, "", "../x"):
        assert (await lab.cloud.operation(operation_id)).state is OperationState.LOST


async def test_a_failed_operation_says_why(lab: Lab) -> None:
    """A VM that was stopped may find no room to start again."""
    vm_id = lab.add("gpu-1", state="STATE_SHUTOFF")
    lab.fail_next("out_of_stock", "no capacity for this type")

    outcome = await follow(
        lab.cloud, await lab.cloud.act(vm_id, Action.START), timing=lab.clock.timing
    )

    assert outcome.verdict is Verdict.FAILED
    assert outcome.operation.code == "out_of_stock"
    assert outcome.operation.message == "no capacity for this type"
    assert outcome.vm.state is VmState.STOPPED


async def test_following_ends_with_a_fresh_reading(lab: Lab) -> None:
    """The outcome of a stop shows the VM as it is after it."""
    vm_id = lab.add("gpu-1")

    outcome = await follow(
        lab.cloud, await lab.cloud.act(vm_id, Action.STOP), timing=lab.clock.timing
    )

    assert outcome.verdict is Verdict.DONE
    assert outcome.vm.state is VmState.STOPPED
    assert outcome.vm.read_at == lab.clock.now


@pytest.mark.parametrize(
    ("before", "action", "verdict"),
    [
        ("STATE_RUNNING", Action.STOP, Verdict.DONE),
        ("STATE_SHUTOFF", Action.START, Verdict.DONE),
        ("STATE_RUNNING", Action.RESET, Verdict.UNPROVEN),
    ],
)
async def test_a_lost_operation_is_judged_by_the_vm(
    lab: Lab, before: str, action: Action, verdict: Verdict
) -> None:
    """The VM's state proves a stop and a start; nothing in the API proves a reset."""
    vm_id = lab.add("gpu-1", state=before)
    begun = await lab.cloud.act(vm_id, action)
    lab.forget_operations()

    outcome = await follow(lab.cloud, begun, timing=lab.clock.timing)

    assert outcome.verdict is verdict
    assert outcome.operation.state is OperationState.LOST


async def test_a_lost_operation_that_shows_no_effect_stays_unproven(lab: Lab) -> None:
    """A VM that does not come to the wanted state is watched until patience ends."""
    vm_id = lab.add("gpu-1")
    begun = await lab.cloud.act(vm_id, Action.STOP)
    lab.forget_operations()
    lab.show(vm_id, "STATE_STOPPING_SLOWLY")

    outcome = await follow(lab.cloud, begun, timing=lab.clock.timing)

    assert outcome.verdict is Verdict.UNPROVEN
    assert outcome.vm.raw_state == "STATE_STOPPING_SLOWLY"
    assert sum(lab.clock.slept) >= Patience().longest.total_seconds()


async def test_patience_ends_without_a_verdict_on_the_action(lab: Lab) -> None:
    """An operation that is still under way is neither done nor failed."""
    vm_id = lab.add("gpu-1")
    patience = Patience(every=timedelta(seconds=2), longest=timedelta(seconds=6))

    outcome = await follow(
        lab.cloud,
        await lab.cloud.act(vm_id, Action.STOP),
        timing=lab.clock.timing,
        patience=patience,
    )

    assert outcome.verdict is Verdict.STILL_RUNNING
    assert outcome.operation.state is OperationState.IN_PROGRESS
