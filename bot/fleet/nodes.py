"""Node lists as schedulers write them, in node order."""

from __future__ import annotations

from bot.errors import UsageError

#: More machines than any job has; a longer list is a typing error (`node-[0-9999999]`).
MOST_NODES = 20_000


def expand(text: str) -> tuple[str, ...]:
    """Return the machines of a node list (`gpu-[01-04,7],login1`) in node order.

    Every bracket form that ClusterShell's NodeSet takes. Raises UsageError where the text is no
    node list, is empty, or names more than `MOST_NODES` machines.
    """
    from ClusterShell.NodeSet import NodeSet, NodeSetException

    try:
        nodes = NodeSet(text, resolver=None)
    except NodeSetException as error:
        message = f"--nodes {text!r} is no node list: {error}. Write it as node-[0-31] or a1,a2."
        raise UsageError(message) from error
    if not nodes:
        message = "--nodes is empty. Write it as node-[0-31] or a1,a2."
        raise UsageError(message)
    if len(nodes) > MOST_NODES:
        message = f"--nodes {text!r} names {len(nodes)} machines; at most {MOST_NODES} are taken."
        raise UsageError(message)
    return tuple(nodes)


def block(text: str, ranks_per_node: int | None) -> tuple[tuple[str, ...], int | None]:
    """Return the machines of a job and how many ranks each has, filled one machine after the other.

    Raises UsageError as `expand` does, and for fewer than one rank a node.
    """
    if ranks_per_node is not None and ranks_per_node < 1:
        message = f"--ranks-per-node is {ranks_per_node}; it takes a number from 1 on, such as 8."
        raise UsageError(message)
    return expand(text), ranks_per_node
