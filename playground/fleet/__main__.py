"""Run a simulated fleet by hand: `python -m playground.fleet --fault resolver-failed --on node-8`.

It writes settings and keys to a folder that only you can read, and serves until it is interrupted.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
from contextlib import suppress
from datetime import timedelta
from pathlib import Path

from playground.fleet.cases import CASES, UnknownFaultError
from playground.fleet.jobs import HEALTHY, WAITING, PlaygroundError
from playground.fleet.world import going_on, running
from playground.slurm.model import RELEASES, spelled

_HEALTHY = "none"


def arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="python -m playground.fleet", description=__doc__)
    parser.add_argument("--vms", type=int, default=32, help="machines (default: 32)")
    parser.add_argument("--ranks", type=int, default=8, help="ranks on each (default: 8)")
    parser.add_argument(
        "--fault",
        default="resolver-failed",
        help=f"{', '.join(CASES)}, or {_HEALTHY} (default: resolver-failed)",
    )
    parser.add_argument("--on", default="", metavar="NODE", help="the machine that it hits")
    parser.add_argument(
        "--minutes", type=int, default=32, help="how long ago the job began; below 30 it waits"
    )
    parser.add_argument(
        "--slurm", type=int, default=40, choices=sorted(RELEASES), help="version of slurmrestd"
    )
    parser.add_argument("--state", type=Path, default=_state(), help="folder of settings and keys")
    return parser.parse_args()


def _state() -> Path:
    base = os.environ.get("XDG_STATE_HOME") or "~/.local/state"
    return Path(base).expanduser() / "nccl-dns-playground"


async def serve(asked: argparse.Namespace) -> None:
    """Serve a fleet until cancelled."""
    fault = "" if asked.fault == _HEALTHY else asked.fault
    async with running(
        state_dir=asked.state,
        vms=asked.vms,
        ranks=asked.ranks,
        fault=fault,
        on=asked.on,
        version=asked.slurm,
        age=timedelta(minutes=asked.minutes),
    ) as fleet:
        path = fleet.write_settings()
        broken = f"{fleet.fault} on {fleet.hit}" if fleet.fault else "nothing is broken"
        job = fleet.cluster.jobs[fleet.job]
        sys.stdout.write(
            f"{asked.vms} machines, {asked.vms * asked.ranks} ranks: {broken}.\n"
            f"Slurm {spelled(asked.slurm)} at {fleet.rest.url}, login node and jump host at "
            f"127.0.0.1 port {fleet.ssh.port}, cloud at {fleet.cloud.base_url}.\n"
            f"Jobs: {fleet.job} ({job.state}), {HEALTHY} "
            f"({fleet.cluster.jobs[HEALTHY].state}), {WAITING} "
            f"({fleet.cluster.jobs[WAITING].state}).\n\n"
            f"nccl-dns check {fleet.job} --config {path}\n\n"
            "Ctrl-C ends it.\n"
        )
        sys.stdout.flush()
        await going_on(fleet)


if __name__ == "__main__":
    try:
        with suppress(KeyboardInterrupt):
            asyncio.run(serve(arguments()))
    except (UnknownFaultError, PlaygroundError) as error:
        sys.exit(str(error))
