"""What systemd says of a unit, in words."""

from __future__ import annotations

import pytest

from bot.hosts.readings import Unit
from bot.hosts.units import stands


@pytest.mark.parametrize(
    ("active", "sub", "result", "wanted"),
    [
        ("failed", "failed", "signal", "has failed: killed by a signal"),
        ("failed", "failed", "core-dump", "has failed: it crashed and left a core dump"),
        (
            "failed", "failed", "start-limit-hit",
            "has failed: it crashed too often, and systemd has given up starting it",
        ),
        ("failed", "failed", "", "has failed"),
        ("inactive", "dead", "success", "is stopped"),
        (
            "activating", "auto-restart", "exit-code",
            "ends again and again, and systemd starts it anew: it ended with an error",
        ),
        ("new-state", "", "new-result", "is new-state: new-result"),
        ("x" * 99, "", "y" * 99, f"is {'x' * 40}…: {'y' * 40}…"),
    ],
)  # fmt: skip
def test_words(active: str, sub: str, result: str, wanted: str) -> None:
    """No word of systemd's own stands in a headline where people have one for it."""
    assert stands(Unit(active=active, sub=sub, result=result)) == wanted
