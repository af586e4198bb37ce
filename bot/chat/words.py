"""Sort out what a person wrote: a job, log lines, or one of the words that we know. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from bot.errors import BotError
from bot.reports.slack.reading import unescaped
from bot.schedulers import ids
from bot.schedulers.ids import Cluster

_FENCE = re.compile(r"^\s*```\w*\s*$|```")
_MENTION = re.compile(r"<@[UW][A-Z0-9]+(?:\|[^>]*)?>")
_CHECK = "check"
_PREFLIGHT = frozenset({"preflight", "pre-flight"})


class Kind(StrEnum):
    """What is asked for."""

    NOTHING = "nothing"
    HELP = "help"
    STATUS = "status"
    LINK = "link"
    PREFLIGHT = "preflight"
    PAUSE = "pause"
    RESUME = "resume"
    BREAK_GLASS = "break-glass"
    JOB = "job"
    LINES = "lines"
    #: one word that is none of these
    UNKNOWN = "unknown"


@dataclass(frozen=True, kw_only=True, slots=True)
class Words:
    """What a person's words come to."""

    kind: Kind
    #: the job, the lines, what to link to, why it is paused; for an unknown word why it is none
    text: str = ""


_PLAIN = {"help": Kind.HELP, "?": Kind.HELP, "status": Kind.STATUS}


_ON_ONE_LINE = frozenset({Kind.PAUSE, Kind.RESUME, Kind.BREAK_GLASS})


def sort_out(text: str, clusters: Sequence[Cluster]) -> Words:
    """Return what a person's words ask for; `text` is as they wrote it."""
    text = text.strip()
    if not text:
        return Words(kind=Kind.NOTHING)
    first, _, rest = text.partition(" ")
    if text.lower() in _PLAIN:
        return Words(kind=_PLAIN[text.lower()])
    word, on_one_line = first.lower(), "\n" not in text
    if (word == Kind.LINK and rest) or (word in _ON_ONE_LINE and on_one_line):
        return Words(kind=Kind(word), text=rest.strip())
    if first.lower() in _PREFLIGHT and len(rest.split()) <= 1:
        return Words(kind=Kind.PREFLIGHT, text=rest.strip())
    wanted = rest.strip() if first.lower() == _CHECK and rest else text
    try:
        ids.parse(wanted, clusters)
    except BotError as error:
        one_word = len(wanted.split()) == 1
        return Words(kind=Kind.UNKNOWN, text=str(error)) if one_word else _lines(text)
    return Words(kind=Kind.JOB, text=wanted)


def _lines(text: str) -> Words:
    return Words(kind=Kind.LINES, text=text)


def written(message: str) -> str:
    """Return what a person wrote in a message: without mentions, entities, links and fences.

    Slack marks up what looks like an address: `<http://node-3|node-3>`, `&lt;`. A slash command's
    text is not marked up.
    """
    bare = _MENTION.sub("", message)
    return _FENCE.sub("", unescaped(bare)).strip()
