"""Prove on a real cluster what each way tells of Slurm itself, and the doctor of each way."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import timedelta

import pytest

from bot.doctor import schedulers as checks
from bot.doctor.look import Look
from bot.doctor.model import Outcome
from bot.errors import BotError
from bot.schedulers.ids import Cluster
from bot.schedulers.model import Kind
from bot.schedulers.port import Scheduler
from bot.schedulers.slurm.adapter import SlurmScheduler
from bot.schedulers.slurm.rest import RestWay
from bot.schedulers.slurm.way import Way
from bot.settings import Settings
from bot.triage.services import Services, Watched
from tests.behaviour.schedulers.conftest import PROGRAMS, login_way, rest_way
from tests.behaviour.schedulers.slurm_cluster import MIN_JOB_AGE, SlurmCluster, free_ports

pytestmark = [pytest.mark.anyio, pytest.mark.needs(*PROGRAMS)]


@pytest.fixture
async def rest(cluster: SlurmCluster, anyio_backend: str) -> AsyncIterator[RestWay]:
    """Give the REST service in the version that it serves."""
    del anyio_backend
    way = rest_way(cluster)
    yield way
    await way.aclose()


def look(scheduler: Scheduler) -> Look:
    """Return a look at this cluster and nothing else."""
    hall = Watched(
        name="hall", known_as=Cluster(name="hall", kind=Kind.SLURM), scheduler=scheduler, cloud=None
    )

    async def nobody() -> object:
        raise BotError("Nobody has a key here.")

    return Look(
        settings=Settings(),
        config=None,
        services=Services(clusters={"hall": hall}),
        whose_key=nobody,  # type: ignore[arg-type]
    )


async def test_the_commands_tell_version_controller_and_age(cluster: SlurmCluster) -> None:
    """And that root may drain, which needs no accounting."""
    (told,) = await SlurmScheduler("hall", [login_way(cluster)]).about()

    version = cluster.command("scontrol", "--version").split()[1]
    assert (told.way, told.problem, told.version) == ("login node", "", version)
    assert told.controllers
    assert told.accounting is False
    assert told.forgets_after == timedelta(seconds=MIN_JOB_AGE)
    assert told.may_change is True
    assert told.rights == "root is root there."


async def test_the_service_tells_version_and_no_accounting(
    cluster: SlurmCluster, rest: RestWay
) -> None:
    """V0.0.38 cannot drain, and says so before anybody tries."""
    (told,) = await SlurmScheduler("hall", [rest]).about()

    assert told.problem == ""
    assert told.version == cluster.command("scontrol", "--version").split()[1]
    assert told.controllers
    assert told.accounting is False
    assert told.forgets_after is None
    assert (told.may_change, told.rights) == (False, "v0.0.38 can neither drain nor requeue.")


async def test_a_version_that_is_not_served_is_named_with_one_that_is(
    cluster: SlurmCluster,
) -> None:
    """The mend is a number to write."""
    way = replace(rest_way(cluster), version=40)

    (told,) = await SlurmScheduler("hall", [way]).about()
    await way.aclose()

    assert "does not serve v0.0.40. Set clusters.hall.rest.version to 38." in told.problem


async def test_a_way_that_is_away_does_not_hide_the_other(cluster: SlurmCluster) -> None:
    """Both are asked, and each has its row."""
    (port,) = free_ports(1)
    gone = rest_way(cluster, url=f"http://127.0.0.1:{port}")

    scheduler = SlurmScheduler("hall", [gone, login_way(cluster)])
    rows = await checks.ways(look(scheduler))
    await gone.aclose()

    assert [(row.outcome, row.about) for row in rows] == [
        (Outcome.FAIL, "hall: slurmrestd v0.0.38"),
        (Outcome.OK, "hall: login node"),
    ]
    assert "cannot be reached" in rows[0].said


async def test_a_refused_token_is_the_ways_answer(cluster: SlurmCluster) -> None:
    """The token itself is not in it."""
    way = replace(rest_way(cluster), token=lambda: "e30.e30.forged")

    (told,) = await SlurmScheduler("hall", [way]).about()
    await way.aclose()

    assert "refuse" in told.problem
    assert "forged" not in told.problem


async def test_a_controller_that_is_away_is_told(cluster: SlurmCluster) -> None:
    """By commands that have nobody to ask."""
    from bot.schedulers.slurm.login import LoginWay
    from bot.schedulers.slurm.runner import LocalRunner

    (port,) = free_ports(1)
    conf = cluster.root / "gone.conf"
    lines = cluster.conf.read_text().splitlines()
    conf.write_text(
        "\n".join(f"SlurmctldPort={port}" if "SlurmctldPort" in one else one for one in lines)
        + "\nMessageTimeout=2\n"
    )
    way = LoginWay(cluster="hall", runner=LocalRunner({**cluster.env, "SLURM_CONF": str(conf)}))

    (told,) = await SlurmScheduler("hall", [way]).about()

    assert "its settings were not read" in told.problem or "no answer within" in told.problem


@pytest.mark.parametrize("kind", ["login", "rest first"])
async def test_the_last_started_job_and_every_node_are_listed(
    cluster: SlurmCluster, rest: RestWay, kind: str
) -> None:
    """A job that waits has not started."""
    first = cluster.submit("exit 0", "-N1")
    cluster.wait_for(first, "COMPLETED")
    last = cluster.submit("exit 1", "-N2")
    cluster.wait_for(last, "FAILED")
    cluster.submit("exit 0", "-N1", "--begin=now+1hour")
    ways: list[Way] = [login_way(cluster)]
    if kind == "rest first":
        ways.insert(0, rest)
    scheduler = SlurmScheduler("hall", ways)

    jobs = await scheduler.recent_jobs()
    nodes = await scheduler.all_nodes()

    assert [job.id for job in jobs][:2] == [str(last), str(first)]
    assert {node.name: node.partitions for node in nodes} == {"n0": ("gpu",), "n1": ("gpu",)}


async def test_the_doctor_reads_the_last_jobs_output(cluster: SlurmCluster) -> None:
    """Where it lies; a file that only its owner's folder hides is told with its reason."""
    number = cluster.submit("echo started; exit 1", "-N1")
    cluster.wait_for(number, "FAILED")
    scheduler = SlurmScheduler("hall", [login_way(cluster)])

    (row,) = await checks.logs(look(scheduler))
    assert row.outcome is Outcome.OK
    assert str(cluster.work / f"slurm-{number}.out") in row.said

    (cluster.work / f"slurm-{number}.out").unlink()
    (row,) = await checks.logs(look(scheduler))
    assert row.outcome is Outcome.WARN
    assert f"slurm-{number}.out" in row.said


async def test_the_doctor_on_a_cluster_without_accounting(cluster: SlurmCluster) -> None:
    """An ordinary cluster: two warnings, no failure."""
    at = look(SlurmScheduler("hall", [login_way(cluster)]))

    (kept,), (age,), (may,) = (
        await checks.accounting(at), await checks.job_age(at), await checks.rights(at),
    )  # fmt: skip

    assert (kept.outcome, age.outcome, may.outcome) == (Outcome.WARN, Outcome.WARN, Outcome.OK)
    assert f"after {MIN_JOB_AGE} s (MinJobAge)" in age.said
