"""One Slurm cluster for the whole run, asked by REST, by commands, or by both."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager

import pytest

from bot.schedulers.slurm.adapter import SlurmScheduler
from bot.schedulers.slurm.login import LoginWay
from bot.schedulers.slurm.rest import RestWay
from bot.schedulers.slurm.runner import LocalRunner
from tests.behaviour.schedulers.kubernetes_world import kubernetes_world
from tests.behaviour.schedulers.slurm_cluster import SlurmCluster
from tests.behaviour.schedulers.world import MemoryWorld, SlurmWorld, World

#: The programs that a cluster is made of; each is a row of scripts/system-packages.txt.
PROGRAMS = ("slurmctld", "slurmd", "slurmrestd", "scontrol", "munged")


@pytest.fixture(scope="session")
def running_cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SlurmCluster]:
    """Run a cluster for as long as tests need it."""
    if os.geteuid() != 0:
        pytest.skip("missing component: root, as whom slurmd starts jobs of any user")
    # slurmrestd runs as nobody and has to reach its key
    root = tmp_path_factory.mktemp("slurm")
    for folder in (root, *root.parents[:2]):
        folder.chmod(0o755)
    cluster = SlurmCluster(root=root)
    try:
        cluster.start()
        # the controller looks for jobs to forget once a minute: begin early
        cluster.forgotten = cluster.submit("exit 7", "-N2", "-J", "early")
        cluster.wait_for(cluster.forgotten, "FAILED")
        yield cluster
    finally:
        cluster.stop()


@pytest.fixture
def anyio_backend() -> str:
    """Run on asyncio, as the product does."""
    return "asyncio"


@pytest.fixture
def cluster(running_cluster: SlurmCluster) -> Iterator[SlurmCluster]:
    """Lend the cluster to one test, and leave it idle."""
    yield running_cluster
    running_cluster.clear()


def login_way(cluster: SlurmCluster) -> LoginWay:
    """Return the commands, run on this machine as on a login node."""
    return LoginWay(cluster="hall", runner=LocalRunner(cluster.env))


def rest_way(cluster: SlurmCluster, *, url: str = "") -> RestWay:
    """Return the cluster's REST service."""
    return RestWay(
        cluster="hall", base_url=url or cluster.rest_url, user="root", token=cluster.token
    )


_WITH_ARRAYS = [
    "memory",
    *(pytest.param(ways, marks=pytest.mark.needs(*PROGRAMS)) for ways in ("login", "rest first")),
]


@pytest.fixture(params=[*_WITH_ARRAYS, "kubernetes"])
async def world(request: pytest.FixtureRequest, anyio_backend: str) -> AsyncIterator[World]:
    """Give a scheduler of every kind, one after the other."""
    del anyio_backend
    if request.param == "kubernetes":
        async with kubernetes_world() as one:
            yield one
    else:
        async with _of_slurm(request) as one:
            yield one


@pytest.fixture(params=_WITH_ARRAYS)
async def slurm_world(request: pytest.FixtureRequest, anyio_backend: str) -> AsyncIterator[World]:
    """Give a scheduler that knows what Slurm knows."""
    del anyio_backend
    async with _of_slurm(request) as one:
        yield one


@asynccontextmanager
async def _of_slurm(request: pytest.FixtureRequest) -> AsyncIterator[World]:
    if request.param == "memory":
        yield MemoryWorld()
        return
    cluster: SlurmCluster = request.getfixturevalue("cluster")
    if request.param == "login":
        yield SlurmWorld(cluster, SlurmScheduler("hall", [login_way(cluster)]))
        return
    rest = rest_way(cluster)
    yield SlurmWorld(cluster, SlurmScheduler("hall", [rest, login_way(cluster)]))
    await rest.aclose()


@pytest.fixture
def forgotten(running_cluster: SlurmCluster) -> int:
    """Give a job that ended first of all, and that the controller forgets before long."""
    return running_cluster.forgotten
