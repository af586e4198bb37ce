"""Who asks, where, and how they are answered privately."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class Asker:
    """A person at a place in Slack."""

    user: str
    team: str
    channel: str
    #: thread that the answer goes into; empty for the channel itself
    thread: str = ""
    #: good for half an hour and five answers, also where the bot is no member
    response_url: str = ""
    #: opens a form, within three seconds
    trigger: str = ""
    #: what they wrote, to be tried again
    wrote: str = ""
