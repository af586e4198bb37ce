"""Prove that what the cloud does to a VM is felt by its machine, and seen by everybody."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path

import pytest

from bot.clouds.model import Action, VmState
from bot.hosts.model import Finding
from bot.schedulers.model import NodeFlag
from playground.fleet.simulated import SimulatedFleet
from playground.fleet.world import running
from tests.behaviour.world.client import Client, client_of

pytestmark = pytest.mark.anyio


@pytest.fixture
async def fleet(tmp_path: Path, anyio_backend: str) -> AsyncIterator[SimulatedFleet]:
    """Return a small fleet whose cloud is quick, with a machine that is silent."""
    del anyio_backend
    async with running(state_dir=tmp_path, vms=4, ranks=1, fault="vm-error", on="node-2") as made:
        made.cloud.world.takes = timedelta(0)
        yield made


@pytest.fixture
async def client(fleet: SimulatedFleet) -> AsyncIterator[Client]:
    """Return the product's adapters."""
    async with client_of(fleet) as opened:
        yield opened


async def _down(client: Client) -> bool:
    return NodeFlag.NOT_RESPONDING in (await client.slurm.node("node-2")).flags


async def test_stop_and_start_bring_a_machine_back_without_its_local_disk(
    fleet: SimulatedFleet, client: Client
) -> None:
    """It has booted anew, what was on the local disk is gone, and the scheduler sees it again."""
    before = await client.vm("node-2")
    boot = fleet.network.named("node-2").boot_id
    assert (before.state, await _down(client)) == (VmState.ERROR, True)

    await client.cloud.act(before.id, Action.STOP)
    stopped = await client.vm("node-2")
    assert (stopped.state, await _down(client)) == (VmState.STOPPED, True)
    await client.cloud.act(before.id, Action.START)
    started = await client.vm("node-2")

    machine = fleet.network.named("node-2")
    (local,) = [share for share in machine.mounts if share.mount == "/nvme"]
    assert (started.state, started.id, await _down(client)) == (VmState.RUNNING, before.id, False)
    assert machine.boot_id != boot
    assert local.free_bytes == local.size_bytes
    assert (await client.judge("node-2", "node-1")).names == {Finding.HEALTHY_NOW}


async def test_a_reset_brings_a_silent_machine_back_with_its_disk(
    fleet: SimulatedFleet, client: Client
) -> None:
    """A reset boots it anew and leaves its disks as they are."""
    fleet.break_("host-silent", "node-2")
    machine = fleet.network.named("node-2")
    (local,) = [share for share in machine.mounts if share.mount == "/nvme"]
    boot, free = machine.boot_id, local.free_bytes
    assert (await client.judge("node-2", "node-1")).names == {Finding.HOST_SILENT}

    await client.cloud.act((await client.vm("node-2")).id, Action.RESET)
    assert (await client.vm("node-2")).state is VmState.RUNNING

    assert (await client.judge("node-2", "node-1")).names == {Finding.HEALTHY_NOW}
    assert (machine.boot_id != boot, local.free_bytes) == (True, free)


async def test_the_vm_ids_are_those_of_the_machines(
    fleet: SimulatedFleet, client: Client, tmp_path: Path
) -> None:
    """Each machine proves itself by its VM's id, and a fleet made again has the same ids."""
    vms = {vm.name: (vm.id, vm.private_ips) for vm in await client.cloud.list()}
    async with running(state_dir=tmp_path / "again", vms=4, ranks=1) as again:
        same = {one.name: one.product_uuid for one in again.network.machines.values()}

    assert vms == {
        one.name: (one.product_uuid, (one.address,)) for one in fleet.network.machines.values()
    }
    assert same == {name: vm_id for name, (vm_id, _) in vms.items()}
