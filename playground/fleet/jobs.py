"""The jobs of the simulated cluster, and their files on its disk."""

from __future__ import annotations

import math
import os
import pwd
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

from playground.fleet.faults import RENDEZVOUS_PORT
from playground.fleet.logs import Run, written
from playground.fleet.machine import Network, Work
from playground.slurm.model import Job, utc_now

#: The job that the faults hit, one that runs well, and one that waits.
HIT, HEALTHY, WAITING = 48213, 48214, 48215
#: Machines of the healthy job.
_FEW = 4
#: Long enough for the store of a broken job to have given up.
AGE = timedelta(minutes=32)

_SCRIPT = """\
#!/bin/bash
#SBATCH --job-name={name}
#SBATCH --nodes={nodes}
#SBATCH --ntasks-per-node={ranks}
#SBATCH --gpus-per-node={ranks}
#SBATCH --no-kill
#SBATCH --output=logs/%x-%j.out
#SBATCH --error=logs/%x-%j.err
export MASTER_ADDR=$(scontrol show hostnames "$SLURM_JOB_NODELIST" | head -n 1)
export MASTER_PORT={port}
srun --label --distribution=block python train.py
"""


class PlaygroundError(Exception):
    """The playground cannot be run here; the message says why."""


@dataclass(frozen=True, kw_only=True)
class Desk:
    """Who submits the jobs, and the folder of the cluster's files."""

    disk: Path
    user: str
    uid: int

    @property
    def work(self) -> Path:
        """Return the folder from which jobs are submitted."""
        return self.disk / "home" / self.user / "pretrain"


def desk(disk: Path) -> Desk:
    """Return the desk of this account: log files have to belong to the user of their job."""
    uid = os.getuid()
    try:
        user = pwd.getpwuid(uid).pw_name
    except KeyError:
        message = f"User {uid} has no name here, so no job can be its own. Run as a named user."
        raise PlaygroundError(message) from None
    return Desk(disk=disk, user=user, uid=uid)


def submitted(
    desk: Desk, network: Network, ranks: int, *, hit: str = "", age: timedelta = AGE
) -> list[Job]:
    """Run the jobs on the network as it is now, and write their files.

    The job `HIT` has every machine and began `age` ago. Where it has come to an end, the job
    `HEALTHY` has just begun on the last machines but `hit`.
    """
    now = utc_now()
    names = [machine.name for machine in network.machines.values()]
    first = _job(desk, HIT, "pretrain-7b", len(names), ranks, now)
    _start(network, first, names, now - age)
    advance(network, first, now)
    free = [] if first.runs else [name for name in names[1:] if name != hit][-_FEW:]
    second = _job(desk, HEALTHY, "finetune", len(free) or _FEW, ranks, now)
    third = _job(desk, WAITING, "pretrain-7b", len(names), ranks, now)
    second.reason, third.reason = "Resources", "Priority"
    if free:
        _start(network, second, free, first.ended or now)
        advance(network, second, now)
        third.reason = "Resources"
    jobs = [first, second, third]
    populate(network, jobs)
    return jobs


def _job(desk: Desk, number: int, name: str, nodes: int, ranks: int, now: datetime) -> Job:
    work = str(desk.work)
    return Job(
        number=number,
        name=name,
        user=desk.user,
        uid=desk.uid,
        wanted=nodes,
        tasks_per_node=ranks,
        work_dir=work,
        stdout=f"{work}/logs/%x-%j.out",
        stderr=f"{work}/logs/%x-%j.err",
        script=_SCRIPT.format(name=name, nodes=nodes, ranks=ranks, port=RENDEZVOUS_PORT),
        submitted=now - timedelta(minutes=5),
    )


def _start(network: Network, job: Job, nodes: Sequence[str], started: datetime) -> None:
    """Start a job on these machines; with everybody there it is up at once."""
    network.named(nodes[0]).listens.add(RENDEZVOUS_PORT)
    job.nodes, job.state, job.reason = list(nodes), "RUNNING", "None"
    job.submitted, job.started = started - timedelta(minutes=1), started
    advance(network, job, started)


def advance(network: Network, job: Job, now: datetime) -> None:
    """Let a job that runs go on until a time: its log grows, it comes up, or it ends."""
    if job.started is None or not job.runs:
        return
    run = Run(
        number=job.number,
        nodes=job.nodes,
        ranks_per_node=job.tasks_per_node,
        started=job.started,
        now=now,
        master=job.nodes[0],
        port=RENDEZVOUS_PORT,
    )
    left = written(run, network, up_since=job.up_since)
    _write(Path(job.filled(job.stdout)), left.stdout)
    if left.up_since is None or now == job.started:
        _write(Path(job.filled(job.stderr)), left.stderr)
    job.state, job.ended, job.up_since = left.state, left.ended, left.up_since
    if left.state == "FAILED":
        job.reason, job.exit_code = "NonZeroExitCode", 1
    elif left.ended is not None:
        job.reason = "TimeLimit"
        job.limit_minutes = math.ceil((left.ended - job.started) / timedelta(minutes=1))


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def populate(network: Network, jobs: Iterable[Job]) -> None:
    """Put processes and rendezvous of running jobs on their machines, and no others."""
    going = [job for job in jobs if job.runs]
    for machine in network.machines.values():
        here = [job for job in going if machine.name in job.nodes]
        machine.processes = [
            Work(pid=20000 + rank, name="python", user=job.user, uid=job.uid, gpu_mib=61_200)
            for job in here
            for rank in range(job.tasks_per_node)
        ]
        serves = any(job.nodes[0] == machine.name for job in here)
        machine.listens = {RENDEZVOUS_PORT} if serves else set()
