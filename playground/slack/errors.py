"""What Slack answers with when it refuses."""

from __future__ import annotations

from typing import Any


class SlackRefusal(Exception):  # noqa: N818 # an answer, not a fault of ours
    """An answer with `ok` false.

    `code` is one of the errors on the method's page of docs.slack.dev/reference/methods.
    """

    def __init__(self, code: str, **more: Any) -> None:  # noqa: ANN401 # members of a JSON object
        super().__init__(code)
        self.code = code
        self.more = more

    def body(self) -> dict[str, Any]:
        """Return the answer's body."""
        return {"ok": False, "error": self.code, **self.more}


def with_messages(code: str, messages: list[str]) -> SlackRefusal:
    """Return a refusal that says what is wrong where, as those about blocks and views do."""
    return SlackRefusal(
        code,
        errors=messages,
        response_metadata={"messages": [f"[ERROR] {message}" for message in messages]},
    )


class PlayError(Exception):
    """Something that a person cannot do in Slack's client, in a sentence."""


class TooFastError(SlackRefusal):
    """A call over the limit of its rate; answered with status 429."""

    def __init__(self, retry_after: int) -> None:
        super().__init__("ratelimited")
        #: whole seconds for the header `Retry-After`
        self.retry_after = retry_after
