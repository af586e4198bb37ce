"""Prove that the simulated Slurm writes each version as it is recorded."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from playground.slurm import shapes
from playground.slurm.model import Cluster, Job, Node
from tests.unit.schedulers.test_shapes import VERSIONS, recorded

NAMES = ["gpu-01", "gpu-02", "gpu-03", "gpu-04"]


def cluster() -> Cluster:
    """Return the cluster, job and node that are recorded."""
    made = Cluster(name="hall")
    made.nodes = {name: Node(name=name, address=f"10.0.0.{name[-1]}") for name in NAMES}
    made.drain("gpu-03", "RMA 4711", by="root")
    made.nodes["gpu-03"].reason_by = "bob"
    made.nodes["gpu-03"].reason_at = datetime.fromtimestamp(1796071600, UTC)
    made.nodes["gpu-03"].booted = lambda: datetime.fromtimestamp(1796065966, UTC)
    job = Job(
        number=48213, name="pretrain", user="ada", uid=1001, nodes=NAMES, wanted=4,
        tasks_per_node=8, work_dir="/home/ada/run", script="", state="FAILED",
        stdout="/home/ada/run/out-%j.log", stderr="/home/ada/run/err-%j.log",
        reason="NonZeroExitCode", exit_code=1, restarts=1,
        submitted=datetime.fromtimestamp(1796071544, UTC),
        started=datetime.fromtimestamp(1796071550, UTC),
        ended=datetime.fromtimestamp(1796071605, UTC),
    )  # fmt: skip
    made.put([job])
    return made


#: What the recording has from another cluster, or what hangs on it.
_OTHER = {
    "command", "operating_system", "slurmd_start_time", "version", "slurmd_version", "reason",
    "distribution",
}  # fmt: skip


def differences(real: object, ours: object, where: str = "") -> list[str]:
    """Return where a record of ours is not as the real one: absent, of another kind or value."""
    if isinstance(real, dict) and isinstance(ours, dict):
        found = [f"{where}.{name} is missing" for name in real if name not in ours]
        for name in real:
            if name in ours and (name not in _OTHER or type(real[name]) is not type(ours[name])):
                found += differences(real[name], ours[name], f"{where}.{name}")
        return found
    if isinstance(real, list) and isinstance(ours, list) and len(real) == len(ours):
        return [
            one
            for index, pair in enumerate(zip(real, ours, strict=True))
            for one in differences(*pair, f"{where}[{index}]")
        ]
    return [] if real == ours else [f"{where}: {real!r} is {ours!r} here"]


@pytest.mark.parametrize("version", VERSIONS)
def test_a_job_is_written_as_recorded(version: int) -> None:
    """Each field that was recorded is there, in the same form and with the same value."""
    made = cluster()

    assert not differences(
        recorded(version)["job"], shapes.job_row(made.jobs[48213], made, version)
    )


@pytest.mark.parametrize("version", VERSIONS)
def test_a_node_is_written_as_recorded(version: int) -> None:
    """State, flags and reason have the form of the version."""
    made = cluster()
    ours = shapes.node_row(made.nodes["gpu-03"], made, version)

    assert not differences(recorded(version)["node"], ours)
    assert ours["reason"] == recorded(version)["node"]["reason"]


@pytest.mark.parametrize("version", VERSIONS)
def test_accounting_is_written_as_recorded(version: int) -> None:
    """The steps and their ids have the form of the version; how tasks were laid out is its own."""
    made = cluster()

    assert not differences(
        recorded(version)["accounted"], shapes.accounted_row(made.jobs[48213], made, version)
    )


def test_a_difference_is_seen() -> None:
    """A field that is missing, of another kind or of another value is one."""
    assert differences({"a": 1, "b": [1]}, {"b": [2]}) == [
        ".a is missing",
        ".b[0]: 1 is 2 here",
    ]
    assert differences({"a": 1}, {"a": {"set": True}}) == [".a: 1 is {'set': True} here"]
