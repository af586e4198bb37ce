"""The load bench loses nothing and answers nothing twice, in a small form."""

from __future__ import annotations

import asyncio
from pathlib import Path

from tests.benchmarks.load import Mix, measured


def test_nothing_is_lost(tmp_path: Path) -> None:
    """Each command, click and file has one answer; acknowledgements and pauses are noted."""
    found = asyncio.run(
        measured(tmp_path, Mix(commands=4, clicks=4, files=2, within_s=1.0), incidents=20)
    )
    assert found.lost == []
    assert found.failed == []
    assert found.twice == 0
    assert len(found.reports_s) == 6
    assert len(found.acks_s) >= 10
    assert found.rss_bytes > 0
