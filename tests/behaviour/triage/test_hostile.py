"""Prove that no wrong advice is given where the world is hostile or merely unlucky."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bot.clouds.errors import CloudUnavailableError
from bot.commands.check import sorted_out
from bot.diagnosis import of_bytes
from bot.hosts.model import Rung
from bot.reports.checks import of_check
from bot.reports.plain import text
from bot.schedulers.memory import MemoryScheduler
from bot.triage.case import Asked
from bot.triage.check import check
from bot.triage.model import Machine
from playground.fleet.faults import break_
from tests.behaviour.triage.world import JOB, World, lookup, one_machine_fails

pytestmark = pytest.mark.anyio

BY_ID = Asked(job=str(JOB))
EVIL = "x\x1b[31m\x1b]0;t\x07\u202eabc\x9b31m"


def offered(one: Machine) -> set[str]:
    """Return the rungs that are offered."""
    return {each.rung for each in one.offers if each.offered}


def told(world: World, **changes: object) -> MemoryScheduler:
    """Return the world's scheduler with its job changed."""
    scheduler = world.scheduler()
    scheduler.jobs = {
        name: replace(job, **changes)  # type: ignore[arg-type]
        for name, job in scheduler.jobs.items()
    }
    return scheduler


async def test_a_log_cannot_lead_to_a_machine_of_another_job() -> None:
    """It is neither asked nor offered a step, whatever state it is in."""
    log = "".join(f"node-3: {lookup(rank, -3, 'node-0')}" for rank in (4, 5))
    world = World(log=log)
    break_(world.network, "host-silent", "node-3")
    three = world.names[:3]
    services = world.services(scheduler=told(world, nodes=three, ntasks=6, steps=()))

    for asked in (BY_ID, Asked(job=str(JOB), logs=[of_bytes(log.encode())])):
        one = (await check(services, asked)).machines[0]
        assert (one.host, one.probed, offered(one)) == ("node-3", None, set())
        assert "none of the nodes of job" in one.untold


async def test_a_paste_alone_starts_nothing() -> None:
    """A start is a step, too."""
    world = World(states={"node-2": "STATE_SHUTOFF"})
    paste = "".join(f"node-2: {line}\n" for line in one_machine_fails().splitlines()[3:4])

    one = (await check(world.services(), Asked(logs=[of_bytes(paste.encode())]))).machines[0]

    assert Rung.START not in offered(one)


async def test_a_failed_job_is_never_well() -> None:
    """Ranks of a hung resolver print nothing: a sample is looked at, and its findings count."""
    world = World(log="hello\n")
    break_(world.network, "resolver-hung", "node-2")

    checked = await check(world.services(), BY_ID)

    assert checked.wrong
    assert "resolver hung" in checked.headline
    assert offered(checked.machines[0]) == {Rung.RESTART_RESOLVER}
    assert (await check(World(log="").services(), BY_ID)).wrong


@pytest.mark.parametrize("spelled", ["node-2.fleet.internal", "Node-2"])
async def test_protection_holds_however_it_is_spelled(spelled: str) -> None:
    """Settings may use full names where the scheduler uses short ones."""
    world = World()
    break_(world.network, "resolver-failed", "node-2")
    services = replace(world.services(), protected=frozenset({spelled}))

    assert offered((await check(services, BY_ID)).machines[0]) == set()


async def test_a_state_that_the_cloud_did_not_tell_may_be_error(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A cloud that does not answer is not a cloud that is not there."""
    world = World()
    break_(world.network, "resolver-failed", "node-2")
    services = world.services()

    async def down(**_: object) -> None:
        raise CloudUnavailableError("The API does not answer.")

    monkeypatch.setattr(services.clusters["hall"].cloud, "list", down)

    assert offered((await check(services, BY_ID)).machines[0]) == set()


async def test_a_node_that_the_next_job_has_is_not_reset() -> None:
    """The failed job is over, and somebody else may run there by now."""
    world = World()
    break_(world.network, "host-silent", "node-2")
    scheduler = world.scheduler()
    node = scheduler.nodes_by_name["node-2"]
    scheduler.nodes_by_name["node-2"] = replace(node, state="ALLOCATED", raw_state="ALLOCATED")

    checked = await check(world.services(scheduler=scheduler), BY_ID)

    assert offered(checked.machines[0]) == set()


async def test_what_does_not_exist_or_run_is_said_first() -> None:
    """A misspelled machine is not well, and a stopped VM is not silent by itself."""
    assert (await check(World().services(), Asked(named=("nosuch",)))).wrong
    world = World(states={"node-2": "STATE_SHUTOFF"})
    break_(world.network, "host-silent", "node-2")
    assert "STATE_SHUTOFF" in (await check(world.services(), BY_ID)).headline.split(":")[-1]


async def test_a_key_of_ours_does_not_hide_the_diagnosis() -> None:
    """That we are not let in says nothing of why the job failed."""
    world = World()
    services = world.services()
    world.network.named("node-2").product_uuid = "somebody-else"

    checked = await check(services, BY_ID)

    assert checked.diagnosis is not None
    assert checked.headline.startswith(checked.diagnosis.summary)


async def test_nothing_foreign_acts_on_a_terminal() -> None:
    """Names, users and states are spelled out where they hold controls or reorder text."""
    world = World(states={"node-2": f"STATE_{EVIL}"})
    services = world.services(scheduler=told(world, name=EVIL, user=EVIL))

    said = text(of_check(await check(services, BY_ID)))

    assert not set(said) & set("\x1b\x07\u202e\x9b")


def test_a_word_too_long_for_a_file_is_no_file() -> None:
    """It is taken for a job ID, which is then refused in a sentence."""
    assert sorted_out(["a" * 400]) == ("a" * 400, [])
