"""What is asked of the store and cannot be; every message is a sentence.

InputError
├── UnknownIncidentError
├── ClosedIncidentError
├── UnknownMessageError
├── UnknownApprovalError
└── UnknownRunError
"""

from __future__ import annotations

from bot.errors import InputError


class UnknownIncidentError(InputError):
    """There is no incident of this ID; the message names it."""


class ClosedIncidentError(InputError):
    """The incident is over, so that nothing new is proposed in it; the message says since when."""


class UnknownMessageError(InputError):
    """There is no message of this ID; the message names it."""


class UnknownApprovalError(InputError):
    """There is no approval of this ID, so that nothing is decided; the message names it."""


class UnknownRunError(InputError):
    """There is no run of this ID; the message names it."""
