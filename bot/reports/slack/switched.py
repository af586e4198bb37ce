"""What stops every step: the line on cards and tabs, and the reply that calls who may resume."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime

from bot.reports.slack import fitting
from bot.reports.slack.marking import notification
from bot.reports.slack.message import Message
from bot.reports.slack.parts import Line, Names, Piece, about, line, lines, moment, people, person
from bot.reports.slack.parts import words as said
from bot.reports.slack.values import Incident, Purpose, Stopped


def stopped_lines(stopped: Sequence[Stopped], now: datetime) -> Iterator[Line]:
    """Yield a line for each thing that stops steps now."""
    for one in stopped:
        yield line(
            said(f"{one.what} ", bold=True), *_by(one), "since ", moment(one.at, now), _why(one)
        )


def _by(one: Stopped) -> tuple[Piece, ...]:
    return ("by ", person(one.by), " ") if one.by else ()


def _why(one: Stopped) -> str:
    return f": {one.why.strip()}" if one.why.strip() else "."


def switched(
    incident: Incident,
    stopped: Stopped,
    *,
    may_resume: tuple[str, ...],
    command: str,
    now: datetime,
) -> Message:
    """Return the reply that says that steps are stopped, and by whom they can go on, or do."""
    name = Names(incident.revision)
    if stopped.over:
        rows = [
            line(
                said("Steps may go on. ", bold=True), *_by(stopped), "at ", moment(stopped.at, now)
            ),
            line(f"It was: {stopped.what.lower()}{_why(stopped)}"),
            line("What was not carried out in the meantime is not made up for: ask for it anew."),
        ]
    else:
        rows = [
            *stopped_lines((stopped,), now),
            line("No step that changes anything goes past its next boundary."),
            line(*people(may_resume), f": have a look, then {command} resume and why."),
        ]
    ask = "Steps may go on." if stopped.over else f"{stopped.what}{_why(stopped)}"
    called = () if stopped.over else may_resume
    return fitting.message(
        blocks=[lines(name("switched"), *rows)],
        text=notification(ask, mentioned=called),
        about=about(incident, Purpose.SWITCHED),
    )
