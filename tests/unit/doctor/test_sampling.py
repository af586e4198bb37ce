"""Prove which machines stand for their partition."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.doctor.sampling import EACH, MOST, sample, spread
from bot.schedulers.model import Node, NodeFlag


def node(name: str, *partitions: str, state: str = "IDLE", flag: NodeFlag | None = None) -> Node:
    """Return a node of these partitions."""
    return Node(
        name=name,
        cluster="hall",
        state=state,
        flags=frozenset({flag} if flag else ()),
        partitions=partitions,
    )


@pytest.mark.parametrize(
    ("count", "chosen"),
    [(0, ()), (1, (0,)), (3, (0, 1, 2)), (4, (0, 2, 3)), (256, (0, 128, 255))],
)
def test_the_ends_and_the_middle_are_taken(count: int, chosen: tuple[int, ...]) -> None:
    """Faults come by rack, and racks are numbered in order."""
    assert spread([str(one) for one in range(count)]) == tuple(map(str, chosen))


def test_each_partition_has_its_three() -> None:
    """A node in two of them stands for both."""
    nodes = [node(f"a{n}", "gpu", "all") for n in range(9)] + [
        node(f"b{n}", "cpu", "all") for n in range(9)
    ]

    assert sample(nodes) == ("a0", "a4", "a8", "b0", "b4", "b8")


def test_who_cannot_answer_is_not_asked() -> None:
    """A node that is known to be away says nothing of the set-up; a drained one can answer."""
    nodes = [
        node("away", "gpu", flag=NodeFlag.NOT_RESPONDING),
        node("down", "gpu", state="DOWN"),
        node("drained", "gpu", flag=NodeFlag.DRAIN),
        node("alone"),
    ]

    assert sample(nodes) == ("drained", "alone")


@given(
    st.lists(
        st.tuples(st.integers(0, 400), st.sets(st.sampled_from("pqrstuvwxyz"), max_size=3)),
        unique_by=lambda one: one[0],
    )
)
def test_a_sample_is_small_and_without_doubles(made: list[tuple[int, set[str]]]) -> None:
    """Whatever the partitions, each that has a node is stood for, up to the bound."""
    nodes = [node(f"n{number}", *sorted(partitions)) for number, partitions in made]

    chosen = sample(nodes)

    assert len(set(chosen)) == len(chosen) <= MOST
    if len(chosen) < MOST:
        for partition in {name for one in nodes for name in one.partitions}:
            members = {one.name for one in nodes if partition in one.partitions}
            assert len(members & set(chosen)) >= min(EACH, len(members))
