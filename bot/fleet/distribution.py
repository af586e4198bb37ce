"""How Slurm lays tasks over nodes: block, cyclic, plane and arbitrary."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from bot.errors import PlacementError

#: More tasks than any step has (Slurm's own limit is 2^22 a job, `MAX_TASKS_PER_NODE` 65,533).
MOST_TASKS = 1 << 20


class Order(StrEnum):
    """The rule by which consecutive tasks go to nodes (srun(1), `--distribution`)."""

    #: a node is filled before the next one
    BLOCK = "block"
    #: one task a node, round after round, nodes that are full left out
    CYCLIC = "cyclic"
    #: as cyclic, but so many tasks at a time
    PLANE = "plane"
    #: as a file lists the nodes, one line a task (`SLURM_HOSTFILE`)
    ARBITRARY = "arbitrary"


@dataclass(frozen=True, kw_only=True, slots=True)
class Distribution:
    """A rule, and what it needs beyond the number of tasks on each node."""

    order: Order
    #: tasks at a time, with `plane`
    plane_size: int = 1

    def __post_init__(self) -> None:
        """Refuse what Slurm refuses."""
        if self.plane_size < 1:
            raise PlacementError(f"a plane of {self.plane_size} tasks; it takes 1 or more.")


_FILLED = Distribution(order=Order.BLOCK)
_ROUND = Distribution(order=Order.CYCLIC)
_LISTED = Distribution(order=Order.ARBITRARY)
#: First parts of `--distribution` and SLURM_DISTRIBUTION, and the names that scontrol and the REST
#: interface give to the pairs (slurm_step_layout_type_name in Slurm's source), lower case.
_BY_NAME = {
    "*": _FILLED,
    "block": _FILLED,
    "bblock": _FILLED,
    "bcyclic": _FILLED,
    "bcfull": _FILLED,
    "bfcyclic": _FILLED,
    "cyclic": _ROUND,
    "cblock": _ROUND,
    "ccyclic": _ROUND,
    "ccfull": _ROUND,
    "cfcyclic": _ROUND,
    "arbitrary": _LISTED,
}
_PLANE = re.compile(r"plane(?:=(\d+))?", re.ASCII)


def parse_distribution(text: str, *, plane_size: int | None = None) -> Distribution | None:
    """Return the rule of `block:cyclic,Pack`, `plane=4`, `CCyclic`, …, or None where none is told.

    Only the part before the first colon rules where ranks are; the rest is about processors.
    `plane_size` is SLURM_DIST_PLANESIZE. Raises PlacementError for words that srun does not take.
    """
    first = re.split(r"[:,]", text.strip().lower(), maxsplit=1)[0]
    if first in {"", "unknown", "(null)", "none"}:
        return None
    if first in _BY_NAME:
        return _BY_NAME[first]
    if plane := _PLANE.fullmatch(first):
        size = int(plane[1]) if plane[1] else plane_size
        return None if size is None else Distribution(order=Order.PLANE, plane_size=size)
    message = f"{text!r} is no task distribution; Slurm has block, cyclic, plane=N and arbitrary."
    raise PlacementError(message)


_COUNT = re.compile(r"(\d+)(?:\(x(\d+)\))?", re.ASCII)


def parse_counts(text: str) -> tuple[int, ...]:
    """Return the tasks on each node of `8(x31),4`, in node order.

    The form is that of SLURM_TASKS_PER_NODE and SLURM_STEP_TASKS_PER_NODE (srun(1)). Raises
    PlacementError for anything else, and for more than `MOST_TASKS` tasks or nodes.
    """
    counts: list[int] = []
    for part in text.strip().split(","):
        found = _COUNT.fullmatch(part.strip())
        if found is None:
            message = f"{text!r} is no list of tasks per node; Slurm writes it as 8(x31),4."
            raise PlacementError(message)
        tasks, nodes = int(found[1]), int(found[2] or 1)
        if (tasks + 1) * nodes > MOST_TASKS:
            raise PlacementError(f"{text!r} stands for more tasks than a job can have.")
        counts += [tasks] * nodes
    return tuple(counts)


def node_of_each_task(
    counts: Sequence[int], distribution: Distribution, listed: Sequence[int] = ()
) -> tuple[int, ...]:
    """Return the index of the node of task 0, 1, … when the nodes have `counts` tasks.

    Source: srun(1) and `slurm_step_layout.c`: how many tasks a node gets is settled first, then
    tasks are dealt out, and a node that has all of its own is passed over. `listed` is the node
    of each line of the host file, with `arbitrary`. Raises PlacementError where that list and the
    counts disagree.
    """
    if distribution.order is Order.ARBITRARY:
        if [listed.count(node) for node in range(len(counts))] != list(counts):
            message = "the host file of the arbitrary distribution does not fit the tasks per node."
            raise PlacementError(message)
        return tuple(listed)
    if distribution.order is Order.BLOCK:
        return tuple(node for node, count in enumerate(counts) for _ in range(count))
    left, size, dealt = list(counts), distribution.plane_size, []
    while any(left):
        for node in range(len(left)):
            taken = min(size, left[node])
            dealt += [node] * taken
            left[node] -= taken
    return tuple(dealt)


def order_matters(counts: Sequence[int]) -> bool:
    """Tell whether block, cyclic and plane differ: not on one node, nor with one task on each."""
    return len(counts) > 1 and max(counts, default=0) > 1
