"""The reply that calls people again about a step that nobody has decided."""

from __future__ import annotations

from datetime import datetime

from bot.reports.slack import fitting
from bot.reports.slack.marking import notification
from bot.reports.slack.message import Message
from bot.reports.slack.parts import Names, age, line, lines, moment, people, words
from bot.reports.slack.values import Approval, Purpose


def escalated(
    approval: Approval, *, called: tuple[str, ...], number: int, now: datetime
) -> Message:
    """Return the call: what waits since when, and until when; it pings those who are called."""
    name = Names(approval.revision)
    who = list(people(called)) or ["Nobody may decide: name approvers in the settings"]
    waits = f"This waits for a decision for {age(now - approval.asked_at)}"
    return fitting.message(
        blocks=[
            lines(
                name("escalated"),
                line(*who, ": ", f"{waits}. " if called else ""),
                line(words(approval.what, bold=True), " VM: ", words(approval.vm, code=True)),
                line("Expires at ", moment(approval.expires_at, now), ". The card is above."),
            )
        ],
        text=notification(f"{waits}: {approval.what} VM {approval.vm}.", mentioned=called),
        about={
            "incident": approval.incident,
            "approval": approval.id,
            "purpose": Purpose.ESCALATED.value,
            "revision": number,
        },
    )
