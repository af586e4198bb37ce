"""Each fault on real machines: the probes find what was made, and nothing useless is offered."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.lab.faults import FAULTS, Fault
from tests.lab.lab import Lab
from tests.lab.running import wait_until
from tests.lab.stage import Powered

pytestmark = [pytest.mark.anyio, pytest.mark.lab, pytest.mark.timeout(600)]
HIT = 2
_RUNNING = frozenset({"PENDING", "CONFIGURING", "RUNNING", "COMPLETING", ""})
_RESTARTS = frozenset({"restart_resolver", "reboot", "reset", "stop_start"})


async def checked(settings: Path, *about: str) -> dict[str, Any]:
    """Return what `nccl-dns check` says, run as its user runs it."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "bot", "check", "--config", str(settings), "--json", *about,
        stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
    )  # fmt: skip
    out, told = await process.communicate()
    assert process.returncode in {0, 1}, told.decode()
    found: dict[str, Any] = json.loads(out)
    return found


async def failing(lab: Lab, *, store_s: int = 8) -> str:
    """Submit a job and return its id once a rank has given up, or all of it has ended.

    Ranks of a hung resolver give up minutes later, when systemd has restarted it.
    """
    job = lab.job(store_s=store_s)

    def given_up() -> bool:
        return "Traceback" in lab.log(job) or lab.slurm.state(job) not in _RUNNING

    await asyncio.to_thread(wait_until, "a rank gives up", given_up, within_s=120.0)
    # the others print what they still have to
    await asyncio.sleep(2)
    return job


def offered(machine: dict[str, Any]) -> set[str]:
    """Return the restarts that are offered for a machine."""
    return {one["rung"] for one in machine["offers"] if one["offered"]} & _RESTARTS


@pytest.mark.parametrize("fault", FAULTS.values(), ids=lambda fault: fault.name)
async def test_what_was_broken_is_found(fault: Fault, cloud: Powered, tmp_path: Path) -> None:
    """The finding is the fault's, on its machine alone, and only what helps is offered."""
    lab = cloud.lab
    settings = cloud.settings(tmp_path)
    hit = lab.machines[HIT]
    await asyncio.to_thread(fault.make, lab, hit)
    job = await failing(lab)
    # full names are found without a search domain, so the job does not notice that it is lost
    about = [job, "--vm", hit.name] if lab.slurm.state(job) == "COMPLETED" else [job]
    found = await checked(settings, *about)
    by_name = {one["host"]: one for one in found["machines"]}
    told = {name: {one["finding"] for one in by_name[name]["findings"]} for name in by_name}
    assert any(fault.finding in each for each in told.values()), (told, lab.log(job)[-3000:])
    if not fault.everywhere:
        assert fault.finding in told.get(hit.name, set()), told
        assert not any(fault.finding in each for name, each in told.items() if name != hit.name)
    for name, machine in by_name.items():
        assert offered(machine) <= set(fault.helps), (name, machine["offers"])
    if fault.helps:
        assert offered(by_name[hit.name]) & set(fault.helps)
