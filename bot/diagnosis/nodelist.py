"""Lists of machines as schedulers write them (`gpu-[01-04,7]`)."""

from __future__ import annotations

MOST_HOSTS = 20_000


def expand(text: str) -> tuple[str, ...]:
    """Return the machines of a bracketed list, in its order; empty where it is none."""
    from ClusterShell.NodeSet import NodeSet, NodeSetException

    try:
        nodes = NodeSet(text, resolver=None)
        return tuple(nodes) if len(nodes) <= MOST_HOSTS else ()
    except NodeSetException:
        return ()
