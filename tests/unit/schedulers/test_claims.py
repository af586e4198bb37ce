"""Prove who has a claim on a node."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bot.schedulers.claims import (
    is_ours,
    our_reason,
    refusal_to_drain,
    refusal_to_resume,
)
from bot.schedulers.model import Node, NodeFlag

NODE = Node(name="gpu-03", cluster="hall", state="IDLE", raw_state="IDLE")


def drained(reason: str, *flags: NodeFlag) -> Node:
    """Return the node with a drain on it."""
    return replace(NODE, flags=frozenset({NodeFlag.DRAIN, *flags}), reason=reason)


@pytest.mark.parametrize(
    "node",
    [
        NODE,
        replace(NODE, state="ALLOCATED"),
        replace(NODE, state="DOWN", reason="Not responding"),
        replace(NODE, state="DOWN", reason="Node unexpectedly rebooted"),
        drained("nccl-dns: x (was IDLE)"),
    ],
)
def test_nobody_else_claims_it(node: Node) -> None:
    """A free, a busy and a silent node may be drained, and one that we drained is ours already."""
    assert refusal_to_drain(node) == ""


@pytest.mark.parametrize(
    ("node", "quoted"),
    [
        (drained("RMA 4711"), "RMA 4711"),
        (drained(""), "no reason given"),
        (drained("nccl-dns-test: not our form"), "nccl-dns-test"),
        (replace(NODE, state="DOWN", reason="fan replaced"), "fan replaced"),
        (replace(NODE, flags=frozenset({NodeFlag.FAIL}), reason="ECC"), "ECC"),
        (replace(NODE, reservation="maint-7"), "maint-7"),
        (replace(NODE, flags=frozenset({NodeFlag.RESERVED})), "reservation"),
        (replace(NODE, flags=frozenset({NodeFlag.REBOOT}), reason="kernel"), "kernel"),
        (drained("nccl-dns: x (was IDLE)", NodeFlag.REBOOT), "rebooted"),
    ],
)
def test_somebody_elses_claim_is_quoted(node: Node, quoted: str) -> None:
    """Drains, reservations, reboots and nodes set down by hand are left alone."""
    assert quoted in refusal_to_drain(node)


def test_only_our_own_drain_is_undone() -> None:
    """The exact reason counts where it is given; a reboot that was asked for since stops it."""
    ours = drained("nccl-dns: incident 7 (was IDLE)")

    assert refusal_to_resume(ours, None) == ""
    assert refusal_to_resume(ours, ours.reason) == ""
    assert "incident 7" in refusal_to_resume(ours, "nccl-dns: incident 8 (was IDLE)")
    assert "not drained" in refusal_to_resume(NODE, None)
    assert "rebooted" in refusal_to_resume(drained(ours.reason, NodeFlag.REBOOT), None)


@pytest.mark.parametrize("why", ["x", "", "a\nb\tc", "é" * 50, "long " * 100, "'; reboot"])
def test_our_reason_is_one_line_that_is_known_again(why: str) -> None:
    """Whatever the words, it is short, printable ASCII, names us and ends with the state."""
    reason = our_reason(why, replace(NODE, raw_state="MIXED+PLANNED"))

    assert len(reason) <= 200
    assert reason.isascii()
    assert reason.isprintable()
    assert reason.startswith("nccl-dns: ")
    assert reason.endswith(" (was MIXED+PLANNED)")
    assert is_ours(drained(reason))
