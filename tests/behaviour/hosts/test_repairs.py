"""Prove what a repair does to a machine, in memory and over SSH, and what its answer is worth."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bot.hosts import probes, repairs, wire
from bot.hosts.grants import REPAIR_PATH
from bot.hosts.model import Finding, Rung
from bot.hosts.repairs import REPAIRS, Repair, Result, outcome
from bot.hosts.words import Proof
from playground.fleet.faults import break_
from tests.behaviour.hosts.fleet import Fleet

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize("fault", ["resolver-failed", "resolver-hung"])
async def test_a_restart_mends_the_resolver_and_the_next_probe_shows_it(
    fault: str, fleet: Fleet
) -> None:
    """The finding goes, and the machine was not booted for it."""
    break_(fleet.network, fault, "node-1")
    target, boot = fleet.target("node-1"), fleet.network.named("node-1").boot_id

    told = await fleet.repairs.repair(target, Rung.RESTART_RESOLVER)
    judged = await fleet.judge("node-1", "node-2")

    assert outcome(Rung.RESTART_RESOLVER, told).result is Result.RAN
    assert list(told.results) == ["identity", "reset_failed", "restart"]
    assert judged.names == {Finding.HEALTHY_NOW}
    assert fleet.network.named("node-1").boot_id == boot


async def test_a_reboot_changes_the_boot_id(fleet: Fleet) -> None:
    """The probes of the row show what the command's own word does not."""
    target, question = fleet.target("node-1"), fleet.question()
    shown_by = repairs.of(Rung.REBOOT).shown_by
    before = await fleet.hosts.probe(target, question, shown_by)

    told = await fleet.repairs.repair(target, Rung.REBOOT)
    after = await fleet.hosts.probe(target, question, shown_by)

    assert outcome(Rung.REBOOT, told).result is Result.RAN
    assert before.read(probes.BOOT_ID) != after.read(probes.BOOT_ID)


@pytest.mark.parametrize("repair", REPAIRS, ids=lambda repair: repair.rung)
async def test_another_machine_at_the_address_is_left_alone(repair: Repair, fleet: Fleet) -> None:
    """Where the machine is not the target, no command runs, and the outcome says so."""
    machine = fleet.network.named("node-1")
    before = (machine.boot_id, machine.resolver.pid)
    target = replace(fleet.target("node-1"), proof=Proof("00000000-0000-4000-8000-00000000dead"))

    told = await fleet.repairs.repair(target, repair.rung)

    assert outcome(repair.rung, told).result is Result.NOT_RUN
    assert "is not node-1" in told.detail
    assert (machine.boot_id, machine.resolver.pid) == before


@pytest.mark.parametrize("repair", REPAIRS, ids=lambda repair: repair.rung)
async def test_a_machine_that_lets_nobody_in_is_not_repaired(repair: Repair, fleet: Fleet) -> None:
    """The way in failed, so nothing was run, and that is known for sure."""
    fleet.network.named("node-1").login_hangs = True

    told = await fleet.repairs.repair(fleet.target("node-1"), repair.rung)

    assert outcome(repair.rung, told).result is Result.NOT_RUN
    assert told.failure == "hangs"


async def test_a_repair_is_one_sudo_in_one_command(ssh_fleet: Fleet) -> None:
    """Sudo itself stalls on dead DNS, so a round trip asks it once."""
    await ssh_fleet.repairs.repair(ssh_fleet.target("node-1"), Rung.RESTART_RESOLVER)

    assert ssh_fleet.server is not None
    assert ssh_fleet.server.ran == [("node-1", wire.command(sudo=True, installed=REPAIR_PATH))]
