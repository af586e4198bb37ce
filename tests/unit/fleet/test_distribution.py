"""Tasks are dealt to nodes as Slurm deals them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.errors import PlacementError
from bot.fleet.distribution import (
    Distribution,
    Order,
    node_of_each_task,
    order_matters,
    parse_counts,
    parse_distribution,
)

BLOCK = Distribution(order=Order.BLOCK)
CYCLIC = Distribution(order=Order.CYCLIC)
COUNTS = st.lists(st.integers(0, 9), min_size=1, max_size=6)


def plane(size: int) -> Distribution:
    """Return a plane distribution."""
    return Distribution(order=Order.PLANE, plane_size=size)


@pytest.mark.parametrize(
    ("text", "counts"),
    [
        ("8", [8]),
        ("8(x31),4", [8] * 31 + [4]),
        ("2(x3),1", [2, 2, 2, 1]),
        ("1,2,1", [1, 2, 1]),
        (" 4(x2) ", [4, 4]),
    ],
)
def test_slurms_short_form_of_counts(text: str, counts: list[int]) -> None:
    """SLURM_TASKS_PER_NODE folds equal neighbours."""
    assert list(parse_counts(text)) == counts


@pytest.mark.parametrize("text", ["", "8x31", "8(31)", "8(x3", "-1", "8,,4", "9(x99999999)", "٨"])
def test_other_counts_are_refused(text: str) -> None:
    """A text that Slurm does not write is an error, however large its numbers."""
    with pytest.raises(PlacementError):
        parse_counts(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("block", BLOCK),
        ("*", BLOCK),
        ("block:cyclic", BLOCK),
        ("block:fcyclic:block,Pack", BLOCK),
        ("Block,NoPack", BLOCK),
        ("BCyclic", BLOCK),
        ("cyclic:block", CYCLIC),
        ("CCyclic", CYCLIC),
        ("plane=4", plane(4)),
        ("arbitrary", Distribution(order=Order.ARBITRARY)),
        ("Unknown", None),
        ("", None),
        ("plane", None),
    ],
)
def test_only_the_first_part_rules_the_nodes(text: str, expected: Distribution | None) -> None:
    """What stands after the first colon binds processors; an unknown rule stays unknown."""
    assert parse_distribution(text) == expected


def test_the_plane_size_may_come_from_the_environment() -> None:
    """SLURM_DIST_PLANESIZE completes a bare `plane`."""
    assert parse_distribution("plane", plane_size=2) == plane(2)


@pytest.mark.parametrize("text", ["random", "plane=0", "plane=x"])
def test_what_srun_does_not_take_is_refused(text: str) -> None:
    """A distribution that srun would refuse is not read as the default."""
    with pytest.raises(PlacementError):
        parse_distribution(text)


@pytest.mark.parametrize(
    ("counts", "distribution", "nodes"),
    [
        # srun(1): four tasks on three nodes
        ([2, 1, 1], BLOCK, "0 0 1 2"),
        ([2, 1, 1], CYCLIC, "0 1 2 0"),
        # the table in slurm_step_layout.c above _task_layout_cyclic
        ([4, 2, 4, 2], CYCLIC, "0 1 2 3 0 1 2 3 0 2 0 2"),
        # the table above _task_layout_plane: a short node is passed over
        ([4, 1, 1], plane(2), "0 0 1 2 0 0"),
        ([4, 4], plane(2), "0 0 1 1 0 0 1 1"),
        ([3, 3], plane(2), "0 0 1 1 0 1"),
        ([0, 2], CYCLIC, "1 1"),
        # seen with srun of Slurm 22.05, counts as in SLURM_STEP_TASKS_PER_NODE
        ([2, 2, 1], BLOCK, "0 0 1 1 2"),
        ([2, 2, 1], CYCLIC, "0 1 2 0 1"),
        ([2, 2, 1], plane(4), "0 0 1 1 2"),
        ([4, 4, 3, 3], CYCLIC, "0 1 2 3 0 1 2 3 0 1 2 3 0 1"),
        ([4, 4, 4, 2], plane(3), "0 0 0 1 1 1 2 2 2 3 3 0 1 2"),
        ([3, 3, 3, 2], plane(2), "0 0 1 1 2 2 3 3 0 1 2"),
    ],
)
def test_the_documented_examples(counts: list[int], distribution: Distribution, nodes: str) -> None:
    """What Slurm's manual and source draw, and what srun did, comes out task by task."""
    assert node_of_each_task(counts, distribution) == tuple(map(int, nodes.split()))


@given(COUNTS, st.sampled_from([BLOCK, CYCLIC, plane(1), plane(2), plane(5)]))
def test_every_node_gets_its_count(counts: list[int], distribution: Distribution) -> None:
    """Dealing changes the order of tasks, never how many a node has."""
    dealt = node_of_each_task(counts, distribution)

    assert [dealt.count(node) for node in range(len(counts))] == counts


@given(COUNTS)
def test_a_plane_of_one_is_cyclic_and_a_huge_one_is_block(counts: list[int]) -> None:
    """The plane size spans the two other rules."""
    assert node_of_each_task(counts, plane(1)) == node_of_each_task(counts, CYCLIC)
    assert node_of_each_task(counts, plane(99)) == node_of_each_task(counts, BLOCK)


@given(COUNTS)
def test_where_the_order_cannot_matter_all_rules_agree(counts: list[int]) -> None:
    """One node, or one task on each, looks the same under every rule."""
    same = node_of_each_task(counts, BLOCK) == node_of_each_task(counts, CYCLIC)

    assert order_matters(counts) or same


def test_arbitrary_follows_its_list_and_must_fit_the_counts() -> None:
    """The host file decides; one that gives a node other counts is from another step."""
    arbitrary = Distribution(order=Order.ARBITRARY)

    assert node_of_each_task([2, 1], arbitrary, [0, 1, 0]) == (0, 1, 0)
    with pytest.raises(PlacementError):
        node_of_each_task([1, 2], arbitrary, [0, 1, 0])
