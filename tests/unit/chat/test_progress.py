"""What is said of the sources of a report while they are read."""

from __future__ import annotations

import pytest

from bot.chat.progress import Progress
from bot.reports.slack.values import Progress as How


def hows(progress: Progress) -> dict[str, How]:
    """Return how far each source is."""
    return {one.name: one.progress for one in progress.sources}


@pytest.mark.parametrize(
    ("level", "job", "logs", "named", "skipped"),
    [
        (0, False, True, False, {"scheduler", "machines", "probes"}),
        (1, True, False, False, {"probes"}),
        (2, True, False, False, set()),
        (2, False, True, False, {"scheduler", "probes"}),
        (3, False, False, True, {"scheduler", "log"}),
    ],
)
def test_what_will_not_be_asked_is_not_waited_for(
    level: int, job: bool, logs: bool, named: bool, skipped: set[str]  # noqa: FBT001 - a table's cells
) -> None:  # fmt: skip
    """From the first second on, and with the reason."""
    progress = Progress.of(level=level, job=job, logs=logs, named=named)
    found = {one.name for one in progress.sources if one.progress is How.SKIPPED}
    assert found == skipped
    assert all(one.said for one in progress.sources if one.progress is How.SKIPPED)


def test_each_source_goes_on() -> None:
    """One is read at a time; what was begun before is done, what was left out is skipped."""
    progress = Progress.of(level=2, job=True, logs=False, named=False)
    progress.tell("asking the scheduler for 48213")
    assert hows(progress)["scheduler"] is How.READING
    assert progress.changed.is_set()
    progress.tell("asking about 32 machines")
    assert hows(progress) == {
        "scheduler": How.DONE, "log": How.SKIPPED, "machines": How.READING, "probes": How.PENDING,
    }  # fmt: skip
    progress.tell("something that nobody has named")
    assert hows(progress)["machines"] is How.READING


def test_a_reason_stays() -> None:
    """What is known not to be asked is not said to have been left out for no reason."""
    progress = Progress.of(level=0, job=False, logs=True, named=False)
    progress.tell("reading the log")
    said = {one.name: one.said for one in progress.sources}
    assert said["scheduler"] == "not asked: no job is named"
