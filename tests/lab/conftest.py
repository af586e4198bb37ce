"""Bring the lab up once for all of its tests; where it cannot be, say why they are skipped."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Iterator

import pytest

from playground.slack.server import SlackServer, running
from tests.components import MISSING
from tests.lab.faults import heal
from tests.lab.lab import PROGRAMS, Lab, lab
from tests.lab.running import missing
from tests.lab.stage import Powered, powered
from tests.scenario.stage import app


@pytest.fixture
def anyio_backend() -> str:
    """Run on asyncio, as the product does."""
    return "asyncio"


@pytest.fixture(scope="session")
def machines() -> Iterator[Lab]:
    """Return the machines, running."""
    if os.geteuid() != 0:
        pytest.skip("only root makes machines")
    if lacking := missing(PROGRAMS):
        pytest.skip(f"{MISSING}: {', '.join(lacking)}")
    with lab() as up:
        yield up


@pytest.fixture
def healthy(machines: Lab) -> Iterator[Lab]:
    """Return the machines, all of them well before and after."""
    yield machines
    machines.slurm.run("scancel", "--state=PENDING")
    machines.slurm.run("scancel", "--state=RUNNING")
    heal(machines)
    for one in machines.machines:
        machines.slurm.run("scontrol", "update", f"nodename={one.name}", "state=resume")
    machines.slurm.wait_until_idle()


@pytest.fixture
async def cloud(healthy: Lab) -> AsyncIterator[Powered]:
    """Return the cloud that has the machines' power switches."""
    async with powered(healthy) as switches:
        yield switches


@pytest.fixture
async def slack() -> AsyncIterator[SlackServer]:
    """Return a workspace with the app of the manifest."""
    async with running(app=app(), rates_on=False) as server:
        yield server
