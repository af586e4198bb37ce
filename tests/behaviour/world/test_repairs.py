"""Prove that a machine of the fleet is mended by the one account that may, and by no other."""

from __future__ import annotations

import tomllib
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from bot.hosts.grants import REPAIR_PATH
from bot.hosts.model import Finding, Rung
from bot.hosts.repairs import Result, outcome
from bot.hosts.ssh.hosts import ssh_hosts
from bot.schedulers.ids import parse
from bot.schedulers.model import JobState
from playground.fleet.simulated import SimulatedFleet
from playground.fleet.world import running
from tests.behaviour.world.client import Client, client_of, options, repairing, target

pytestmark = pytest.mark.anyio


@pytest.fixture
async def fleet(tmp_path: Path, anyio_backend: str) -> AsyncIterator[SimulatedFleet]:
    """Return a fleet whose job still waits for a machine without a resolver."""
    del anyio_backend
    young = timedelta(minutes=5)
    async with running(state_dir=tmp_path, vms=4, ranks=2, on="node-2", age=young) as made:
        yield made


@pytest.fixture
async def client(fleet: SimulatedFleet) -> AsyncIterator[Client]:
    """Return the product's adapters."""
    async with client_of(fleet) as opened:
        yield opened


async def test_a_restarted_resolver_lets_the_waiting_job_go_on(
    fleet: SimulatedFleet, client: Client
) -> None:
    """The repair ran, the probe finds nothing more, and the same run makes progress."""
    vm = target(await client.vm("node-2"))
    assert (await client.judge("node-2", "node-1")).names == {Finding.RESOLVER_FAILED}

    told = await client.repairs.repair(vm, Rung.RESTART_RESOLVER)
    judged = await client.judge("node-2", "node-1")
    fleet.advance(datetime.now(UTC) + timedelta(seconds=30))
    job = await client.slurm.job(parse("48213"))

    assert outcome(Rung.RESTART_RESOLVER, told).result is Result.RAN
    assert judged.names == {Finding.HEALTHY_NOW}
    assert (job.state, job.restarts) == (JobState.RUNNING, 0)
    assert fleet.cluster.jobs[48213].up_since is not None


async def test_the_account_that_looks_cannot_repair(fleet: SimulatedFleet, client: Client) -> None:
    """Neither its own sudo nor its key under the other name gets it there."""
    vm = target(await client.vm("node-2"))
    told = tomllib.loads(fleet.settings_toml())["ssh"]
    itself = replace(options(told), sudo=True, helper=REPAIR_PATH)
    disguised = replace(repairing(told), keys=options(told).keys)

    for wrong in (itself, disguised):
        async with ssh_hosts(wrong) as hosts:
            found = await hosts.repair(vm, Rung.RESTART_RESOLVER)
        assert outcome(Rung.RESTART_RESOLVER, found).result is Result.NOT_RUN
        assert found.failure == "access"
    assert fleet.network.named("node-2").resolver.active == "failed"
