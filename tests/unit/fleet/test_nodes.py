"""Node lists are read in every bracket form, in the order in which they are written."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.errors import PlacementError, UsageError
from bot.fleet.nodes import MOST_NODES, block, expand, node_list


@pytest.mark.parametrize(
    ("text", "nodes"),
    [
        ("node-3", "node-3"),
        ("node-[0-3]", "node-0 node-1 node-2 node-3"),
        ("gpu-[08-11]", "gpu-08 gpu-09 gpu-10 gpu-11"),
        ("gpu-[01-02,7],login1", "gpu-01 gpu-02 gpu-7 login1"),
        ("r[1-2]n[1,3]", "r1n1 r1n3 r2n1 r2n3"),
        ("rack[1-2]-n[1-2]", "rack1-n1 rack1-n2 rack2-n1 rack2-n2"),
        ("r[1-2]n[1-2]-ib", "r1n1-ib r1n2-ib r2n1-ib r2n2-ib"),
        ("a[0-6/2]", "a0 a2 a4 a6"),
        ("a1 a2\na3", "a1 a2 a3"),
        ("node-[0-1].example.com", "node-0.example.com node-1.example.com"),
    ],
)
def test_every_bracket_form_is_spelled_out(text: str, nodes: str) -> None:
    """Ranges, padding, steps, several dimensions and suffixes all give plain names."""
    assert node_list(text) == tuple(nodes.split())


@pytest.mark.parametrize(
    ("text", "nodes"),
    [
        ("b[1-2],a1", "b1 b2 a1"),
        ("n[5,1-2]", "n5 n1 n2"),
        ("r2n[1-2],r1n[1-2]", "r2n1 r2n2 r1n1 r1n2"),
    ],
)
def test_the_written_order_is_kept(text: str, nodes: str) -> None:
    """Ranks follow Slurm's order, which is that of its configuration and not the alphabet's."""
    assert node_list(text) == tuple(nodes.split())


def test_a_node_named_twice_counts_once() -> None:
    """A node list is a set with an order."""
    assert node_list("a2,a[1-3]") == ("a2", "a1", "a3")


def test_set_operators_are_taken() -> None:
    """People write node sets as ClusterShell does; excluding one node works."""
    assert node_list("a[1-4] ! a3") == ("a1", "a2", "a4")


@given(st.lists(st.integers(0, 999), min_size=1, max_size=12, unique=True))
def test_any_list_of_numbers_comes_back(numbers: list[int]) -> None:
    """What is bracketed comes back number by number, whatever the order."""
    text = f"node-[{','.join(map(str, numbers))}]"

    assert node_list(text) == tuple(f"node-{number}" for number in numbers)


@pytest.mark.parametrize("text", ["", "node-[1-", "node-[2-1]", "a[1]]", f"n[0-{MOST_NODES}]"])
def test_what_is_no_node_list_is_refused(text: str) -> None:
    """A broken, empty or monstrous list is an error with a sentence, not an odd result."""
    with pytest.raises(PlacementError):
        node_list(text)


@pytest.mark.parametrize("text", ["", "node-[1-"])
def test_the_command_line_names_its_option(text: str) -> None:
    """The same error on the command line says which option is wrong and how to write it."""
    with pytest.raises(UsageError, match=r"--nodes.*node-\[0-31\]"):
        expand(text)


def test_a_block_needs_at_least_one_rank_a_node() -> None:
    """Zero ranks a node is a typing error."""
    with pytest.raises(UsageError, match="--ranks-per-node"):
        block("a1", 0)

    assert block("a[1-2]", 8) == (("a1", "a2"), 8)


def test_operators_are_never_spelled_out() -> None:
    """Few machines may be left of operands that would fill the memory."""
    assert len(expand("a[1-200000]!a[1-199998]")) == 2


@pytest.mark.parametrize(
    "text",
    ["n[0-99999999]", "n[0-999999999999]", "a,n[1-3,7-88888888]", "n[0-9999999]!n[1-9999999]"],
)
def test_an_endless_range_is_refused_before_it_is_written_out(text: str) -> None:
    """A typing error must not keep a person waiting for minutes."""
    with pytest.raises(PlacementError, match="at most 20000 are taken"):
        node_list(text)


def test_a_long_range_with_a_step_is_as_long_as_it_is() -> None:
    """What counts is how many machines it names."""
    assert len(node_list("n[0-1000000/100000]")) == 11
