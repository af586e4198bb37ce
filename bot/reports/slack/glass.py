"""What is posted to the audit channel where somebody approves a step alone."""

from __future__ import annotations

from datetime import datetime

from bot.reports.slack import fitting
from bot.reports.slack.marking import notification
from bot.reports.slack.message import Message
from bot.reports.slack.parts import Names, header, line, lines, moment, person, web, words
from bot.reports.slack.values import Approval, Link, Purpose


def glass(
    approval: Approval, *, by: str, why: str, at: datetime, permalink: str, now: datetime
) -> Message:
    """Return who approved what alone, when, and why in their words."""
    name = Names(approval.revision)
    title = f"Glass broken: {approval.vm}"
    thread = web(Link(label="Its thread", url=permalink))
    return fitting.message(
        blocks=[
            header(name("title"), title),
            lines(
                name("glass"),
                line(person(by), " approves alone, at ", moment(at, now), ":"),
                line(words(approval.what, bold=True), " VM: ", words(approval.vm, code=True)),
                line(words("Why: ", bold=True), why or "The words were forgotten for their age."),
                *([line(thread)] if thread is not None else []),
            ),
        ],
        text=notification(f"{title}.", approval.what, why),
        about={
            "incident": approval.incident,
            "approval": approval.id,
            "purpose": Purpose.GLASS.value,
            "revision": approval.revision,
        },
    )
