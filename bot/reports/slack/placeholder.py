"""What stands in the thread's parent from the first second on, edited as each source answers."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from slack_sdk.models.blocks import (
    Block,
    PlanBlock,
    RichTextBlock,
    RichTextSectionElement,
    TaskCardBlock,
)

from bot.reports import limits
from bot.reports.slack import cutting, escaping, fitting
from bot.reports.slack.marking import notification
from bot.reports.slack.message import Message
from bot.reports.slack.parts import Names, about, header, line, lines, moment, person, words
from bot.reports.slack.values import Incident, Progress, Purpose, Source

#: How each progress is shown: its sign, its word, and Slack's status of a task.
_SHOWN = {
    Progress.PENDING: ("○", "waits", "pending"),
    Progress.READING: ("…", "reading", "in_progress"),
    Progress.DONE: ("✓", "read", "complete"),
    Progress.FAILED: ("✗", "no answer", "error"),
    Progress.SKIPPED: ("–", "not asked", "complete"),
}
_OVER = frozenset({Progress.DONE, Progress.FAILED, Progress.SKIPPED})


def placeholder(
    incident: Incident, sources: Sequence[Source], *, now: datetime, cards: bool = False
) -> Message:
    """Return the parent of a thread while its sources are read.

    `cards` shows the sources as a plan of task cards, which older clients do not know.
    """
    name = Names(incident.revision)
    over = sum(one.progress in _OVER for one in sources)
    subject = incident.job or "a pasted log"
    title = f"Reading {subject}: {over} of {len(sources)} done"
    asked = line("Asked by ", person(incident.asked_by), " at ", moment(incident.asked_at, now))
    steps = _plan(name, title, sources) if cards else _steps(name, sources)
    said = (f"{one.name}: {_words(one)}." for one in sources)
    return fitting.message(
        blocks=[
            *(() if cards else (header(name("title"), title),)),
            steps,
            lines(name("by"), asked),
        ],
        text=notification(f"{title}.", *said),
        about=about(incident, Purpose.REPORT),
    )


def _words(one: Source) -> str:
    return one.said or _SHOWN[one.progress][1]


def _steps(name: Names, sources: Sequence[Source]) -> Block:
    rows = [
        line(f"{_SHOWN[one.progress][0]} ", words(f"{one.name}: ", bold=True), _words(one))
        for one in sources
    ]
    return lines(name("sources"), *(rows or [line("There is nothing to read.")]))


def _plan(name: Names, title: str, sources: Sequence[Source]) -> Block:
    tasks = [_task(number, one) for number, one in enumerate(sources, 1)]
    return PlanBlock(block_id=name("sources"), title=_title(title), tasks=tasks)


def _task(number: int, one: Source) -> TaskCardBlock:
    short = _title(one.name)
    said = _words(one) if short == escaping.plain_text(one.name) else f"{one.name}: {_words(one)}"
    return TaskCardBlock(
        task_id=str(number), title=short, status=_SHOWN[one.progress][2], output=_rich(said)
    )


def _title(text: str) -> str:
    """Cut a title of a plan or a task, for which no page names a limit, as a header is cut."""
    text, most = escaping.plain_text(text), limits.most("header.text")
    return text if limits.length(text) <= most else cutting.cut(text, most)


def _rich(text: str) -> RichTextBlock:
    return RichTextBlock(elements=[RichTextSectionElement(elements=[words(text)])])
