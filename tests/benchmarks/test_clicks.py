"""The bench of clicks measures what it says, in a small form."""

from __future__ import annotations

import asyncio
from pathlib import Path

from tests.benchmarks.clicks import bookkeeping, clicked, inserted


def test_each_click_changes_its_card(tmp_path: Path) -> None:
    """Every second one approves, the others decline, and each is timed until the card changed."""
    took = asyncio.run(clicked(tmp_path, f"sqlite:///{tmp_path / 'bot.db'}", 4))
    assert {action: len(times) for action, times in took.items()} == {"approve": 2, "decline": 2}


def test_each_part_is_kept(tmp_path: Path) -> None:
    """As many parts as were asked for, and as many plain inserts to hold them against."""
    assert len(asyncio.run(bookkeeping(tmp_path, 5))) == 5
    assert len(inserted(tmp_path, 5)) == 5
