"""Node lists as schedulers write them, in the order in which they are written."""

from __future__ import annotations

import re
from itertools import product

from bot.errors import PlacementError, UsageError

#: More machines than any job has; a longer list is a typing error (`node-[0-9999999]`).
MOST_NODES = 20_000

#: Blanks and line ends separate names as commas do; round an operator they mean nothing.
_BLANKS = re.compile(r"\s+")
_ROUND_OPERATOR = re.compile(r"\s*([,!&^])\s*")
_OPERATORS = frozenset("!&^")
#: Commas inside brackets separate ranges instead.
_SEPARATOR = re.compile(r",+(?![^\[]*\])")
_BRACKETS = re.compile(r"\[([^\[\]]*)\]")
#: A range that ClusterShell writes out within a second; operators may leave few of it.
_MOST_WRITTEN = 1_000_000
#: `0-31` or, with a step, `0-31/2`
_RANGE = re.compile(r"(\d+)-(\d+)(?:/(\d+))?", re.ASCII)


def node_list(text: str) -> tuple[str, ...]:
    """Return the machines of a node list (`gpu-[01-04,7],login1`) as written, each once.

    The order is that of the text, since ranks follow it: Slurm lists nodes in the order of its
    configuration, so `b[1-2],a1` starts with `b1`. Set operators (`a[1-4]!a3`) have no written
    order; their result is in ClusterShell's. Raises PlacementError where the text is no node list,
    is empty, or names more than `MOST_NODES` machines.
    """
    from ClusterShell.NodeSet import NodeSet, NodeSetException

    text = _BLANKS.sub(",", _ROUND_OPERATOR.sub(r"\1", text.strip()))
    _refuse_endless(text)
    try:
        nodes = NodeSet(text, resolver=None)
    except NodeSetException as error:
        raise PlacementError(f"{text!r} is no node list: {error}.") from error
    if not nodes:
        raise PlacementError("the node list is empty.")
    if len(nodes) > MOST_NODES:
        message = f"{text!r} names {len(nodes)} machines; at most {MOST_NODES} are taken."
        raise PlacementError(message)
    if _OPERATORS.intersection(text):
        # spelling out the operands could take far more than the few machines of the result
        return tuple(nodes)
    names = set(nodes)
    written = _as_written(text)
    return written if set(written) == names else tuple(nodes)


def _refuse_endless(text: str) -> None:
    """Raise for a range that is too long by itself, before ClusterShell writes it out."""
    for inside in _BRACKETS.findall(text):
        for first, last, step in _RANGE.findall(inside):
            count = (int(last[:20]) - int(first[:20])) // max(int(step[:20] or 1), 1)
            if count >= _MOST_WRITTEN:
                shown = f"{text[:80]!r} has a range of {count} machines"
                raise PlacementError(f"{shown}; at most {MOST_NODES} are taken.")


def _as_written(text: str) -> tuple[str, ...]:
    """Spell out a list whose count is already known to be small."""
    names: list[str] = []
    for word in _SEPARATOR.split(text):
        pieces = _BRACKETS.split(word)
        # split() alternates what is outside brackets with what is inside
        numbers = [_numbers(inside) for inside in pieces[1::2]]
        for chosen in product(*numbers):
            name = "".join(a + b for a, b in zip(pieces[0::2], (*chosen, ""), strict=True))
            names.append(name)
    return tuple(dict.fromkeys(name for name in names if name))


def _numbers(inside: str) -> list[str]:
    from ClusterShell.RangeSet import RangeSet, RangeSetException

    try:
        return [
            str(number)
            for piece in inside.split(",")
            for number in RangeSet(piece.strip(), autostep=None)
        ]
    except RangeSetException:
        return []


def expand(text: str) -> tuple[str, ...]:
    """Return the machines of `--nodes`, as `node_list` does.

    Raises UsageError, which names the option.
    """
    try:
        return node_list(text)
    except PlacementError as error:
        message = f"--nodes: {error} Write it as node-[0-31] or a1,a2."
        raise UsageError(message) from error


def block(text: str, ranks_per_node: int | None) -> tuple[tuple[str, ...], int | None]:
    """Return the machines of a job and how many ranks each has, filled one machine after the other.

    Raises UsageError as `expand` does, and for fewer than one rank a node.
    """
    if ranks_per_node is not None and ranks_per_node < 1:
        message = f"--ranks-per-node is {ranks_per_node}; it takes a number from 1 on, such as 8."
        raise UsageError(message)
    return expand(text), ranks_per_node
