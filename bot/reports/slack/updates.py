"""Short messages about how things go: what is open, what new evidence changed, what failed."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from bot.reports.slack import fitting
from bot.reports.slack.marking import notification
from bot.reports.slack.message import Message
from bot.reports.slack.parts import (
    Names,
    about,
    age,
    header,
    line,
    lines,
    listed,
    person,
    web,
    words,
)
from bot.reports.slack.switched import stopped_lines
from bot.reports.slack.values import Incident, Link, Purpose, Stopped

_ONCE = Names(1)


def status(
    opened: Sequence[Incident],
    *,
    level: str,
    missing: Sequence[str],
    stopped: Sequence[Stopped] = (),
    now: datetime,
) -> Message:
    """Return what is open, the newest first, and at which level the bot runs; for one person."""
    held = list(stopped_lines(stopped, now))
    rows = [
        line(
            words(one.job or "pasted log", bold=True),
            f" {one.headline or 'It is being read.'} ({age(now - one.asked_at)} ago) ",
            web(Link(label="thread", url=one.permalink)) or "",
        )
        for one in opened
    ]
    blocks = [
        *([lines(_ONCE("stopped"), *held)] if held else []),
        header(_ONCE("title"), f"Open: {len(opened)}"),
        listed(_ONCE("open"), rows) if rows else lines(_ONCE("open"), line("Nothing is open.")),
        lines(_ONCE("level"), line(words("Level: ", bold=True), level)),
        *([listed(_ONCE("missing"), map(line, missing), title="Missing:")] if missing else []),
    ]
    return fitting.message(
        blocks=blocks,
        text=notification(
            f"{len(opened)} open. Level: {level}.", *(f"{one.what}." for one in stopped)
        ),
        about={"purpose": Purpose.PRIVATE.value},
    )


def revised(incident: Incident, *, by: str, added: str, before: str, after: str) -> Message:
    """Return the reply that says what new evidence has changed of the verdict."""
    name = Names(incident.revision)
    same = before == after
    verdict = "The verdict stays: " if same else "The verdict is now: "
    rows = [line(person(by), " added ", words(added, code=True)), line(verdict, after)]
    if not same:
        rows.append(line("It was: ", before))
    return fitting.message(
        blocks=[lines(name("revised"), *rows)],
        text=notification(f"New evidence. {verdict}{after}"),
        about=about(incident, Purpose.EVIDENCE),
    )


def unread(incident: Incident, why: str) -> Message:
    """Return the parent of an incident that came to nothing: why, and what to do next."""
    name = Names(incident.revision)
    what = incident.job or "The log"
    return fitting.message(
        blocks=[
            header(name("title"), f"{what} was not checked"),
            lines(name("why"), line(why), line("Nothing was done to any machine.")),
        ],
        text=notification(f"{what} was not checked: {why}"),
        about=about(incident, Purpose.REPORT),
    )
