"""Prove which record an ID means."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from bot.schedulers.errors import AmbiguousJobError, UnknownJobError
from bot.schedulers.ids import parse
from bot.schedulers.model import Job, JobState, Step
from bot.schedulers.select import agreed_distribution, one_job

JOB = Job(id="48213", cluster="hall", state=JobState.RUNNING, raw_state="RUNNING")
TASKS = (
    replace(JOB, id="48216", array_job=48213, array_task=3),
    replace(JOB, id="48213", array_job=48213, array_task=7),
)
PARTS = (
    replace(JOB, id="48214", het_job=48213, het_offset=1),
    replace(JOB, id="48213", het_job=48213, het_offset=0),
)


def chosen(text: str, *jobs: Job) -> Job:
    """Return the job that a text means among these."""
    return one_job(jobs, parse(text), "hall")


def test_a_plain_job_is_its_number() -> None:
    """Steps do not change which job is meant."""
    assert chosen("48213", JOB, replace(JOB, id="1")) is JOB
    assert chosen("48213.0", JOB) is JOB


def test_a_task_has_two_names() -> None:
    """`48213_3` and its plain number 48216 mean the same record."""
    assert chosen("48213_3", *TASKS) is TASKS[0]
    assert chosen("48216", *TASKS) is TASKS[0]
    assert chosen("48213", TASKS[1]) is TASKS[1]


def test_an_array_of_many_tasks_is_named_in_short() -> None:
    """A thousand tasks make a sentence, not a page."""
    many = [replace(JOB, id=str(n), array_job=48213, array_task=n) for n in range(1000)]

    with pytest.raises(AmbiguousJobError, match=r"1000 tasks: 48213_0 .* and 995 more"):
        chosen("48213", *many)


def test_components_come_in_order() -> None:
    """The first component stands for the whole; another one can be asked for."""
    whole = chosen("48213", *PARTS)

    assert [part.label for part in whole.parts] == ["48213+0", "48213+1"]
    assert whole.id == "48213"
    assert chosen("48213+1", *PARTS).id == "48214"
    assert chosen("48213+1", *PARTS).parts == ()


@pytest.mark.parametrize("text", ["5", "48213_9", "48213+4"])
def test_what_is_not_listed_is_unknown(text: str) -> None:
    """The sentence names job and cluster."""
    with pytest.raises(UnknownJobError, match=f"hall lists no job {text.replace('+', '.')}"):
        chosen(text, *TASKS, *PARTS)


def test_the_latest_run_of_a_requeued_job_is_meant() -> None:
    """Accounting lists every run under one number."""
    old = replace(JOB, submitted_at=datetime(2026, 1, 1, tzinfo=UTC))
    new = replace(JOB, submitted_at=datetime(2026, 1, 2, tzinfo=UTC))

    assert chosen("48213", new, old) is new


def test_steps_that_differ_agree_on_nothing() -> None:
    """The batch step has no say."""
    batch = Step(id="batch", distribution="Block")
    first, second = Step(id="0", distribution="Cyclic"), Step(id="1", distribution="Block")

    assert agreed_distribution([batch, first]) == "Cyclic"
    assert agreed_distribution([first, second]) is None
    assert agreed_distribution([batch]) is None
