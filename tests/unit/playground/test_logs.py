"""Prove that the logs which the playground writes are taken for what they stand for."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

import pytest

from bot.diagnosis import Diagnosis, Launch, diagnose, of_bytes
from bot.diagnosis.kinds import Cause
from playground.fleet.build import make
from playground.fleet.faults import break_
from playground.fleet.logs import Run, Written, written
from playground.fleet.machine import Network
from playground.fleet.torch import TORCH

NODES = ("node-0", "node-1", "node-2", "node-3")
BEGAN = datetime(2026, 1, 4, 9, 5, 7, tzinfo=UTC)

#: fault → cause, and whether the log names the machine that it hits
TOLD = {
    "resolver-failed": (Cause.RESOLVER_FAILED, True),
    "resolver-hung": (Cause.RENDEZVOUS_TIMEOUT, True),
    "upstream-dead": (Cause.NAME_NOT_FOUND, False),
    "search-domain-lost": (Cause.RESOLVER_FAILED, True),
    "port-blocked": (Cause.PEER_UNREACHABLE, True),
    "host-silent": (Cause.RENDEZVOUS_TIMEOUT, True),
}


def run(torch: str = "2.13", after: timedelta = timedelta(hours=1)) -> Run:
    """Return a run of four machines with two ranks each."""
    return Run(
        number=7, nodes=NODES, ranks_per_node=2, started=BEGAN, now=BEGAN + after,
        master="node-0", port=29500, torch=torch,
    )  # fmt: skip


def verdict(left: Written) -> Diagnosis:
    """Return what the product makes of a log."""
    return diagnose(
        [of_bytes(left.stderr.encode(), "job.err")], launch=Launch(hosts=NODES, ranks_per_node=2)
    )


def broken(fault: str, name: str = "node-2") -> Network:
    """Return a network with a fault on one machine."""
    network = make(len(NODES), ranks=2)
    break_(network, fault, name)
    return network


@pytest.mark.parametrize("torch", sorted(TORCH))
@pytest.mark.parametrize("fault", sorted(TOLD))
def test_each_version_is_understood(fault: str, torch: str) -> None:
    """Whatever the version's prefix and wording, the cause and the machine are found."""
    cause, named = TOLD[fault]
    left = written(run(torch), broken(fault))

    found = verdict(left)

    assert found.cause is cause
    assert [(one.host, one.ranks) for one in found.affected] == (
        [("node-2", (4, 5))] if named else []
    )


@pytest.mark.parametrize("torch", sorted(TORCH))
def test_the_prefix_is_that_of_the_version(torch: str) -> None:
    """From 2.4 on the time stands in it, month and day without padding: `104` is 4 January."""
    lines = written(run(torch), broken("resolver-failed")).stderr.splitlines()
    first = next(line for line in lines if "cannot be retrieved" in line)
    stamp = "" if torch == "2.3" else r"104 09:05:0\d\.\d{9}"
    place = f" socket.cpp:{TORCH[torch].lookup}"

    assert re.match(rf"[45]: \[W{stamp}{place}\] \[c10d\] The IPv6 network addresses of", first)


def test_only_those_who_came_are_counted() -> None:
    """The first rank says how many of all ranks joined, itself among them."""
    assert "6/8 clients joined." in written(run(), broken("resolver-hung")).stderr


def test_a_master_that_cannot_look_up_its_own_name_takes_the_store_along() -> None:
    """It logs failing look-ups like any other, and does not count who joined."""
    left = written(run(), broken("resolver-failed", "node-0"))

    assert "0: [W" in left.stderr
    assert "clients joined" not in left.stderr
    assert [one.host for one in verdict(left).affected] == ["node-0"]


def test_what_has_not_happened_yet_is_not_written() -> None:
    """A later look at the same run has the earlier one as its beginning."""
    network = broken("resolver-failed")
    early = written(run(after=timedelta(minutes=1)), network)
    late = written(run(after=timedelta(minutes=2)), network)

    assert (early.state, early.ended) == ("RUNNING", None)
    assert 0 < len(early.stderr) < len(late.stderr)
    assert late.stderr.startswith(early.stderr)


def test_labels_are_as_wide_as_the_widest_rank() -> None:
    """`srun --label` puts blanks before the numbers of a large job."""
    nodes = [f"node-{number}" for number in range(32)]
    network = make(32)
    break_(network, "resolver-failed", "node-8")
    large = Run(
        number=7, nodes=nodes, ranks_per_node=8, started=BEGAN, now=BEGAN + timedelta(hours=1),
        master="node-0", port=29500,
    )  # fmt: skip

    left = written(large, network)

    assert "\n 64: [W" in left.stderr
    assert "\n100: [W" in left.stderr
    assert left.stdout.startswith("  0: ")
