"""Who has a claim on a node, and what follows for draining and resuming it. Pure."""

from __future__ import annotations

import re

from bot.schedulers.model import Node, NodeFlag

#: What every reason of ours begins with.
OWNER = "nccl-dns"
#: Slurm keeps longer reasons, but its commands show no more.
_MOST_REASON = 200

#: Reasons that slurmctld sets by itself on a node that went DOWN (`node_mgr.c`, `ping_nodes.c`):
#: nobody claims such a node.
_OF_THE_CONTROLLER = frozenset({"not responding", "node unexpectedly rebooted", "none", ""})


def our_reason(why: str, before: Node) -> str:
    """Return the reason for a drain of ours: who, why, and the state that it found."""
    # one line of plain ASCII: it is shown in columns and is a single word of a command
    words = " ".join(re.sub(r"[^ -~]", " ", why).split()) or "taken out of service"
    was = f" (was {before.raw_state or before.state})"
    room = _MOST_REASON - len(OWNER) - 2 - len(was)
    return f"{OWNER}: {words[:room].rstrip()}{was}"


def is_ours(node: Node) -> bool:
    """Tell whether the node is drained and the reason on it is of our making."""
    return node.drained and node.reason.startswith(f"{OWNER}: ")


def refusal_to_drain(node: Node) -> str:
    """Say who else has a claim on the node, quoting it; empty where nobody has.

    A claim is a drain that is not ours, a reservation, a reboot that somebody asked for, and a
    node that a person set DOWN with a reason.
    """
    if NodeFlag.REBOOT in node.flags:
        return f"Somebody wants node {node.name} rebooted: {node.claim}."
    if node.reservation or node.flags & {NodeFlag.RESERVED, NodeFlag.MAINTENANCE}:
        named = f" {node.reservation!r}" if node.reservation else ""
        return f"Node {node.name} is in a reservation{named} ({node.raw_state})."
    if node.drained and not is_ours(node):
        return f"Node {node.name} is drained already: {node.claim}."
    if node.flags & {NodeFlag.FAIL} and not is_ours(node):
        return f"Node {node.name} is marked as failing: {node.claim}."
    if node.state == "DOWN" and node.reason.lower() not in _OF_THE_CONTROLLER:
        return "" if is_ours(node) else f"Node {node.name} was set down: {node.claim}."
    return ""


def refusal_to_resume(node: Node, reason: str | None) -> str:
    """Say why the node's drain is not ours to undo; empty where it is.

    `reason` is the one that our drain wrote; without it any drain of ours fits.
    """
    if not node.drained:
        return f"Node {node.name} is not drained (it is {node.raw_state or node.state})."
    if not is_ours(node) or (reason is not None and node.reason != reason):
        return f"The drain of node {node.name} is not the one we made: {node.claim}."
    if NodeFlag.REBOOT in node.flags:
        return f"Somebody wants node {node.name} rebooted: {node.claim}."
    return ""
