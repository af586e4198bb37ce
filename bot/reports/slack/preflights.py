"""The reply of a pre-flight: how far it is, then who resolves whom."""

from __future__ import annotations

from datetime import datetime

from slack_sdk.models.blocks import Block

from bot.reports.slack import fitting
from bot.reports.slack.marking import notification
from bot.reports.slack.message import Message
from bot.reports.slack.parts import (
    Names,
    about,
    aged,
    header,
    line,
    lines,
    moment,
    person,
    quoted,
    share_bar,
    words,
)
from bot.reports.slack.values import Asking, Incident, Purpose, Told

#: Where nothing here knows how far it is: it is asked elsewhere, or who asked has been stopped.
_ELSEWHERE = "It goes on elsewhere. If nothing changes for minutes, press Pre-flight all VMs again."


def asking(incident: Incident, how: Asking | None, *, now: datetime) -> Message:
    """Return the reply of a pre-flight that is under way; None where it is not asked here."""
    name = Names(incident.revision)
    title = f"Pre-flight of {incident.job or 'all VMs'}"
    if how is None:
        said, rows = _ELSEWHERE, [line(_ELSEWHERE)]
    else:
        said = f"{how.done} of {how.total} machines" if how.total else "asking which machines"
        rows = [line(words(said, bold=True), f", {how.said}" if how.said else "")]
        if how.total:
            rows.append(line(share_bar(how.done, how.total)))
        began = ("Asked by ", person(how.by), " at ", aged(how.began_at, now))
        rows.append(line(*began))
    return fitting.message(
        blocks=[header(name("title"), title), lines(name("how-far"), *rows)],
        text=notification(f"{title}: {said}."),
        about=about(incident, Purpose.PREFLIGHT),
    )


def preflighted(incident: Incident, told: Told, *, now: datetime) -> Message:
    """Return the reply of a pre-flight that has ended: its headline, and the matrix in lines."""
    name = Names(incident.revision)
    title = f"Who resolves whom: {incident.job or 'all VMs'}"
    blocks: list[Block] = [
        header(name("title"), title),
        lines(name("headline"), line(words(told.headline, bold=True))),
    ]
    if told.rest:
        blocks.append(quoted(name("matrix"), told.rest))
    asked = ("Asked by ", person(told.by), ", answered at ", moment(told.at, now))
    blocks.append(lines(name("asked"), line(*asked)))
    return fitting.message(
        blocks=blocks,
        text=notification(f"{title}: {told.headline}"),
        about=about(incident, Purpose.PREFLIGHT),
    )
