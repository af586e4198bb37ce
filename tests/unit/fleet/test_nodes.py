"""Node lists, as schedulers write them."""

from __future__ import annotations

import pytest

from bot.errors import UsageError
from bot.fleet.nodes import MOST_NODES, block, expand


@pytest.mark.parametrize(
    ("text", "nodes"),
    [
        ("node-[0-3]", ("node-0", "node-1", "node-2", "node-3")),
        ("gpu-[01-03,07]", ("gpu-01", "gpu-02", "gpu-03", "gpu-07")),
        ("a1,b2", ("a1", "b2")),
        ("rack[1-2]-n[1-2]", ("rack1-n1", "rack1-n2", "rack2-n1", "rack2-n2")),
    ],
)
def test_every_bracket_form_expands(text: str, nodes: tuple[str, ...]) -> None:
    """Ranges, padding, lists and several brackets are taken as Slurm means them."""
    assert expand(text) == nodes


@pytest.mark.parametrize("text", ["", "node-[0-", "node-[3-1]", f"n[0-{MOST_NODES}]"])
def test_what_is_no_node_list_is_refused_with_a_sentence(text: str) -> None:
    """A person reads what to write instead."""
    with pytest.raises(UsageError, match="--nodes"):
        expand(text)


def test_ranks_per_node_is_a_positive_number() -> None:
    """No machine has fewer than one rank."""
    with pytest.raises(UsageError, match="--ranks-per-node"):
        block("node-[0-3]", 0)
