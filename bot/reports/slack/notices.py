"""Short messages: help, errors, reasons, the link to a thread; most are seen by one person."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from slack_sdk.models.blocks import Block

from bot.reports.slack import fitting
from bot.reports.slack.marking import notification
from bot.reports.slack.message import Message
from bot.reports.slack.parts import (
    Names,
    about,
    actions,
    button,
    channel,
    header,
    line,
    lines,
    listed,
    person,
    web,
    words,
)
from bot.reports.slack.values import LABELS, Action, Incident, Link, Links, Purpose, Refusal

_ONCE = Names(1)


def _private(*blocks: Block, text: str) -> Message:
    return fitting.message(blocks=blocks, text=text, about={"purpose": Purpose.PRIVATE.value})


@dataclass(frozen=True, kw_only=True, slots=True)
class Problem:
    """What went wrong, for the person who asked."""

    #: a sentence each
    failed: str
    not_done: str
    next_step: str


def error(problem: Problem) -> Message:
    """Return what failed, what was not done, and what to do next."""
    return _private(
        lines(
            _ONCE("error"),
            line(words(problem.failed, bold=True)),
            line(problem.not_done),
            line(words("Next: ", bold=True), problem.next_step),
        ),
        text=notification(problem.failed, problem.not_done, problem.next_step),
    )


def refused(refusal: Refusal, links: Links | None = None) -> Message:
    """Return why a button does not do now what it says, and what is possible instead."""
    asked = refusal.action
    title = {
        Action.WHY_NO_RESTART: "Why no restart",
        Action.RESTART: "Restart is not possible now",
    }.get(asked, f"{LABELS.get(asked, asked.value)} is not possible now")
    reasons = refusal.reasons or ("Nothing that was read so far calls for it.",)
    instead = refusal.instead or "Probe again first."
    blocks = [
        listed(_ONCE("reasons"), map(line, reasons), title=f"{title}:"),
        lines(_ONCE("nothing"), line("Nothing was done. ", instead)),
    ]
    resources = [one for one in map(web, (links or Links()).resources) if one is not None]
    if resources:
        blocks.append(listed(_ONCE("resources"), map(line, resources)))
    return _private(*blocks, text=notification(f"{title}:", *reasons, "Nothing was done."))


def linked(incident: Incident) -> Message:
    """Return the card that stands in another channel: it links to the thread and has no controls.

    Buttons live in one place. Without an address of the thread its channel is named.
    """
    name = Names(incident.revision)
    already = f"{incident.job or 'This log'} is looked at already"
    blocks = [
        lines(
            name("link"),
            line(words(already, bold=True), ", in ", channel(incident.channel)),
            line(incident.headline or "It is being read."),
            line("Asked there by ", person(incident.asked_by), "."),
            line("The buttons are in that thread alone."),
        )
    ]
    if web(Link(label="", url=incident.permalink)) is not None:
        open_it = button(Action.OPEN_THREAD, incident.id, url=incident.permalink)
        blocks.append(actions(name("controls"), open_it))
    return fitting.message(
        blocks=blocks,
        text=notification(f"{already}.", incident.headline),
        about=about(incident, Purpose.LINK),
    )


def secret_found(counts: Mapping[str, int], permalink: str) -> Message:
    """Return the private word to whoever posted a secret: delete it there, and rotate it."""
    kinds = ", ".join(f"{kind} ({count})" for kind, count in sorted(counts.items()))
    where = web(Link(label="your message", url=permalink)) or "your message"
    return _private(
        lines(
            _ONCE("secret"),
            line(words("What you posted holds secrets: ", bold=True), kinds),
            line("1. Delete ", where, " or file: everybody in the channel can read it."),
            line("2. Rotate them: whoever read them can use them."),
            line("Reports and drafts of ours do not show them."),
        ),
        text=notification("What you posted holds secrets. Delete the message and rotate them."),
    )


def invite(command: str, bot: str) -> Message:
    """Return how to bring the bot into a channel in which it is no member."""
    return _private(
        lines(
            _ONCE("invite"),
            line("I am not a member of this channel, so I cannot post a report here."),
            line("Nothing was started. Invite me: ", words(f"/invite @{bot}", code=True)),
            line("Then try again: ", words(command, code=True)),
            line("In a direct message to me no invitation is needed."),
        ),
        text=notification("I am not a member of this channel. Invite me, then try again."),
    )


#: Ways in, as `usage → what it does`; `{command}` and `{bot}` are filled in.
_HELP: tuple[tuple[str, str], ...] = (
    ("{command}", "opens a form: paste, file, job ID or a recent failed job"),
    ("{command} 48213", "checks a job; slurm:48213 and k8s:ns/pytorchjob/name, too"),
    ("{command} check JOB", "the same"),
    ("{command} <pasted lines>", "diagnoses the lines"),
    ("{command} status", "what is open, and at which level I run"),
    ("{command} stats", "what was found so far, and how often"),
    ("{command} preflight JOB", "asks all its VMs who resolves whom, before or after it fails"),
    ("{command} link INCIDENT", "puts its card into this channel; a JOB or a URL does, too"),
    ("{command} pause WHY", "stops every step that changes anything at its next boundary"),
    ("{command} resume WHY", "an approver lets steps go on"),
    ("{command} help", "this list"),
    ("@{bot} …", "every one of them in a thread, where slash commands do not work"),
    ("⋯ Diagnose this log", "on any message: its text, snippet, file and thread"),
)
_WORKS_LATER = "stats"


def help_text(command: str, bot: str, *, with_stats: bool = False) -> Message:
    """Return what can be asked and how; `stats` is left out until it works."""
    shown = [
        (usage.format(command=command, bot=bot), does)
        for usage, does in _HELP
        if with_stats or _WORKS_LATER not in usage
    ]
    rows = [line(words(usage, code=True), f" {does}") for usage, does in shown]
    return _private(
        header(_ONCE("title"), "Which rank, which VM, and why"),
        listed(_ONCE("usage"), rows),
        lines(_ONCE("files"), *map(line, _FILES)),
        text=notification("Help:", *_spoken(shown)),
    )


_FILES = (
    "Logs up to 1 GB: share the file in a channel or with me and mention me, or use the shortcut.",
    "A file shared in an incident's thread adds to its evidence.",
)


def _spoken(rows: list[tuple[str, str]]) -> Iterator[str]:
    for usage, does in rows:
        yield f"{usage}: {does}."
