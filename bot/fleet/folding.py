"""Write many machine names in few words."""

from __future__ import annotations

from collections.abc import Iterable

_AS_THEY_ARE = 2


def folded(names: Iterable[str]) -> str:
    """Return names as a node list, such as `node-[0-7,9-31]`; each once, in ClusterShell's order.

    Names that no node list can hold are written out, separated by commas.
    """
    listed = list(dict.fromkeys(names))
    if len(listed) <= _AS_THEY_ARE:
        return ", ".join(listed)
    from ClusterShell.NodeSet import NodeSet, NodeSetException

    try:
        return str(NodeSet.fromlist(listed, resolver=None))
    except NodeSetException:
        return ", ".join(listed)
