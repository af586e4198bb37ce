"""Errors of the cloud; each message says what failed, what was not done and what to do next.

CloudError
├── CloudSetupError        base URL, credentials, profile or project cannot be used
├── CredentialsError       401 while the clocks agree: the key is wrong, expired or removed
├── ClockSkewError         401 while our clock and the API's differ: nothing is said about the key
├── PermissionDeniedError  403: the key's user may not do this in this project
├── VmNotFoundError        no such VM in the project, or none yet
├── NotOneVmError          a name that fits no VM, or more than one
├── RequestRefusedError    4xx: the API understood the request and refuses it
├── UnreadableAnswerError  a redirect, not JSON, or JSON of another shape
├── VmBusyError            another operation runs on the VM, or ran while we waited
├── RateLimitedError       429: too many requests with this key
├── CloudUnavailableError  no connection, a time-out or 5xx
└── OutcomeUnknownError    an action may or may not have reached the VM; it was not sent again
"""

from __future__ import annotations

from datetime import timedelta

from bot.errors import BotError


class CloudError(BotError):
    """Base of everything that can go wrong between us and the cloud."""

    #: the same request may succeed when it is sent again a little later
    transient = False
    #: the API may have acted on the request although it did not say so
    in_doubt = False

    def __init__(self, sentence: str, *, in_doubt: bool = False) -> None:
        super().__init__(sentence)
        self.in_doubt = in_doubt


class CloudSetupError(CloudError):
    """The settings do not lead to a project of the cloud; nothing was sent."""


class CredentialsError(CloudError):
    """The API refuses the key although our clock is right."""


class ClockSkewError(CloudError):
    """The API refuses the signature and our clock differs from its clock."""


class PermissionDeniedError(CloudError):
    """The key is known but may not do this here."""


class VmNotFoundError(CloudError):
    """The project has no such VM, or does not show it yet."""


class NotOneVmError(CloudError):
    """A name fits no VM or several, so none was picked."""


class RequestRefusedError(CloudError):
    """The API refuses the request for what it asks."""

    def __init__(self, sentence: str, *, status: int) -> None:
        super().__init__(sentence)
        #: HTTP status
        self.status = status


class UnreadableAnswerError(CloudError):
    """The answer is not what the API's description promises."""


class VmBusyError(CloudError):
    """Another operation is under way on the VM, or has changed it meanwhile."""

    transient = True


class RateLimitedError(CloudError):
    """The API takes no more requests for now."""

    transient = True

    def __init__(self, sentence: str, *, retry_after: timedelta | None = None) -> None:
        super().__init__(sentence)
        #: how long the API asked us to wait, where it did
        self.retry_after = retry_after


class CloudUnavailableError(CloudError):
    """The API cannot be reached, does not answer in time, or fails inside."""

    transient = True

    def __init__(
        self, sentence: str, *, in_doubt: bool = False, retry_after: timedelta | None = None
    ) -> None:
        super().__init__(sentence, in_doubt=in_doubt)
        self.retry_after = retry_after


class OutcomeUnknownError(CloudError):
    """Whether the action was taken is unknown; a person has to look before it is sent again."""

    def __init__(self, sentence: str) -> None:
        super().__init__(sentence, in_doubt=True)
