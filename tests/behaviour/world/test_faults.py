"""Prove that each fault changes what cloud, scheduler, logs and probes say, together."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from bot.clouds.model import VmState
from bot.diagnosis import Launch, diagnose
from bot.diagnosis.kinds import Cause
from bot.hosts.model import Finding
from bot.schedulers import ids
from bot.schedulers.excerpts import renumbered, sources
from bot.schedulers.ids import Cluster
from bot.schedulers.model import Job, JobState, Kind, NodeFlag
from bot.schedulers.placing import placement
from playground.fleet.cases import CASES, UnknownFaultError
from playground.fleet.world import running
from tests.behaviour.world.client import Client, client_of

pytestmark = pytest.mark.anyio

VMS, RANKS = 12, 4


@dataclass(frozen=True, kw_only=True)
class Told:
    """What everybody says of one fault."""

    cause: Cause
    finding: Finding
    #: the log names the machine as affected; a fault of all names none
    named: bool = True
    #: the finding is everybody's
    wide: bool = False
    state: JobState = JobState.FAILED
    vm: VmState = VmState.RUNNING
    down: bool = False
    #: the machine that is looked at
    hit: str = "node-8"


_STUCK = JobState.TIMEOUT
TOLD = {
    "resolver-failed": Told(cause=Cause.RESOLVER_FAILED, finding=Finding.RESOLVER_FAILED),
    "resolver-hung": Told(
        cause=Cause.RENDEZVOUS_TIMEOUT, finding=Finding.RESOLVER_HUNG, state=_STUCK
    ),
    "resolver-hung-then-restarted": Told(
        cause=Cause.RENDEZVOUS_TIMEOUT, finding=Finding.RESOLVER_HUNG_THEN_RESTARTED, state=_STUCK
    ),
    "upstream-dead": Told(
        cause=Cause.NAME_NOT_FOUND, finding=Finding.UPSTREAM_UNREACHABLE, named=False, wide=True
    ),
    "resolv-conf-overwritten": Told(
        cause=Cause.RESOLVER_FAILED, finding=Finding.RESOLV_CONF_OVERWRITTEN
    ),
    "search-domain-lost": Told(cause=Cause.RESOLVER_FAILED, finding=Finding.SEARCH_DOMAIN_LOST),
    "record-missing": Told(
        cause=Cause.NAME_NOT_FOUND, finding=Finding.RECORD_MISSING, named=False, wide=True
    ),
    "port-blocked": Told(cause=Cause.PEER_UNREACHABLE, finding=Finding.RENDEZVOUS_PORT_BLOCKED),
    "host-silent": Told(cause=Cause.RENDEZVOUS_TIMEOUT, finding=Finding.HOST_SILENT, down=True),
    "login-hangs": Told(cause=Cause.RENDEZVOUS_TIMEOUT, finding=Finding.LOGIN_HANGS, down=True),
    "vm-error": Told(
        cause=Cause.RENDEZVOUS_TIMEOUT, finding=Finding.HOST_SILENT, down=True, vm=VmState.ERROR
    ),
}


def test_every_fault_has_its_row() -> None:
    """A fault that is added without a row here would go untested."""
    assert set(TOLD) == set(CASES)


async def _job(client: Client) -> Job:
    known = [Cluster(name="demo", kind=Kind.SLURM)]
    return await client.slurm.job(ids.parse("48213", known))


def _lines(path: str) -> list[bytes]:
    return Path(path).read_bytes().splitlines(keepends=True)


@pytest.mark.parametrize("fault", sorted(TOLD))
async def test_everybody_says_the_same_of_a_fault(tmp_path: Path, fault: str) -> None:
    """Cloud, scheduler, the job's log where it lies, and probes of the machine and of a peer."""
    told = TOLD[fault]
    async with (
        running(state_dir=tmp_path, vms=VMS, ranks=RANKS, fault=fault) as fleet,
        client_of(fleet) as client,
    ):
        vm = await client.vm(told.hit)
        peer_vm = await client.vm("node-3")
        job = await _job(client)
        node, peer = await client.slurm.named_nodes((told.hit, "node-3"))
        logs = await client.slurm.logs(job)
        judged = await client.judge(told.hit, "node-3")

    launch = Launch(hosts=job.nodes, ranks_per_node=job.ntasks_per_node)
    verdict = renumbered(diagnose(sources(logs), launch=launch), logs)
    hosts = [(one.host, one.ranks) for one in verdict.affected]
    assert (vm.state, peer_vm.state) == (told.vm, VmState.RUNNING)
    assert vm.private_ips == (node.address,)
    assert (job.state, len(job.nodes), job.ntasks) == (told.state, VMS, VMS * RANKS)
    assert (NodeFlag.NOT_RESPONDING in node.flags) is told.down
    assert node.reason == ("Not responding" if told.down else "")
    assert (peer.flags, peer.reason) == (frozenset(), "")
    assert verdict.cause is told.cause
    assert hosts == ([(told.hit, (32, 33, 34, 35))] if told.named else [])
    assert [file.path for file in logs.read] == [file.path for file in logs.files]
    assert [(one.finding, one.fleet_wide) for one in judged.found] == [(told.finding, told.wide)]


async def test_a_job_of_256_ranks_from_its_number_to_the_machine(tmp_path: Path) -> None:
    """Rank 64 of 256 is on node-8, its VM runs, its resolver has failed; all others are well."""
    async with running(state_dir=tmp_path) as fleet, client_of(fleet) as client:
        job = await _job(client)
        logs = await client.slurm.logs(job)
        vm = await client.vm("node-8")
        judged = await client.judge("node-8", "node-9")
        well = await client.judge("node-9", "node-8")
        idle = [node.name for node in await client.slurm.idle_nodes()]

    ranks = {rank.rank: rank.host for rank in placement(job).ranks}
    launch = Launch(hosts=job.nodes, ranks_per_node=job.ntasks_per_node)
    verdict = renumbered(diagnose(sources(logs), launch=launch), logs)
    assert (len(ranks), ranks[0], ranks[64], ranks[255]) == (256, "node-0", "node-8", "node-31")
    assert [(one.host, one.ranks) for one in verdict.affected] == [("node-8", tuple(range(64, 72)))]
    stderr = next(file for file in logs.files if file.path.endswith(".err"))
    whole = _lines(stderr.path)
    assert stderr.line_count == len(whole)
    assert [whole[number - 1] for number in stderr.numbers] == stderr.text.splitlines(keepends=True)
    quotes = [one for one in verdict.evidence if one.file == stderr.path]
    assert quotes
    assert all(one.text.encode() in whole[one.line - 1] for one in quotes)
    assert vm.state is VmState.RUNNING
    assert judged.names == {Finding.RESOLVER_FAILED}
    assert well.names == {Finding.HEALTHY_NOW}
    assert idle == [f"node-{number}" for number in range(28)]


async def test_the_other_jobs_run_and_wait(tmp_path: Path) -> None:
    """One job runs on machines that are well, with progress in its log; one has not started."""
    async with running(state_dir=tmp_path, vms=VMS, ranks=RANKS) as fleet, client_of(fleet) as one:
        healthy = await one.slurm.job(ids.parse("48214"))
        waiting = await one.slurm.job(ids.parse("48215"))
        logs = await one.slurm.logs(healthy)
        nodes = await one.slurm.nodes(healthy)
        failed = await one.slurm.failures(healthy.submitted_at or pytest.fail("no time"))

    assert (healthy.state, healthy.nodes) == (
        JobState.RUNNING, ("node-7", "node-9", "node-10", "node-11"),
    )  # fmt: skip
    assert healthy.steps[1].ntasks == 4 * RANKS
    assert {node.state for node in nodes} == {"ALLOCATED"}
    assert diagnose(sources(logs)).cause is Cause.NO_STARTUP_FAILURE
    assert any(b"step 9 loss" in file.text for file in logs.files)
    assert waiting.waits_because == (
        "Job 48215 has not started (Resources): it has no nodes and no log yet."
    )
    assert [job.id for job in failed] == ["48213"]


async def test_a_fault_takes_the_place_of_another(tmp_path: Path) -> None:
    """Nothing of the fault before is left, and after healing the machines are well again."""
    async with (
        running(state_dir=tmp_path, vms=VMS, ranks=RANKS, fault="vm-error") as fleet,
        client_of(fleet) as client,
    ):
        fleet.break_("resolver-hung", "node-5")
        vms = {(await client.vm(name)).state for name in ("node-5", "node-8")}
        broken = [await client.judge(name, "node-3") for name in ("node-5", "node-8")]
        fleet.heal()
        healed = await client.judge("node-5", "node-3")
        job = await _job(client)

    assert vms == {VmState.RUNNING}
    assert [one.names for one in broken] == [{Finding.RESOLVER_HUNG}, {Finding.HEALTHY_NOW}]
    assert healed.names == {Finding.HEALTHY_NOW}
    assert job.state is JobState.TIMEOUT


async def test_a_fault_that_hits_nobody_breaks_no_job(tmp_path: Path) -> None:
    """The record of a machine that nobody looks up can be missing: the job runs well."""
    async with (
        running(state_dir=tmp_path, vms=VMS, ranks=RANKS, fault="record-missing", on="node-4") as f,
        client_of(f) as client,
    ):
        job = await _job(client)
        waiting = await client.slurm.job(ids.parse("48214"))
        logs = await client.slurm.logs(job)

    assert (job.state, waiting.reason) == (JobState.RUNNING, "Resources")
    assert diagnose(sources(logs)).cause is Cause.NO_STARTUP_FAILURE


async def test_names_that_there_are_not_are_told(tmp_path: Path) -> None:
    """An unknown fault or machine starts and changes nothing, and the sentence lists the names."""
    with pytest.raises(UnknownFaultError, match="no fault 'gremlins'; there are resolver-failed,"):
        async with running(state_dir=tmp_path / "a", fault="gremlins"):
            pytest.fail("it started")
    assert not (tmp_path / "a").exists()
    async with running(state_dir=tmp_path / "b", vms=2) as fleet:
        with pytest.raises(
            UnknownFaultError, match="no machine 'node-9'; there are node-0, node-1"
        ):
            fleet.break_("vm-error", "node-9")
        assert fleet.fault == "resolver-failed"


async def test_a_young_job_still_waits(tmp_path: Path) -> None:
    """Before the store gives up the job runs: its log has failing look-ups and no end."""
    young = timedelta(minutes=5)
    async with (
        running(state_dir=tmp_path, vms=VMS, ranks=RANKS, age=young) as fleet,
        client_of(fleet) as client,
    ):
        job = await _job(client)
        logs = await client.slurm.logs(job)
        judged = await client.judge("node-8", "node-3")

    text = b"".join(file.text for file in logs.files)
    assert (job.state, job.ended_at) == (JobState.RUNNING, None)
    assert b"cannot be retrieved (gai error: -3" in text
    assert b"Traceback" not in text
    assert judged.names == {Finding.RESOLVER_FAILED}


async def test_a_job_that_waits_goes_on_by_itself_once_names_resolve(tmp_path: Path) -> None:
    """Restarting the resolver is all that the same run needs; what it logged before stays."""
    young = timedelta(minutes=5)
    async with (
        running(state_dir=tmp_path, vms=VMS, ranks=RANKS, age=young) as fleet,
        client_of(fleet) as client,
    ):
        now = datetime.now(UTC)
        before = await _job(client)
        fleet.network.named("node-8").restart_resolver()
        fleet.advance(now + timedelta(seconds=30))
        fleet.network.named("node-8").resolver.active = "failed"
        fleet.advance(now + timedelta(seconds=90))
        after = await _job(client)
        logs = await client.slurm.logs(after)

    text = b"".join(file.text for file in logs.files)
    assert (before.state, after.state, after.restarts) == (JobState.RUNNING, JobState.RUNNING, 0)
    assert b"cannot be retrieved (gai error: -3" in text
    assert b"step 29 loss" in text
    assert diagnose(sources(logs)).cause is Cause.HARMLESS_WARNING


async def test_a_job_that_waits_gives_up_in_the_end(tmp_path: Path) -> None:
    """Half an hour after its start the store gives up, and the machines are free again."""
    young = timedelta(minutes=5)
    async with (
        running(state_dir=tmp_path, vms=VMS, ranks=RANKS, age=young) as fleet,
        client_of(fleet) as client,
    ):
        busy = await client.slurm.idle_nodes()
        fleet.advance(datetime.now(UTC) + timedelta(minutes=27))
        job = await _job(client)
        logs = await client.slurm.logs(job)
        idle = await client.slurm.idle_nodes()

    assert (job.state, len(busy), len(idle)) == (JobState.FAILED, 0, VMS)
    assert b"44/48 clients joined" in b"".join(file.text for file in logs.files)
