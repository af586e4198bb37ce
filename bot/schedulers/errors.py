"""Errors of the scheduler; each message says what failed, what was not done and what to do next.

SchedulerError
├── JobIdError                 the text is no job ID that any scheduler here writes
├── UnknownClusterError        a cluster that the settings do not name, or none at all
├── AmbiguousJobError          an ID that means more than one job
├── UnknownJobError            the scheduler never gave that number out, or has no such job
├── PurgedJobError             the scheduler has forgotten the job and keeps no accounting
├── UnknownNodeError           no such node
├── NodeHeldError              somebody else drained, reserved or wants to reboot the node
├── NotOursError               the drain to be undone is not the one that we made
├── NeedsWayError              no configured way to the scheduler can do this
├── AccessError                the scheduler knows us but refuses, or refuses the credentials
├── RequestRefusedError        the scheduler understood the request and refuses it
├── SchedulerUnavailableError  no connection, a time-out, or the controller is down
└── UnreadableAnswerError      the answer has none of the known shapes
"""

from __future__ import annotations

from bot.errors import BotError, InputError


class SchedulerError(BotError):
    """Base of everything that can go wrong between us and a scheduler."""

    #: the same request may succeed a little later
    transient = False


class JobIdError(SchedulerError, InputError):
    """The text is no job ID; the message says which forms are."""


class UnknownClusterError(SchedulerError, InputError):
    """The named cluster is not in the settings, so nobody was asked."""


class AmbiguousJobError(SchedulerError, InputError):
    """The ID means several jobs; the message lists them and nothing was picked."""


class UnknownJobError(SchedulerError):
    """The scheduler has no job of this ID and never had one, as far as it tells."""


class PurgedJobError(SchedulerError):
    """The scheduler has forgotten the job, and no accounting is there to ask."""


class UnknownNodeError(SchedulerError):
    """The scheduler has no such node."""


class NodeHeldError(SchedulerError):
    """Somebody else has a claim on the node; the message quotes it and nothing was changed."""


class NotOursError(SchedulerError):
    """The node is drained for another reason than ours, or not at all; it was left as it is."""


class NeedsWayError(SchedulerError):
    """None of the configured ways can do this; the message names the one that could."""


class AccessError(SchedulerError):
    """The scheduler refuses the user or the credentials."""


class RequestRefusedError(SchedulerError):
    """The scheduler refuses what was asked, in its own words."""


class SchedulerUnavailableError(SchedulerError):
    """The scheduler cannot be reached or does not answer in time."""

    transient = True


class UnreadableAnswerError(SchedulerError):
    """The answer is of no known shape; the message says what was expected."""
