"""Prove on a real cluster that the simulated Slurm prints the fields that a real one does."""

from __future__ import annotations

from datetime import UTC, datetime

import httpx
import pytest

from bot.schedulers.slurm import texts
from playground.slurm import commands, shapes
from playground.slurm.model import Cluster, Job, Node
from tests.behaviour.schedulers.conftest import PROGRAMS
from tests.behaviour.schedulers.slurm_cluster import SlurmCluster

pytestmark = pytest.mark.needs(*PROGRAMS)

#: What a real job prints beyond ours where it has more than ours: nothing the product reads.
_OF_ITS_OWN = {"Port", "Gres"}


def simulated(state: str) -> Cluster:
    """Return a simulated cluster with the nodes and the job of the real one."""
    now = datetime.now(UTC)
    job = Job(
        number=1, name="pretrain", user="root", uid=0, nodes=["n0", "n1"], wanted=2,
        tasks_per_node=2, work_dir="/work", stdout="/work/out-%x-%j.log",
        stderr="/work/err-%j.log", script="", state=state, submitted=now, started=now,
        ended=None if state == "RUNNING" else now,
    )  # fmt: skip
    made = Cluster(name="hall", version=38)
    made.nodes = {name: Node(name=name, address="127.0.0.1") for name in ("n0", "n1")}
    made.put([job])
    return made


def fields(output: str, first: str) -> list[list[str]]:
    """Return the names of the fields of each record, in order."""
    return [list(record) for record in texts.records(output, first)]


def said(made: Cluster, *argv: str) -> str:
    """Return what the simulated command prints."""
    return commands.run(made, argv, user="root").out


def test_records_have_the_fields_of_real_ones(cluster: SlurmCluster) -> None:
    """`scontrol -o` of a job, of a node and of running steps: the same names in the same order."""
    number = cluster.submit("srun -N2 --ntasks-per-node=2 sleep 50", "-N2", "--ntasks-per-node=2")
    cluster.wait_for(number, "RUNNING")
    cluster.wait_for_step(number)
    made = simulated("RUNNING")
    for what, which, ours, first in (
        ("job", str(number), "1", "JobId"),
        ("node", "n0,n1", "n0,n1", "NodeName"),
        ("step", str(number), "1", "StepId"),
    ):
        real = fields(cluster.command("scontrol", "-o", "show", what, which), first)
        there = fields(said(made, "scontrol", "-o", "show", what, ours), first)
        assert [[name for name in one if name not in _OF_ITS_OWN] for one in there] == [
            [name for name in one if name not in _OF_ITS_OWN] for one in real
        ]


def test_json_has_fields_and_kinds_of_real_ones(cluster: SlurmCluster) -> None:
    """v0.0.38: each field of ours is one of the real slurmrestd's, and of the same kind."""
    number = cluster.submit("exit 1", "-N2", "--ntasks-per-node=2")
    cluster.wait_for(number, "FAILED")
    made = simulated("FAILED")
    for path, key, ours in (
        (f"job/{number}", "jobs", shapes.job_row(made.jobs[1], made, 38)),
        ("node/n0", "nodes", shapes.node_row(made.nodes["n0"], made, 38)),
        ("partitions", "partitions", shapes.partition_row(made, 38)),
        ("ping", "pings", {"hostname": "", "mode": "", "ping": "", "status": 0}),
    ):
        (real,) = _real(cluster, path)[key]
        assert not set(ours) - set(real)
        # null is "not set", whatever the kind
        kinds = {name: (type(real[name]), type(ours[name])) for name in ours}
        assert [
            (name, kind)
            for name, kind in kinds.items()
            if kind[0] is not kind[1] and type(None) not in kind
        ] == []


def test_refusals_are_worded_as_the_real_ones(cluster: SlurmCluster) -> None:
    """Unknown jobs and nodes, jobs that are over, drains without a reason: the same words."""
    number = cluster.submit("exit 1", "-N2")
    cluster.wait_for(number, "FAILED")
    made = simulated("FAILED")
    for argv in (
        ("scontrol", "-o", "show", "job", "99999"),
        ("scontrol", "-o", "show", "node", "n9"),
        ("scontrol", "-o", "show", "step", "JOB"),
        ("scontrol", "hold", "99999"),
        ("scontrol", "hold", "JOB"),
        ("scontrol", "requeue", "99999"),
        ("scontrol", "update", "nodename=n9", "state=drain", "reason=x"),
        ("scontrol", "update", "nodename=n0", "state=drain"),
        ("scontrol", "update", "nodename=n0", "state=resume"),
        ("scancel", "--verbose", "99999"),
        ("scancel", "--verbose", "JOB"),
        ("sacct", "-P", "-j", "JOB", "-o", "JobID,State"),
    ):
        made.accounting = False
        ours = commands.run(made, [word.replace("JOB", "1") for word in argv], user="root")
        real = cluster.ended(*[word.replace("JOB", str(number)) for word in argv])
        whole = (ours.rc, _words(ours.out, 1), _words(ours.err, 1))
        assert whole == (real[0], _words(real[1], number), _words(real[2], number))


def _words(output: str, number: int) -> str:
    return output.replace(f" {number}", " JOB").strip()


def _real(cluster: SlurmCluster, path: str) -> dict[str, list[dict[str, object]]]:
    answer = httpx.get(
        f"{cluster.rest_url}/slurm/v0.0.38/{path}",
        headers={"X-SLURM-USER-NAME": "root", "X-SLURM-USER-TOKEN": cluster.token()},
        trust_env=False,
    )
    found: dict[str, list[dict[str, object]]] = answer.json()
    return found
