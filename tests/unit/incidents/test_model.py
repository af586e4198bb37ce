"""Two looks at one run tell more than each of them."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.incidents.model import SeenJob

AT = datetime(2030, 1, 2, 3, 4, tzinfo=UTC)
BLANK = SeenJob(cluster="alpha", job_id="48213", first_seen=AT, last_seen=AT)
LATER = AT + timedelta(minutes=5)

LOOKS = st.builds(
    lambda minute, told: replace(
        BLANK,
        first_seen=AT + timedelta(minutes=minute),
        last_seen=AT + timedelta(minutes=minute),
        **told,
    ),
    st.integers(0, 9),
    st.fixed_dictionaries(
        {
            "state": st.none() | st.sampled_from(["PENDING", "RUNNING", "FAILED"]),
            "distribution": st.none() | st.sampled_from(["block", "cyclic"]),
            "exit_code": st.none() | st.integers(0, 2),
        }
    ),
)


def test_the_later_look_wins() -> None:
    """Whichever is merged into which."""
    running = replace(BLANK, state="RUNNING", nodes="node-[0-3]")
    failed = replace(BLANK, state="FAILED", first_seen=LATER, last_seen=LATER)

    assert running.merged(failed) == failed.merged(running)
    assert running.merged(failed).state == "FAILED"


@given(LOOKS, LOOKS)
def test_nothing_that_was_told_is_lost(one: SeenJob, other: SeenJob) -> None:
    """A field is unknown afterwards only when neither look told it."""
    merged = one.merged(other)

    for name in ("state", "distribution", "exit_code"):
        told = {getattr(one, name), getattr(other, name)} - {None}
        assert getattr(merged, name) in told if told else getattr(merged, name) is None
    assert merged.first_seen == min(one.first_seen, other.first_seen)
    assert merged.last_seen == max(one.last_seen, other.last_seen)


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ({}, {}, True),
        ({"submitted_at": AT}, {}, True),
        ({"submitted_at": AT}, {"submitted_at": AT, "restarts": 0}, True),
        ({"submitted_at": AT}, {"submitted_at": LATER}, False),
        ({"restarts": 0}, {"restarts": 1}, False),
        ({"state": "RUNNING"}, {"state": "FAILED"}, True),
    ],
)
def test_what_tells_runs_apart(
    one: dict[str, object], other: dict[str, object], *, same: bool
) -> None:
    """The submit time and the count of restarts, where both looks tell them."""
    looks = [replace(BLANK, **told) for told in (one, other)]  # type: ignore[arg-type]

    assert looks[0].same_run(looks[1]) is same


def test_a_time_without_a_zone_is_refused() -> None:
    """It would be read as another hour on another machine."""
    with pytest.raises(ValueError, match="ended_at of job 48213"):
        replace(BLANK, ended_at=datetime(2030, 1, 2))  # noqa: DTZ001
