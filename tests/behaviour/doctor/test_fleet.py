"""Prove a whole run over HTTP and SSH on a simulated fleet, with its own settings."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.commands.doctor import examined
from bot.doctor.model import Checkup, Outcome
from bot.settings import load
from playground.fleet.world import running

pytestmark = pytest.mark.anyio


async def examine(folder: Path, fault: str = "", on: str = "") -> Checkup:
    """Start a fleet of four machines and make a whole run, as `nccl-dns doctor` does."""
    async with running(state_dir=folder / "fleet", vms=4, ranks=2, fault=fault, on=on) as fleet:
        path = fleet.write_settings()
        return await examined(load(path, environ={}), path)


async def test_a_fleet_that_is_set_up_well_fails_nowhere(tmp_path: Path) -> None:
    """Both ways to Slurm, every VM, and three machines answer over their real protocols."""
    checkup = await examine(tmp_path)

    assert [row for row in checkup.rows if row.outcome is Outcome.FAIL] == []
    said = {row.check: row for row in checkup.rows if row.outcome is Outcome.OK}
    assert said["nodes and VMs"].said == "4 of 4 nodes are each one VM."
    assert said["project"].said == "4 VMs: 4 running."
    assert said["logins"].said.startswith("node-[0,2-3] let us in")
    assert said["host keys"].said.startswith("All 4 machines")
    ways = [row.about for row in checkup.rows if row.check == "scheduler"]
    assert ways == ["demo: slurmrestd v0.0.40", "demo: login node"]


async def test_a_machine_whose_resolver_failed_is_no_fault_of_the_set_up(tmp_path: Path) -> None:
    """It is reached by its address: what is broken there is for `check` to say."""
    checkup = await examine(tmp_path, "resolver-failed", "node-2")

    assert not checkup.failed
