"""The foot of a report: how old each reading is, who asked, what is missing, where to look."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from slack_sdk.models.blocks import Block

from bot.reports.slack.parts import Line, Names, Piece, aged, line, lines, moment, person, web
from bot.reports.slack.values import Incident, Link, Links
from bot.reports.times import log_time
from bot.triage.model import Checked
from bot.triage.services import ACTIONS_OFF

_LEVELS = ("paste", "look", "probe", "act")


def readings(checked: Checked, incident: Incident, now: datetime) -> Iterator[Line]:
    """Say how old what was read is, who asked, and what the bot could not look at."""
    probed = [each for each in checked.machines if each.probed is not None][:1]
    for one in probed:
        if one.probed is not None:
            yield line("Probed ", aged(one.probed.at, now))
    yield from _newest_line(checked, incident, now)
    yield line("Asked by ", person(incident.asked_by), " at ", moment(incident.asked_at, now))
    lacks = " ".join(one for one in checked.missing if one != ACTIONS_OFF)
    level = f"Level {checked.level} of 3 ({_LEVELS[checked.level]})"
    plans = "" if checked.level == len(_LEVELS) - 1 else ": steps are shown, not done"
    yield line(f"{level}{plans}.{f' Missing: {lacks}' if lacks else ''}")


def _newest_line(checked: Checked, incident: Incident, now: datetime) -> Iterator[Line]:
    if (at := incident.newest_line_at) is not None:
        yield line("Newest log line ", aged(at, now))
    elif checked.diagnosis is not None and checked.diagnosis.log.last_time:
        said = checked.diagnosis.log.last_time.replace("T", " ").partition(".")[0]
        at = log_time(checked.diagnosis.log.last_time, now)
        if at is None or at > now:
            yield line(f"Newest log line {said} by the log's own clock")
        else:
            yield line(
                f"Newest log line {said} by the log's own clock; if that is UTC, ", aged(at, now)
            )
    elif checked.diagnosis is not None:
        yield line("Newest log line: the log has no times")


def pointers(links: Links, name: Names) -> Iterator[Block]:
    """Return the links of a report; what is not a web address is left out."""
    console = Link(label="VM in the console", url=links.console)
    wanted = (console, Link(label="Job", url=links.job), *links.resources)
    made = [one for one in map(web, wanted) if one is not None]
    if made:
        between: list[Piece] = [made[0]]
        for one in made[1:]:
            between += (" · ", one)
        yield lines(name("links"), line(*between))
