"""Prove that the client never takes an action twice, whatever happens to the answer."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from bot.clouds.errors import (
    CloudError,
    CredentialsError,
    OutcomeUnknownError,
    PermissionDeniedError,
    RateLimitedError,
    RequestRefusedError,
    VmBusyError,
)
from bot.clouds.model import Action, OperationState
from playground.crusoe.api import INVALID_ACTION
from playground.crusoe.faults import Fault, Silence, json_reply, not_json, refused, too_many
from playground.crusoe.http1 import Reply
from playground.crusoe.server import Served
from tests.behaviour.clouds.lab import LONG, CrusoeLab

pytestmark = pytest.mark.anyio

#: Ways to lose an answer.
LOST: list[Reply | Silence] = [
    refused(500),
    refused(502),
    refused(504),
    not_json(503),
    not_json(200),
    json_reply(200, {"operation": {}}),
    Silence.DROP,
]


def patches(crusoe: CrusoeLab) -> int:
    """Count the actions that were sent."""
    return len(crusoe.server.asked("PATCH"))


def effects(crusoe: CrusoeLab) -> list[str]:
    """Record which actions take effect from now on."""
    seen: list[str] = []
    crusoe.server.world.on_effect = lambda _machine, action: seen.append(action)
    return seen


def once_sent(crusoe: CrusoeLab, happens: Callable[[], object]) -> None:
    """Let something happen right after an action was sent for the first time."""

    def watch(served: Served) -> None:
        if served.request.method == "PATCH":
            crusoe.server.watcher = None
            happens()

    crusoe.server.watcher = watch


async def test_an_action_is_the_published_body(crusoe: CrusoeLab) -> None:
    """One PATCH with `action` and nothing else, and a JSON content type."""
    vm_id = crusoe.add("gpu-1")

    await crusoe.cloud.act(vm_id, Action.RESET)

    (sent,) = crusoe.server.asked("PATCH")
    assert sent.request.target.endswith(f"/compute/vms/instances/{vm_id}")
    assert sent.request.body == b'{"action": "RESET"}'
    assert sent.request.header("content-type") == ["application/json"]


@pytest.mark.parametrize("gives", LOST)
async def test_an_action_whose_answer_was_lost_is_found_again(
    crusoe: CrusoeLab, gives: Reply | Silence
) -> None:
    """The VM's operations show it, so it is not sent a second time."""
    vm_id = crusoe.add("gpu-1")
    seen = effects(crusoe)
    crusoe.server.fail(Fault(gives=gives, method="PATCH", after_effect=True))

    begun = await crusoe.cloud.act(vm_id, Action.RESET)

    assert begun.action is Action.RESET
    assert patches(crusoe) == 1
    crusoe.clock.advance(LONG)
    assert (await crusoe.cloud.operation(begun.id)).state is OperationState.SUCCEEDED
    assert seen == ["RESET"]


@pytest.mark.parametrize("gives", [refused(500), not_json(503), Silence.DROP])
async def test_an_action_that_left_no_trace_is_sent_once_more(
    crusoe: CrusoeLab, gives: Reply | Silence
) -> None:
    """Only after the VM and its operations were read and show nothing new."""
    vm_id = crusoe.add("gpu-1")
    crusoe.server.fail(Fault(gives=gives, method="PATCH"))

    begun = await crusoe.cloud.act(vm_id, Action.STOP)

    assert begun.action is Action.STOP
    order = [
        (one.request.method, "operations" in one.request.target) for one in crusoe.server.served
    ]
    look = [("GET", True), ("GET", False)]
    assert order == [*look[::-1], ("PATCH", False), *look, ("PATCH", False)]


async def test_an_older_operation_is_not_taken_for_ours(crusoe: CrusoeLab) -> None:
    """One that was there before the action was sent says nothing about the action."""
    vm_id = crusoe.add("gpu-1")
    older = await crusoe.cloud.act(vm_id, Action.RESET)
    crusoe.clock.advance(LONG)
    assert [one.id for one in await crusoe.cloud.operations(vm_id)] == [older.id]
    crusoe.server.fail(Fault(gives=Silence.DROP, method="PATCH"))

    begun = await crusoe.cloud.act(vm_id, Action.RESET)

    assert begun.id != older.id
    assert patches(crusoe) == 3


async def test_doubt_twice_over_is_for_a_person(crusoe: CrusoeLab) -> None:
    """After a second lost answer without a trace nothing more is sent."""
    vm_id = crusoe.add("gpu-1")
    crusoe.server.fail(Fault(gives=refused(500), method="PATCH", times=9))

    with pytest.raises(OutcomeUnknownError, match=r"not sent again.*boot id") as caught:
        await crusoe.cloud.act(vm_id, Action.RESET)

    assert caught.value.in_doubt
    assert patches(crusoe) == 2


async def test_an_unreadable_success_without_a_trace_is_not_sent_again(
    crusoe: CrusoeLab,
) -> None:
    """A 200 says that something was done, even where nobody can say what."""
    vm_id = crusoe.add("gpu-1")
    crusoe.server.fail(Fault(gives=not_json(200), method="PATCH"))

    with pytest.raises(OutcomeUnknownError):
        await crusoe.cloud.act(vm_id, Action.RESET)

    assert patches(crusoe) == 1


async def test_doubt_that_cannot_be_looked_into_is_for_a_person(crusoe: CrusoeLab) -> None:
    """Where the operations cannot be read either, the action is not sent again."""
    vm_id = crusoe.add("gpu-1")
    crusoe.server.fail(Fault(gives=Silence.DROP, method="PATCH"))
    unreadable = Fault(gives=refused(503), path="/operations", times=9)
    once_sent(crusoe, lambda: crusoe.server.fail(unreadable))

    with pytest.raises(OutcomeUnknownError, match="reading the VM afterwards failed"):
        await crusoe.cloud.act(vm_id, Action.STOP)

    assert patches(crusoe) == 1


async def test_a_state_that_moved_in_doubt_is_for_a_person(crusoe: CrusoeLab) -> None:
    """A VM that changed without an operation to show for it may be our doing."""
    vm_id = crusoe.add("gpu-1")
    crusoe.server.fail(Fault(gives=Silence.DROP, method="PATCH", after_effect=True))
    # All that is left of the operation is the VM's new state.
    once_sent(crusoe, crusoe.forget_operations)

    with pytest.raises(OutcomeUnknownError, match=r"from STATE_RUNNING.* to STATE_SHUTOFF"):
        await crusoe.cloud.act(vm_id, Action.STOP)

    assert patches(crusoe) == 1


async def test_a_reset_in_doubt_shows_by_the_time_of_change(crusoe: CrusoeLab) -> None:
    """The state is the same before and after it; what the API says of the last change is not."""
    vm_id = crusoe.add("gpu-1")
    crusoe.clock.advance(3600)
    crusoe.server.fail(Fault(gives=refused(502), method="PATCH", after_effect=True))
    once_sent(crusoe, crusoe.forget_operations)

    with pytest.raises(OutcomeUnknownError, match=r"03:04:05 UTC to STATE_RUNNING of .* 04:04:05"):
        await crusoe.cloud.act(vm_id, Action.RESET)

    assert patches(crusoe) == 1


async def test_an_operation_without_metadata_is_ours_all_the_same(crusoe: CrusoeLab) -> None:
    """The API need not repeat which VM and action it is about; following it needs both."""
    vm_id = crusoe.add("gpu-1")
    bare = {"operation_id": "op-1", "state": "IN_PROGRESS", "metadata": None, "result": None}
    crusoe.server.fail(Fault(gives=json_reply(200, {"operation": bare}), method="PATCH"))

    begun = await crusoe.cloud.act(vm_id, Action.STOP)

    assert (begun.id, begun.vm_id, begun.action) == ("op-1", vm_id, Action.STOP)


async def test_two_new_operations_in_doubt_are_for_a_person(crusoe: CrusoeLab) -> None:
    """Which of them is ours is not guessed."""
    vm_id = crusoe.add("gpu-1")
    world = crusoe.server.world
    machine = world.machines[vm_id]
    crusoe.server.fail(Fault(gives=Silence.DROP, method="PATCH", after_effect=True))

    def somebody_else() -> None:
        for work in world.works.values():
            work.due = work.started_at
        world.begin(machine, "RESET", user="grace")

    once_sent(crusoe, somebody_else)

    with pytest.raises(OutcomeUnknownError, match=r"STOP \(.*succeeded\), RESET \(.*in progress"):
        await crusoe.cloud.act(vm_id, Action.STOP)

    assert patches(crusoe) == 1


async def test_looking_after_a_conflict_may_fail_as_itself(crusoe: CrusoeLab) -> None:
    """Without doubt about our action the failure to read is what is said."""
    vm_id = crusoe.add("gpu-1")
    crusoe.server.fail(Fault(gives=refused(409), method="PATCH"))
    once_sent(crusoe, lambda: crusoe.server.fail(Fault(gives=refused(403), path="/operations")))

    with pytest.raises(PermissionDeniedError, match="list the operations"):
        await crusoe.cloud.act(vm_id, Action.STOP)

    assert patches(crusoe) == 1


@pytest.mark.parametrize(
    ("gives", "lost"), [(refused(403), True), (refused(404), True), (refused(400), False)]
)
async def test_only_absence_makes_an_operation_lost(
    crusoe: CrusoeLab,
    gives: Reply,
    lost: bool,  # noqa: FBT001
) -> None:
    """403 is what the API answers for one that is absent; a 400 says that we asked wrongly."""
    vm_id = crusoe.add("gpu-1")
    begun = await crusoe.cloud.act(vm_id, Action.STOP)
    crusoe.server.fail(Fault(gives=gives, path="/operations/"))

    if lost:
        assert (await crusoe.cloud.operation(begun.id)).state is OperationState.LOST
    else:
        with pytest.raises(RequestRefusedError):
            await crusoe.cloud.operation(begun.id)


async def test_nothing_is_sent_while_an_operation_is_under_way(crusoe: CrusoeLab) -> None:
    """Somebody else's operation is named, and left alone."""
    vm_id = crusoe.add("gpu-1")
    world = crusoe.server.world
    work = world.begin(world.machines[vm_id], "STOP", user="grace")
    assert work is not None

    with pytest.raises(VmBusyError, match=rf"not sent: STOP \({work.id}"):
        await crusoe.cloud.act(vm_id, Action.RESET)

    assert patches(crusoe) == 0


async def test_a_conflict_that_passes_is_waited_for(crusoe: CrusoeLab) -> None:
    """A 409 with nothing to show for it is tried again after a wait."""
    vm_id = crusoe.add("gpu-1")
    crusoe.server.fail(Fault(gives=refused(409), method="PATCH", times=2))

    begun = await crusoe.cloud.act(vm_id, Action.RESET)

    assert begun.action is Action.RESET
    assert crusoe.clock.slept == [1.0, 2.0]


async def test_a_conflict_that_changed_the_vm_is_not_followed_by_ours(crusoe: CrusoeLab) -> None:
    """An action was asked for on the VM as it was seen, so another's action voids it."""
    vm_id = crusoe.add("gpu-1")
    world = crusoe.server.world
    crusoe.server.fail(Fault(gives=refused(409), method="PATCH"))
    machine = world.machines[vm_id]
    once_sent(crusoe, lambda: world.begin(machine, "STOP", user="grace"))

    with pytest.raises(VmBusyError, match="changed meanwhile"):
        await crusoe.cloud.act(vm_id, Action.RESET)

    assert patches(crusoe) == 1
    assert [one.action for one in world.works.values()] == ["STOP"]


async def test_a_lasting_conflict_ends(crusoe: CrusoeLab) -> None:
    """After four tries the conflict is what is said; nothing was done."""
    vm_id = crusoe.add("gpu-1")
    crusoe.server.fail(Fault(gives=refused(409), method="PATCH", times=9))

    with pytest.raises(VmBusyError, match=r"\(409\).*Nothing was done") as caught:
        await crusoe.cloud.act(vm_id, Action.RESET)

    assert not caught.value.in_doubt
    assert patches(crusoe) == 4


async def test_a_limit_is_not_doubt(crusoe: CrusoeLab) -> None:
    """A 429 was refused before anything was done: it is waited for and sent again."""
    vm_id = crusoe.add("gpu-1")
    crusoe.server.fail(Fault(gives=too_many("5"), method="PATCH"))

    await crusoe.cloud.act(vm_id, Action.STOP)

    assert sum(crusoe.clock.slept) >= 5
    assert len(crusoe.server.served) == 4, "no second look"


async def test_a_limit_for_long_is_passed_on(crusoe: CrusoeLab) -> None:
    """The wait is the caller's to decide on; nothing was done."""
    vm_id = crusoe.add("gpu-1")
    crusoe.server.fail(Fault(gives=too_many("900"), method="PATCH"))

    with pytest.raises(RateLimitedError, match=r"in 900 s.*Nothing was done"):
        await crusoe.cloud.act(vm_id, Action.STOP)

    assert patches(crusoe) == 1


@pytest.mark.parametrize(
    ("gives", "error", "words"),
    [
        (INVALID_ACTION, RequestRefusedError, "invalid action"),
        (refused(401), CredentialsError, "Nothing was done"),
    ],
)
async def test_a_refusal_is_final(
    crusoe: CrusoeLab, gives: Reply, error: type[CloudError], words: str
) -> None:
    """What the API refuses outright is said and not tried again."""
    vm_id = crusoe.add("gpu-1")
    crusoe.server.fail(Fault(gives=gives, method="PATCH"))

    with pytest.raises(error, match=words):
        await crusoe.cloud.act(vm_id, Action.STOP)

    assert patches(crusoe) == 1


async def test_each_sending_of_an_action_is_signed_afresh(crusoe: CrusoeLab) -> None:
    """A request that is sent again carries its own time."""
    vm_id = crusoe.add("gpu-1")
    crusoe.server.fail(Fault(gives=refused(409), method="PATCH"))

    await crusoe.cloud.act(vm_id, Action.STOP)

    first, second = crusoe.server.asked("PATCH")
    assert first.request.header("x-crusoe-timestamp") != second.request.header("x-crusoe-timestamp")
    assert first.request.header("authorization") != second.request.header("authorization")


async def test_another_users_operation_is_lost_to_us(crusoe: CrusoeLab) -> None:
    """The API answers 403 for it, which is no failure of the action."""
    vm_id = crusoe.add("gpu-1")
    world = crusoe.server.world
    work = world.begin(world.machines[vm_id], "STOP", user="grace")
    assert work is not None

    assert (await crusoe.cloud.operation(work.id)).state is OperationState.LOST
