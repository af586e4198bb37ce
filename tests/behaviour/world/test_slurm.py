"""Prove that the simulated Slurm answers in every version, changes one model, and is strict."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import httpx
import pytest

from bot.schedulers.errors import (
    AccessError,
    NodeHeldError,
    PurgedJobError,
    RequestRefusedError,
    SchedulerUnavailableError,
    UnknownJobError,
    UnknownNodeError,
)
from bot.schedulers.ids import parse
from bot.schedulers.model import Job, JobState, KnownFrom, Limits, Stream
from bot.schedulers.slurm import far
from bot.schedulers.slurm.adapter import SlurmScheduler
from bot.schedulers.slurm.far import Wanted
from bot.schedulers.slurm.patterns import Glob
from bot.schedulers.slurm.rest import RestWay
from playground.fleet.simulated import SimulatedFleet
from playground.fleet.world import running
from playground.slurm import tokens
from playground.slurm.model import RELEASES
from tests.behaviour.world.client import Client, client_of

pytestmark = pytest.mark.anyio

VERSIONS = range(38, 44)


@pytest.fixture
async def fleet(tmp_path: Path, anyio_backend: str) -> AsyncIterator[SimulatedFleet]:
    """Return a small fleet of Slurm 23.11."""
    del anyio_backend
    async with running(state_dir=tmp_path, vms=6, ranks=2) as started:
        yield started


@pytest.fixture
async def client(fleet: SimulatedFleet) -> AsyncIterator[Client]:
    """Return the product's adapters."""
    async with client_of(fleet) as opened:
        yield opened


def _told(job: Job) -> Job:
    """Leave out of a job what not every way tells."""
    return replace(job, stdout="", stderr="", notes=(), raw_state="", steps=())


@pytest.mark.parametrize("version", VERSIONS)
async def test_every_version_and_way_tells_the_same_job(tmp_path: Path, version: int) -> None:
    """By slurmrestd, by the commands' JSON or text, and by accounting in both: one job."""
    async with (
        running(state_dir=tmp_path, vms=6, ranks=2, version=version) as fleet,
        client_of(fleet) as client,
    ):
        assert await client.rest.newest_version() == 43
        assert await client.login.version() == RELEASES[version][:2]
        (by_rest,) = await client.rest.live(48213)
        (by_login,) = await client.login.live(48213)
        (rest_past,) = (await client.rest.history(48213)).jobs
        (login_past,) = (await client.login.history(48213)).jobs
        script = await client.login.script(by_login)
        rest_nodes = await client.rest.all_nodes()
        login_nodes = await client.login.all_nodes()

    assert _told(by_rest) == _told(by_login)
    assert (by_rest.state, by_rest.exit_code, by_rest.ntasks) == (JobState.FAILED, 1, 12)
    assert [step.distribution for step in rest_past.steps] == [None, "Block"]
    assert rest_past.steps == login_past.steps
    assert {rest_past.known_from, login_past.known_from} == {KnownFrom.ACCOUNTING}
    assert (rest_past.nodes, rest_past.ended_at) == (by_rest.nodes, by_rest.ended_at)
    assert "srun --label --distribution=block" in script
    assert [replace(node, raw_state="") for node in rest_nodes] == [
        replace(node, raw_state="") for node in login_nodes
    ]


async def test_changes_by_one_way_are_seen_by_the_other(client: Client) -> None:
    """Drain, hold, cancel and requeue change one model; somebody else's drain is refused."""
    by_rest = SlurmScheduler("demo", [client.rest])
    by_login = SlurmScheduler("demo", [client.login])

    drained = await by_rest.drain("node-2", "resolver failed")
    seen = await by_login.node("node-2")
    await by_login.resume("node-2", drained.reason)
    await by_rest.hold(parse("48215"))
    await by_rest.cancel(parse("48214"))
    await client.slurm.requeue(parse("48213"))

    assert (seen.drained, seen.reason, seen.reason_by) == (True, drained.reason, "bot")
    assert not (await by_rest.node("node-2")).drained
    assert (await by_login.job(parse("48215"))).reason == "JobHeldAdmin"
    assert (await by_login.job(parse("48214"))).state is JobState.CANCELLED
    again = await by_rest.job(parse("48213"))
    assert (again.state, again.restarts, again.nodes) == (JobState.PENDING, 1, ())


async def test_refusals_are_those_of_slurm(fleet: SimulatedFleet, client: Client) -> None:
    """Unknown jobs and nodes, a job that is over, somebody's drain, and missing rights."""
    fleet.cluster.drain("node-1", "RMA 4711", by="root")
    for way in (client.rest, client.login):
        scheduler = SlurmScheduler("demo", [way])
        with pytest.raises(UnknownJobError):
            await scheduler.job(parse("99999"))
        with pytest.raises(UnknownNodeError):
            await scheduler.node("node-99")
        with pytest.raises(RequestRefusedError, match="was not held"):
            await scheduler.hold(parse("48213"))
        with pytest.raises(RequestRefusedError, match="was not cancelled"):
            await scheduler.cancel(parse("99999"))
        with pytest.raises(NodeHeldError, match="RMA 4711"):
            await scheduler.drain("node-1", "x")
    fleet.cluster.operators.clear()
    for way in (client.rest, client.login):
        with pytest.raises(AccessError):
            await SlurmScheduler("demo", [way]).drain("node-2", "x")
    assert not fleet.cluster.nodes["node-2"].drained


async def test_a_cluster_without_accounting_forgets(tmp_path: Path) -> None:
    """Slurmrestd has no path for it then, sacct says so, and old numbers are purged."""
    async with (
        running(state_dir=tmp_path, vms=3, ranks=1, accounting=False) as fleet,
        client_of(fleet) as client,
    ):
        assert (await client.rest.history(48213)).accounting is False
        with pytest.raises(PurgedJobError, match=r"was purged.*accounting is disabled.*300 s"):
            await client.slurm.job(parse("40000"))
        with pytest.raises(UnknownJobError, match="has not given out"):
            await client.slurm.job(parse("99999"))
        failed = await client.slurm.failures(datetime.now(UTC) - timedelta(hours=1))

    assert [job.id for job in failed] == ["48213"]


async def test_only_good_tokens_are_taken(fleet: SimulatedFleet) -> None:
    """Forged, expired, somebody else's and none at all: no answer about any job."""
    now = datetime.now(UTC)
    hour = timedelta(hours=1)
    good, key = fleet.rest.token("bot"), fleet.rest.key
    bad = [
        tokens.make(b"another key", "bot", now, hour),
        tokens.make(key, "bot", now - 2 * hour, hour),
        tokens.make(key, "ada", now, hour),
        good.replace(good.split(".")[0], "eyJhbGciOiJub25lIn0"),
        "no.token",
    ]
    for version in (38, 40):
        for token in ["", *bad]:
            with pytest.raises(AccessError):
                await _jobs(fleet, token, version)
        assert len(await _jobs(fleet, good, version)) == 1
        assert len(await _jobs(fleet, tokens.make(key, "slurm", now, hour), version)) == 1


async def _jobs(fleet: SimulatedFleet, token: str, version: int) -> tuple[Job, ...]:
    way = RestWay(
        cluster="demo", base_url=fleet.rest.url, user="bot", token=lambda: token, version=version
    )
    try:
        return await way.live(48213)
    finally:
        await way.aclose()


@pytest.mark.parametrize(
    ("method", "path", "body", "status"),
    [
        ("GET", "/slurm/v0.0.40/ping/", None, 200),
        ("GET", "/slurm/v0.0.40/diag", None, 200),
        ("GET", "/slurm/v0.0.43/partitions/", None, 200),
        ("GET", "/slurm/v0.0.38/partition/gpu", None, 200),
        ("GET", "/slurm/v0.0.40/partition/cpu", None, 500),
        ("GET", "/slurm/v0.0.37/ping/", None, 404),
        ("GET", "/slurm/v0.0.40/reservations", None, 404),
        ("GET", "/slurm/v0.0.40/job/abc", None, 400),
        ("GET", "/slurm/v0.0.40/jobs/?update_time=1", None, 400),
        ("PUT", "/slurm/v0.0.40/node/node-1", {}, 405),
        ("POST", "/slurm/v0.0.38/node/node-1", {"state": ["DRAIN"], "reason": "x"}, 405),
        ("POST", "/slurm/v0.0.40/node/node-1", {"state": ["DRAIN"], "why": "x"}, 400),
        ("POST", "/slurm/v0.0.40/node/node-1", {"state": ["DRAIN"]}, 500),
        ("POST", "/slurm/v0.0.40/node/node-1", {"state": "BROKEN"}, 500),
        ("POST", "/slurm/v0.0.40/job/48215", {"hold": "yes"}, 400),
        ("POST", "/slurm/v0.0.40/job/48215", {"hold": True}, 200),
    ],
)
async def test_requests_are_taken_as_strictly_as_by_the_real_one(
    fleet: SimulatedFleet, method: str, path: str, body: object, status: int
) -> None:
    """Paths, methods, members and queries that it does not have are refused, in its own way."""
    headers = {"X-SLURM-USER-NAME": "bot", "X-SLURM-USER-TOKEN": fleet.rest.token("bot")}
    async with httpx.AsyncClient(base_url=fleet.rest.url, trust_env=False) as http:
        told = await http.request(method, path, headers=headers, json=body)
        nobody = await http.request(method, path, json=body)

    assert (told.status_code, nobody.status_code) == (status, 401)
    plain = status in {404, 405}
    assert told.headers["content-type"] == ("text/plain" if plain else "application/json")
    if not plain:
        assert bool(json.loads(told.content)["errors"]) is (status != 200)
    assert not fleet.cluster.nodes["node-1"].drained


async def test_the_login_node_runs_nothing_but_what_the_product_sends(
    fleet: SimulatedFleet, client: Client
) -> None:
    """Not a shell, not a changed search, not a file outside: nothing of this is run."""
    runner, disk = client.login.runner, fleet.desk.disk
    inside, outside = f"{disk}/home/*", "/etc/passwd"
    mark = fleet.state_dir / "was-run"
    changed = list(_search(inside))
    changed[changed.index(far.PROGRAM)] = f"touch {mark}; {far.PROGRAM}"
    for argv in (
        ("touch", str(mark)),
        ("sh", "-c", f"touch {mark}"),
        ("scontrol", "--version"),
        (*_ENVIRONMENT, "scontrol", "reboot", "node-1"),
        (*_ENVIRONMENT, "scontrol", "-o", "show", "job", "48213", "48214"),
        (*_ENVIRONMENT, "sacct", "-P", "-j", "48213"),
        changed,
        _search(outside),
        _search(f"{disk}/../../../etc/passwd"),
        (*_search(inside), "--"),
    ):
        with pytest.raises(SchedulerUnavailableError, match="command not found here"):
            await runner.run(argv)
    assert not mark.exists()
    assert (await runner.run(_search(inside))).returncode == 0


_ENVIRONMENT = (
    *("env", "-u", "SLURM_JWT", "-u", "SLURM_CLUSTERS", "TZ=UTC"),
    "SLURM_TIME_FORMAT=standard",
)


def _search(pattern: str) -> tuple[str, ...]:
    glob = Glob(pattern=pattern, shown=pattern)
    wanted = [Wanted(glob=glob, stream=Stream.STDOUT)]
    return far.argv("nccl-dns-0123456789abcdef01234567", wanted, Limits(), user="root")
