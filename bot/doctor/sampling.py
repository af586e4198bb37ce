"""Which machines stand for a partition: a few, spread over its list, that could answer. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from bot.schedulers.model import Node, NodeFlag

EACH = 3
#: Machines of one cluster, however many partitions it has.
MOST = 24
_BOTH_ENDS = 2

_AWAY = frozenset({NodeFlag.NOT_RESPONDING, NodeFlag.POWERED_DOWN, NodeFlag.FAIL})
_DOWN = frozenset({"DOWN", "UNKNOWN", "FUTURE"})


def spread(names: Sequence[str], count: int = EACH) -> tuple[str, ...]:
    """Return the first, the last and evenly between, in order."""
    if len(names) <= count:
        return tuple(names)
    if count < _BOTH_ENDS:
        return tuple(names[:count])
    last = len(names) - 1
    return tuple(names[round(at * last / (count - 1))] for at in range(count))


def sample(nodes: Iterable[Node]) -> tuple[str, ...]:
    """Return a few nodes of each partition that the scheduler believes to be up, each once.

    A node in several partitions stands for each of them.
    """
    partitions: dict[str, list[str]] = {}
    for node in nodes:
        if node.flags & _AWAY or node.state in _DOWN:
            continue
        for partition in node.partitions or ("",):
            partitions.setdefault(partition, []).append(node.name)
    chosen: dict[str, None] = {}
    for names in partitions.values():
        fresh = [name for name in names if name not in chosen]
        lacking = EACH - (len(names) - len(fresh))
        chosen |= dict.fromkeys(spread(fresh, max(lacking, 0)))
    return tuple(chosen)[:MOST]
