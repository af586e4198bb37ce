"""What the times of logs come to."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest

from bot.reports.times import has_zone, log_time

NOW = datetime(2026, 1, 2, 0, 10, tzinfo=UTC)


@pytest.mark.parametrize(
    ("told", "zone", "wanted"),
    [
        ("2026-01-01T10:00:00.123456789Z", True, datetime(2026, 1, 1, 10, 0, 0, 123456, UTC)),
        (
            "2026-01-01T10:00:00+02:00", True,
            datetime(2026, 1, 1, 10, tzinfo=timezone(timedelta(hours=2))),
        ),
        ("2026-01-01T10:00:00", False, datetime(2026, 1, 1, 10, tzinfo=UTC)),
        ("01-02T00:09:00", False, datetime(2026, 1, 2, 0, 9, tzinfo=UTC)),
        ("12-31T23:59:58", False, datetime(2025, 12, 31, 23, 59, 58, tzinfo=UTC)),
        ("03:10:07.5", False, datetime(2026, 1, 2, 3, 10, 7, 500000, UTC)),
        ("23:59:00", False, datetime(2026, 1, 1, 23, 59, tzinfo=UTC)),
        ("02-29T10:00:00", False, None),
        ("yesterday", False, None),
    ],
)  # fmt: skip
def test_times(told: str, zone: bool, wanted: datetime | None) -> None:  # noqa: FBT001 - a table's cell
    """A missing year or day is the last one; what is no time is none."""
    assert has_zone(told) is zone
    assert log_time(told, NOW) == wanted
