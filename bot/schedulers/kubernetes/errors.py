"""What the API server answers that only this room can turn into a sentence.

SchedulerError
├── NotThereError   404: no such object, or no such kind in this cluster
├── ConflictError   409: somebody changed the object since it was read
└── ExpiredError    410: the version that was named is forgotten; list again
"""

from __future__ import annotations

from bot.schedulers.errors import SchedulerError


class NotThereError(SchedulerError):
    """The object does not exist; `kind_missing` where the cluster does not know its kind."""

    def __init__(self, message: str, *, kind_missing: bool = False) -> None:
        super().__init__(message)
        self.kind_missing = kind_missing


class ConflictError(SchedulerError):
    """The object is another one than was read, and nothing was changed."""


class ExpiredError(SchedulerError):
    """The server has forgotten the version that was named."""
