"""Errors of reports.

ReportError
└── UnsendableError  a message of ours breaks a rule of Slack that no cutting can keep
"""

from __future__ import annotations

from bot.errors import BotError


class ReportError(BotError):
    """Base of everything that can go wrong while a report is made."""


class UnsendableError(ReportError):
    """An id is too long or not unique, or there are too many controls: a mistake in the product."""
