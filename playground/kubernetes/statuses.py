"""What the API server says when it refuses: Status objects of meta/v1."""

from __future__ import annotations

from playground.kubernetes.resources import Kind

Json = dict[str, object]

REASONS = {
    400: "BadRequest",
    401: "Unauthorized",
    403: "Forbidden",
    404: "NotFound",
    405: "MethodNotAllowed",
    406: "NotAcceptable",
    409: "Conflict",
    410: "Expired",
    415: "UnsupportedMediaType",
    422: "Invalid",
    429: "TooManyRequests",
    500: "InternalError",
    503: "ServiceUnavailable",
}


class Refusal(Exception):  # noqa: N818 - an answer, not a failure of the server
    """A request that is answered with a Status."""

    def __init__(self, code: int, message: str, details: Json | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.status = status(code, message, details)


def status(code: int, message: str, details: Json | None = None) -> Json:
    """Return a Status object."""
    return {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Failure",
        "message": message,
        "reason": REASONS[code],
        **({"details": details} if details else {}),
        "code": code,
    }


def not_found(kind: Kind, name: str) -> Refusal:
    """Return the answer for an object that does not exist."""
    details: Json = {"name": name, "kind": kind.plural}
    if kind.group:
        details["group"] = kind.group
    return Refusal(404, f'{kind.qualified} "{name}" not found', details)


def conflict(kind: Kind, name: str) -> Refusal:
    """Return the answer for a change of an object that is another one by now."""
    return Refusal(
        409,
        f'Operation cannot be fulfilled on {kind.qualified} "{name}": the object has been '
        "modified; please apply your changes to the latest version and try again",
        {"name": name, "kind": kind.plural, **({"group": kind.group} if kind.group else {})},
    )


def expired(asked: int, oldest: int) -> Refusal:
    """Return the answer for a version that is forgotten."""
    return Refusal(410, f"too old resource version: {asked} ({oldest})")


def expired_list() -> Refusal:
    """Return the answer for a page whose list is forgotten."""
    return Refusal(
        410,
        "The provided continue parameter is too old to display a consistent list result. You can "
        "start a new list without the continue parameter.",
    )


def invalid(kind: Kind, name: str, field: str, why: str) -> Refusal:
    """Return the answer for a change that validation refuses."""
    return Refusal(
        422,
        f'{kind.kind} "{name}" is invalid: {field}: {why}',
        {
            "name": name,
            "kind": kind.kind,
            "causes": [{"reason": "FieldValueInvalid", "message": why, "field": field}],
        },
    )
