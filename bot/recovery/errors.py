"""Why a step did not pass; every message is a sentence for its card.

ActionError
├── RefusedStepError
├── StepFailedError
└── OutcomeUnknownStepError
"""

from __future__ import annotations

from bot.errors import BotError


class ActionError(BotError):
    """A step came to an end without having passed."""


class RefusedStepError(ActionError):
    """Nothing was done: the world is not as it was approved, or somebody stopped it."""


class StepFailedError(ActionError):
    """It was done, or could not be done, and that is known."""


class OutcomeUnknownStepError(ActionError):
    """It was begun, and nobody can tell what came of it; it is never sent again by itself."""
