"""Prove what a check comes down to, for each fault, with each source missing in turn."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import bot.triage
from bot.clouds.errors import CloudUnavailableError
from bot.diagnosis import of_bytes
from bot.errors import UsageError
from bot.hosts.view import ClusterDns
from bot.incidents.store import open_store
from bot.reports.checks import of_check
from bot.reports.plain import text
from bot.schedulers.errors import PurgedJobError, UnknownClusterError
from bot.schedulers.model import Job, JobState
from bot.triage.case import Asked
from bot.triage.check import check
from bot.triage.contract import CheckV1, json_schema, to_json
from bot.triage.model import Checked, Machine
from playground.fleet.faults import FAULTS, break_
from tests.behaviour.triage.world import JOB, World, all_fail, one_machine_fails, only

pytestmark = pytest.mark.anyio

BY_ID = Asked(job=str(JOB))
SCHEMA = Path(bot.triage.__file__).parent / "schema" / "check-1.json"


def offered(one: Machine) -> list[int | None]:
    """Return the numbers of the rungs that are offered."""
    return [each.number for each in one.offers if each.offered]


def culprit(checked: Checked) -> Machine:
    """Return the first machine."""
    assert checked.machines, checked.headline
    return checked.machines[0]


#: fault → its log, what is found, whether it names no machine, and the rungs that are offered
TABLE = {
    "resolver-failed": (one_machine_fails(), "resolver_failed", False, [1]),
    "resolver-hung": (one_machine_fails(), "resolver_hung", False, [1]),
    "resolver-hung-then-restarted": (
        one_machine_fails(),
        "resolver_hung_then_restarted",
        False,
        [0],
    ),
    "resolv-conf-overwritten": (one_machine_fails(), "resolv_conf_overwritten", False, [0]),
    "search-domain-lost": (one_machine_fails(-3, "node-0"), "search_domain_lost", False, [0]),
    "upstream-dead": (all_fail(-2), "upstream_unreachable", True, [0, 5]),
    "record-missing": (all_fail(-2), "record_missing", True, [0]),
    "port-blocked": (one_machine_fails(), "rendezvous_port_blocked", False, [0]),
    "host-silent": (one_machine_fails(), "host_silent", False, [3]),
    "login-hangs": (one_machine_fails(), "login_hangs", False, []),
}


def test_every_fault_of_the_fleet_is_in_the_table() -> None:
    """A new fault has to be told from the others."""
    assert TABLE.keys() == FAULTS.keys()


@pytest.mark.parametrize("fault", TABLE)
async def test_each_fault_is_told_from_the_others(fault: str) -> None:
    """By job ID alone: the machine, its ranks, its VM, the finding, and what may be done."""
    log, finding, wide, rungs = TABLE[fault]
    world = World(log=log)
    break_(world.network, fault, "node-0" if fault == "record-missing" else "node-2")

    checked = await check(world.services(), BY_ID)

    one = culprit(checked)
    assert [each.finding for each in one.findings][:1] == [finding]
    assert one.findings[0].fleet_wide is wide
    assert offered(one) == rungs
    assert checked.wrong
    if not wide:
        assert (one.host, one.ranks, one.known_from) == ("node-2", (4, 5), "launch")
        assert one.vm is not None
        assert one.vm.id == world.network.named("node-2").product_uuid
        assert "node-2" in checked.headline


async def test_a_vm_in_error_is_for_support() -> None:
    """The cloud's word goes before everything else, and no restart is offered."""
    world = World(states={"node-2": "STATE_ERROR"})
    break_(world.network, "host-silent", "node-2")

    checked = await check(world.services(), BY_ID)

    assert offered(culprit(checked)) == [5]
    assert "STATE_ERROR" in checked.headline
    assert "no restart" in checked.headline


async def test_what_healed_by_itself_is_said() -> None:
    """The log tells of then, the machine of now."""
    checked = await check(World().services(), BY_ID)

    assert [one.finding for one in culprit(checked).findings] == ["healthy_now"]
    assert "Now, on node-2: All" in checked.headline
    assert offered(culprit(checked)) == [0]
    assert checked.wrong


async def test_a_harmless_log_accuses_nobody() -> None:
    """Progress after the warnings: nothing is wrong, and nobody is disturbed."""
    log = one_machine_fails() + "".join(
        f"{rank}: step 10 | loss 2.1\n{rank}: step 20 | loss 2.0\n" for rank in range(8)
    )
    checked = await check(World(log=log, state=JobState.RUNNING).services(), BY_ID)

    assert not checked.wrong
    assert all(offered(one) == [0] for one in checked.machines)


@pytest.mark.parametrize(
    ("world", "words"),
    [
        (World(without_vm=("node-2",)), "No VM has the name node-2"),
        (World(twice=("node-2",)), "2 VMs have the name node-2"),
    ],
)
async def test_a_host_that_is_not_one_vm_is_not_touched(world: World, words: str) -> None:
    """None, or two of that name: a person reads why, and nothing was asked or is offered."""
    break_(world.network, "resolver-failed", "node-2")

    one = culprit(await check(world.services(), BY_ID))

    assert words in one.vm_problem
    assert one.probed is None
    assert 1 not in offered(one)


async def test_another_machine_at_the_address_is_not_believed() -> None:
    """The identity is proven before anything else."""
    world = World()
    break_(world.network, "resolver-failed", "node-2")
    services = world.services()
    world.network.named("node-2").product_uuid = "somebody-else"

    one = culprit(await check(services, BY_ID))

    assert [each.finding for each in one.findings] == ["no_access"]
    assert offered(one) == [0]


async def test_a_paste_disturbs_nobody() -> None:
    """Without a job that a scheduler confirms, only the cloud is asked."""
    world = World()
    break_(world.network, "resolver-failed", "node-2")
    paste = "".join(f"node-2: {line}\n" for line in one_machine_fails().splitlines()[3:4])

    checked = await check(world.services(), Asked(logs=[of_bytes(paste.encode())]))

    one = culprit(checked)
    assert (one.host, one.probed) == ("node-2", None)
    assert one.vm is not None
    assert "Only the log names it" in one.untold
    assert 1 not in offered(one)


async def test_a_person_may_name_the_machine() -> None:
    """--vm looks at it whatever the log says."""
    world = World()
    break_(world.network, "resolver-failed", "node-3")

    checked = await check(world.services(), Asked(job=str(JOB), named=("node-3.fleet.internal",)))

    assert [one.host for one in checked.machines] == ["node-3"]
    assert [one.finding for one in culprit(checked).findings] == ["resolver_failed"]
    assert culprit(checked).known_from == "asked"


async def test_a_healthy_machine_that_is_named_does_not_clear_the_accused() -> None:
    """The sentence keeps the machine of the log and the one that a person named apart."""
    checked = await check(World().services(), Asked(job=str(JOB), named=("node-3.fleet.internal",)))

    assert "Now, on node-3" in checked.headline
    assert checked.headline.endswith("The log does not accuse it.")
    assert "run the job again" not in checked.headline


async def test_machines_out_of_reach_of_the_settings_are_not_offered() -> None:
    """Only nodes that settings name may be touched; looking is free."""
    world = World(touchable=("node-0", "node-1"))
    break_(world.network, "resolver-failed", "node-2")

    one = culprit(await check(world.services(), BY_ID))

    assert [each.finding for each in one.findings] == ["resolver_failed"]
    assert offered(one) == []
    assert "may be touched" in " ".join(one.offers[1].why)


async def test_without_ssh_the_rest_is_said() -> None:
    """A level is a level: cause, rank, VM and state, and what is missing."""
    checked = await check(World().services(hosts=False), BY_ID)

    one = culprit(checked)
    assert (one.host, one.ranks) == ("node-2", (4, 5))
    assert one.vm is not None
    assert "No SSH account" in one.untold
    assert checked.diagnosis is not None
    assert checked.headline == checked.diagnosis.summary


async def test_without_a_cloud_the_scheduler_gives_the_address() -> None:
    """Identity is then the host's name, beside the pinned key."""
    world = World()
    break_(world.network, "resolver-failed", "node-2")

    one = culprit(await check(world.services(cloud=False), BY_ID))

    assert one.vm is None
    assert [each.finding for each in one.findings] == ["resolver_failed"]
    assert offered(one) == [1]


async def test_a_cloud_that_is_down_is_a_note(monkeypatch: pytest.MonkeyPatch) -> None:
    """One source that fails does not take the others with it."""
    services = World().services()

    async def down(**_: object) -> None:
        raise CloudUnavailableError("The API does not answer.")

    assert services.clusters["hall"].cloud is not None
    monkeypatch.setattr(services.clusters["hall"].cloud, "list", down)
    checked = await check(services, BY_ID)

    assert "The API does not answer." in " ".join(checked.notes)
    assert culprit(checked).host == "node-2"


async def test_the_clusters_own_dns_is_asked_about(monkeypatch: pytest.MonkeyPatch) -> None:
    """No machine can tell that the DNS of its pods has no endpoint."""
    world = World()
    services = world.services()
    scheduler = services.clusters["hall"].scheduler

    async def down(_job: Job) -> ClusterDns:
        return ClusterDns(without_endpoints=True)

    monkeypatch.setattr(scheduler, "cluster_dns", down)
    one = culprit(await check(services, BY_ID))

    assert one.findings[0].finding == "cluster_dns_down"
    assert one.findings[0].fleet_wide
    assert 1 not in offered(one)


async def test_an_interactive_job_is_asked_to_be_pasted() -> None:
    """No file is not "no failure": a sample of its machines is looked at all the same."""
    checked = await check(World(stdout="").services(), BY_ID)

    assert checked.wrong
    assert "paste it" in checked.headline
    assert "interactive" in " ".join(checked.notes)
    assert len(checked.machines) == 2


async def test_a_job_that_its_scheduler_forgot_is_remembered(tmp_path: Path) -> None:
    """What was seen once answers after the purge; a job never seen stays the scheduler's error."""
    world = World()
    scheduler = world.scheduler()
    async with open_store(f"sqlite:///{tmp_path / 'bot.db'}") as store:
        services = world.services(store=store, scheduler=scheduler)
        await check(services, BY_ID)
        scheduler.forgotten.add(JOB)
        checked = await check(services, BY_ID)
        assert checked.job is not None
        assert (checked.job.known_from, checked.job.nodes) == ("store", world.names)
        assert culprit(checked).host == "node-2"
        assert "was purged" in checked.notes[0]
    with pytest.raises(PurgedJobError):
        await check(world.services(scheduler=scheduler), BY_ID)


async def test_names_of_a_log_that_are_no_names_are_not_asked_for() -> None:
    """They reach no command line, and the reader is told."""
    world = World(log=one_machine_fails(-3, "$(reboot)") + one_machine_fails(-3, "node-0"))

    checked = await check(world.services(), BY_ID)

    assert all(
        "$" not in name for one in checked.machines if one.probed for name in one.probed.names
    )


async def test_nothing_asked_is_bad_usage() -> None:
    """An empty call does not start to guess."""
    with pytest.raises(UsageError, match="Give a job ID"):
        await check(World().services(), Asked())
    with pytest.raises(UnknownClusterError):
        await check(World().services(), Asked(job="elsewhere:1"))


async def test_the_contract_is_published_and_kept() -> None:
    """A change of the shape is a change of a file that reviewers see."""
    checked = await check(World().services(), BY_ID)

    assert CheckV1.model_validate_json(to_json(checked)).root == checked
    assert json.loads(SCHEMA.read_text()) == json_schema()


async def test_the_report_names_what_matters() -> None:
    """Rank, VM, state, cause, what may be done, and what is missing."""
    world = World()
    break_(world.network, "resolver-failed", "node-2")

    said = text(of_check(await check(world.services(), BY_ID)))

    for wanted in ("node-2", "4-5", "RUNNING", "resolver failed", "Restart systemd-resolved"):
        assert wanted in said
    assert only([line for line in said.splitlines() if line.startswith("compared with")])


UNNAMED = (
    "[W1130 03:14:07.577794 socket.cpp:759] [c10d] The IPv6 network addresses of "
    "(node-0.fleet.internal, 29500) cannot be retrieved (gai error: -3 - Temporary failure in name "
    "resolution).\n"
) * 4


@pytest.mark.parametrize("state", [JobState.RUNNING, JobState.FAILED])
async def test_a_log_without_names_has_its_machine_found_by_asking_each(state: JobState) -> None:
    """Plain `srun` labels no line: the machine that cannot look names up is the one."""
    world = World(log=UNNAMED, state=state)
    break_(world.network, "resolver-failed", "node-2")

    checked = await check(world.services(), BY_ID)

    one = culprit(checked)
    assert (one.host, one.ranks, one.known_from) == ("node-2", (4, 5), "launch")
    assert one.findings[0].finding == "resolver_failed"
    assert offered(one) == [1]
    assert len(checked.machines) == 1


async def test_a_log_without_names_accuses_nobody_who_is_well() -> None:
    """Where every machine finds its names now, that is said, and nothing is offered."""
    checked = await check(World(log=UNNAMED).services(), BY_ID)

    assert checked.machines == ()
    assert any("4 find every name and 0 do not" in note for note in checked.notes)


async def test_a_large_job_is_left_to_a_pre_flight(monkeypatch: pytest.MonkeyPatch) -> None:
    """A look asks a bounded number of machines by the way."""
    monkeypatch.setattr("bot.triage.narrowing.MOST_ASKED", 3)
    world = World(log=UNNAMED)
    break_(world.network, "resolver-failed", "node-2")

    checked = await check(world.services(), BY_ID)

    assert checked.machines == ()
    assert any("a pre-flight of the job finds" in note for note in checked.notes)
