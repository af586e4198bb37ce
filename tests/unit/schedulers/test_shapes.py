"""Prove that every version of Slurm's JSON says the same job, node and accounting record.

v0.0.38 is as a real slurmrestd 22.05 prints it; the others are written by the tables of Slurm's
sources, and v0.0.41 to v0.0.43 were checked against the specifications in its test suite.
"""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from bot.schedulers.model import DistributionFrom, JobState, KnownFrom, NodeFlag
from bot.schedulers.slurm import shapes

VERSIONS = range(38, 44)
NODES = ("gpu-01", "gpu-02", "gpu-03", "gpu-04")
ENDED = datetime(2026, 11, 30, 20, 46, 45, tzinfo=UTC)


def recorded(version: int) -> dict[str, dict[str, object]]:
    """Return the records of a version."""
    path = Path(__file__).parent / "shapes" / f"v0.0.{version}.json"
    found: dict[str, dict[str, object]] = json.loads(path.read_text())
    return found


@pytest.mark.parametrize("version", VERSIONS)
def test_a_job_reads_the_same_in_every_version(version: int) -> None:
    """Numbers as objects, states as lists, exit codes as structures: one job comes out."""
    job = shapes.job_of(recorded(version)["job"], "hall")

    assert (job.id, job.state, job.raw_state) == ("48213", JobState.FAILED, "FAILED")
    assert (job.exit_code, job.exit_signal) == (1, None)
    assert (job.nodes, job.ntasks, job.ntasks_per_node) == (NODES, 32, 8)
    assert (job.array_job, job.array_task, job.het_job, job.het_offset) == (None,) * 4
    assert (job.ended_at, job.restarts, job.batch) == (ENDED, 1, True)
    assert job.work_dir == "/home/ada/run"
    expanded = "48213" if version >= 43 else "%j"
    assert job.stdout == f"/home/ada/run/out-{expanded}.log"
    assert job.stderr == f"/home/ada/run/err-{expanded}.log"


@pytest.mark.parametrize("version", VERSIONS)
def test_a_job_without_a_node_text_has_the_nodes_of_its_resources(version: int) -> None:
    """v0.0.41 moved the list inside `job_resources`."""
    row = {**recorded(version)["job"], "nodes": ""}

    assert shapes.job_of(row, "hall").nodes == NODES


@pytest.mark.parametrize("version", VERSIONS)
def test_a_node_reads_the_same_in_every_version(version: int) -> None:
    """v0.0.38 keeps flags apart from the state, later ones list both."""
    node = shapes.node_of(recorded(version)["node"], "hall")

    assert (node.name, node.state, node.flags) == ("gpu-03", "IDLE", frozenset({NodeFlag.DRAIN}))
    assert (node.reason, node.reason_by) == ("RMA 4711", "bob")
    assert node.reason_at == datetime(2026, 11, 30, 20, 46, 40, tzinfo=UTC)
    assert (node.address, node.partitions, node.reservation) == ("10.0.0.3", ("gpu",), "")


@pytest.mark.parametrize("version", VERSIONS)
def test_accounting_tells_the_distribution_of_the_steps(version: int) -> None:
    """The step keeps how its tasks were laid out; the batch step has nothing to say."""
    job = shapes.accounted_job_of(recorded(version)["accounted"], "hall")

    assert (job.state, job.known_from) == (JobState.FAILED, KnownFrom.ACCOUNTING)
    assert [step.id for step in job.steps] == ["batch", "0"]
    assert (job.distribution, job.distribution_from) == ("Cyclic", DistributionFrom.STEP)
    assert (job.steps[1].nodes, job.steps[1].ntasks) == (NODES, 32)
    assert (job.nodes, job.ended_at) == (NODES, ENDED)
    assert job.exit_code == (1 if version >= 40 else None)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (5, 5),
        ("5", 5),
        ({"set": True, "infinite": False, "number": 5}, 5),
        ({"set": False, "infinite": False, "number": 0}, None),
        ({"set": True, "infinite": True, "number": 0}, None),
        (None, None),
        (True, None),
        ("x", None),
        (4294967294, None),
        (65534, None),
    ],
)
def test_numbers_in_every_form(value: object, expected: int | None) -> None:
    """Slurm's own words for "not set" are no numbers."""
    assert shapes.number(value) == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (256, (1, None)),
        (9, (0, 9)),
        ({"set": True, "number": 512}, (2, None)),
        ({"status": ["SIGNALED"], "return_code": {"set": False}, "signal": {"id": 9}}, (None, 9)),
        ({"status": "SIGNALED", "return_code": -127, "signal": {"signal_id": 15}}, (None, 15)),
        (None, (None, None)),
    ],
)
def test_exit_codes_in_every_form(value: object, expected: tuple[int | None, int | None]) -> None:
    """A wait status is taken apart as wait(2) says."""
    assert shapes.exit_of(value) == expected


def test_errors_are_read_in_both_spellings() -> None:
    """22.05 says `errno` for nodes and `error_number` for jobs."""
    answer = {
        "errors": [
            {"error": "Invalid node name specified", "errno": 2018},
            {"description": "Unable to find JobId=9", "error_number": 2017, "error": "Invalid"},
        ]
    }

    assert shapes.errors(answer) == (
        "Invalid node name specified (2018)",
        "Invalid: Unable to find JobId=9 (2017)",
    )


def test_a_running_job_has_no_end() -> None:
    """The end that Slurm gives for it is its time limit's."""
    row = {**recorded(38)["job"], "job_state": "RUNNING"}

    assert shapes.job_of(row, "hall").ended_at is None
