"""How an approved step goes and how it ended: lines of its card, and the reply with its proof."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime

from bot.reports.slack import fitting
from bot.reports.slack.marking import notification
from bot.reports.slack.message import Message
from bot.reports.slack.parts import (
    Line,
    Names,
    age,
    header,
    line,
    lines,
    moment,
    people,
    progress_bar,
    quoted,
    words,
)
from bot.reports.slack.values import MOVING, Proven, Purpose, Standing, Step

#: How a card or a reply is headed once a step has ended.
ENDED: Mapping[Standing, str] = {
    Standing.PASSED: "Done and proven:",
    Standing.FAILED: "It did not work:",
    Standing.UNKNOWN: "Not known how it went:",
    Standing.REFUSED: "Not done:",
    Standing.CANCELLED: "Stopped:",
}
_NOW: Mapping[Standing, str] = {
    Standing.WAITING: "waits",
    Standing.CHECKING: "looking again first",
    Standing.ACTING: "under way",
    Standing.VERIFYING: "being proven",
    Standing.PASSED: "done and proven",
    Standing.FAILED: "did not work",
    Standing.UNKNOWN: "not known how it went",
    Standing.REFUSED: "not done",
    Standing.CANCELLED: "stopped",
    Standing.LEFT_OUT: "left out",
}
#: Whose outcome needs a person.
_CALLS = frozenset({Standing.FAILED, Standing.UNKNOWN, Standing.REFUSED})


def carried(steps: Sequence[Step], now: datetime) -> Iterator[Line]:
    """Yield a line for each step of a chain: what it is, how far it is, and since when."""
    for one in steps:
        what = words(one.what.removesuffix("."), bold=True)
        yield line(what, f": {_NOW[one.state]}{_for(one, now)}")
        if one.said and one.state is not Standing.WAITING:
            yield line(one.said)
        if one.state in MOVING and one.done is not None:
            yield line(progress_bar(one.done, one.total or 0, one.unit))


def _for(one: Step, now: datetime) -> str:
    if one.began_at is None:
        return ""
    return f" ({age((one.ended_at or now) - one.began_at)})"


def proof(proven: Proven, *, mentioned: Sequence[str], now: datetime) -> Message:
    """Return the reply with a step's verdict on top and the outputs that prove it below.

    Those who are mentioned are pinged where the outcome needs a person.
    """
    name, step = Names(proven.revision), proven.step
    title = f"{ENDED.get(step.state, 'Ended:')} {proven.vm}"
    calls = tuple(mentioned) if step.state in _CALLS else ()
    said = [line(words(step.what, bold=True), _for(step, now)), line(step.said)]
    if step.ended_at:
        said.append(line("At ", moment(step.ended_at, now)))
    if calls:
        said.append(line(*people(calls), ": somebody has to look at this."))
    blocks = [header(name("title"), title), lines(name("verdict"), *said)]
    blocks += [
        quoted(name(f"output-{number}"), text or "(no output)", title=label)
        for number, (label, text) in enumerate(proven.outputs.items(), 1)
    ]
    return fitting.message(
        blocks=blocks,
        text=notification(f"{title}.", step.what, step.said, mentioned=calls),
        about={
            "incident": proven.incident, "run": proven.id, "purpose": Purpose.PROOF.value,
            "revision": proven.revision,
        },
    )  # fmt: skip
