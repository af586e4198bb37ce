"""The one place where statuses, bodies and httpx's errors become ours.

Only the HTTP status decides: the API is not of one mind about which member of an error body holds
the word and which the number. Bodies are shown to people, cleaned and cut, and never relied on.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime, timedelta

import httpx

from bot.clouds.crusoe.call import Call
from bot.clouds.crusoe.credentials import Credentials
from bot.clouds.crusoe.retry import http_date, retry_after
from bot.clouds.errors import (
    ClockSkewError,
    CloudError,
    CloudUnavailableError,
    CredentialsError,
    PermissionDeniedError,
    RateLimitedError,
    RequestRefusedError,
    UnreadableAnswerError,
    VmBusyError,
    VmNotFoundError,
)
from bot.clouds.model import MAYBE_TOO_NEW
from bot.network.telling import why as of_network

#: Crusoe does not document how far a clock may be off; beyond this a 401 says nothing of the key.
CLOCK_TOLERANCE = timedelta(seconds=60)

#: Characters of foreign text in one sentence.
SHOWN = 300

SUCCESS = range(200, 300)

#: Statuses from here on say that the request was refused, that the API failed.
REFUSED, INSIDE = 400, 500

#: Failures before a byte of the request was sent.
_NEVER_SENT = (
    httpx.ConnectError,
    httpx.ConnectTimeout,
    httpx.PoolTimeout,
    httpx.ProxyError,
    httpx.UnsupportedProtocol,
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Answer:
    """What came back for a call."""

    call: Call
    status: int
    headers: httpx.Headers
    body: bytes
    #: our clock when it came
    at: datetime

    @property
    def is_success(self) -> bool:
        """Say whether the API did what was asked."""
        return self.status in SUCCESS

    @property
    def skew(self) -> timedelta | None:
        """Return how far our clock is ahead of the API's, to a second; None where it says none."""
        theirs = http_date(self.headers.get("Date"))
        return None if theirs is None else self.at - theirs


def read_object(answer: Answer, credentials: Credentials) -> dict[str, object]:
    """Return the JSON object of a good answer; raises the CloudError that fits any other."""
    if not answer.is_success:
        raise refusal(answer, credentials)
    found = _json(answer.body)
    if isinstance(found, dict):
        return found
    raise unreadable(answer.call, _glimpse(answer.body, credentials))


def unreadable(call: Call, why: str) -> UnreadableAnswerError:
    """Say that an answer is not of the published shape; an action may have been taken."""
    return UnreadableAnswerError(
        f"Crusoe's answer to the request to {call.what} cannot be used: {why}. Check the base URL "
        f"and any proxy before it.{_consequence(call, in_doubt=call.acts)}",
        in_doubt=call.acts,
    )


def unreachable(call: Call, error: Exception, credentials: Credentials) -> CloudError:
    """Translate an error of httpx, or a time-out, into ours."""
    if isinstance(error, httpx.DecodingError):
        return unreadable(call, "its encoding is broken")
    in_doubt = call.acts and not isinstance(error, _NEVER_SENT)
    if isinstance(error, (TimeoutError, httpx.TimeoutException)):
        why = "it did not answer in time"
    else:
        # The class says something where the text is empty.
        why = of_network(error) or _clean(str(error), credentials) or type(error).__name__
    return CloudUnavailableError(
        f"Crusoe did not {call.what}: {why}. See whether this machine resolves and reaches the "
        f"API's host, and look at Crusoe's status page.{_consequence(call, in_doubt=in_doubt)}",
        in_doubt=in_doubt,
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class _Refusal:
    """An answer that is no success, with what its sentence is made of."""

    answer: Answer
    credentials: Credentials
    #: ends the sentence where the API certainly did nothing
    nothing: str
    #: what the body says, as one or two sentences with a space before them
    said: str

    @property
    def call(self) -> Call:
        return self.answer.call

    @property
    def key(self) -> str:
        return self.credentials.label


def refusal(answer: Answer, credentials: Credentials) -> CloudError:
    """Return the error that an answer's status stands for."""
    status = answer.status
    if status >= INSIDE:
        translate = _failed_inside
    elif status < REFUSED:
        translate = _redirected
    else:
        translate = BY_STATUS.get(status, _refused)
    return translate(
        _Refusal(
            answer=answer,
            credentials=credentials,
            nothing=_consequence(answer.call, in_doubt=False),
            said=_said(answer, credentials),
        )
    )


def _unauthorised(it: _Refusal) -> CloudError:
    skew = it.answer.skew
    if skew is not None and abs(skew) > CLOCK_TOLERANCE:
        way = "ahead of" if skew > timedelta(0) else "behind"
        return ClockSkewError(
            f"Crusoe refuses the signature (401), and this machine's clock is "
            f"{abs(skew).total_seconds():.0f} s {way} the API's. Set the clock by NTP and try "
            f"again; this says nothing about {it.key}.{it.nothing}"
        )
    clock = (
        "The answer has no date, so compare this machine's clock with another one first"
        if skew is None
        else f"The clocks agree to {abs(skew).total_seconds():.0f} s, so it is not the time"
    )
    return CredentialsError(
        f"Crusoe refuses {it.key} (401).{it.said} {clock}. The key may be wrong, expired or "
        f"removed: make a new one in the console under Security.{it.nothing}"
    )


def _denied(it: _Refusal) -> CloudError:
    return PermissionDeniedError(
        f"Crusoe does not let {it.key} {it.call.what} (403).{it.said} Check the project in the "
        f"settings, or ask an administrator for the role.{it.nothing}"
    )


def _missing(it: _Refusal) -> CloudError:
    if not it.call.vm_id:
        return _refused(it)
    return VmNotFoundError(
        f"Crusoe knows no VM {it.call.vm_id} in this project (404).{it.said} Check the id and the "
        f"project. {MAYBE_TOO_NEW}.{it.nothing}"
    )


def _busy(it: _Refusal) -> CloudError:
    return VmBusyError(
        f"Crusoe did not {it.call.what}: another operation is under way (409).{it.said} Wait for "
        f"it to end and look at the VM again.{it.nothing}"
    )


def _limited(it: _Refusal) -> CloudError:
    wait = _asked_wait(it.answer)
    when = "in a minute" if wait is None else f"in {wait.total_seconds():.0f} s"
    return RateLimitedError(
        f"Crusoe did not {it.call.what}: too many requests with {it.key} (429).{it.said} Try again "
        f"{when}; see what else uses this key.{it.nothing}",
        retry_after=wait,
    )


def _failed_inside(it: _Refusal) -> CloudError:
    return CloudUnavailableError(
        f"Crusoe did not {it.call.what}: it failed inside ({it.answer.status}).{it.said} Try "
        f"again, and look at Crusoe's status page.{_consequence(it.call, in_doubt=it.call.acts)}",
        in_doubt=it.call.acts,
        retry_after=_asked_wait(it.answer),
    )


def _redirected(it: _Refusal) -> CloudError:
    return UnreadableAnswerError(
        f"Crusoe did not {it.call.what}: it answered with {it.answer.status}, and a signed request "
        f"follows no redirect. Check the base URL.{it.nothing}"
    )


def _refused(it: _Refusal) -> CloudError:
    return RequestRefusedError(
        f"Crusoe refuses to {it.call.what} ({it.answer.status}).{it.said} The request does not fit "
        f"the API: check project, ids and base URL in the settings.{it.nothing}",
        status=it.answer.status,
    )


#: Declared by the API but for 404, 409 and 429, which its clients meet and handle all the same.
BY_STATUS = {401: _unauthorised, 403: _denied, 404: _missing, 409: _busy, 429: _limited}


def _asked_wait(answer: Answer) -> timedelta | None:
    date = http_date(answer.headers.get("Date")) or answer.at
    return retry_after(answer.headers.get("Retry-After"), date=date)


def _consequence(call: Call, *, in_doubt: bool) -> str:
    if not call.acts:
        return ""
    if in_doubt:
        return " It is not known whether the VM was acted on."
    return " Nothing was done to the VM."


def _said(answer: Answer, credentials: Credentials) -> str:
    """Quote an error body for people."""
    found = _json(answer.body)
    if not isinstance(found, dict):
        return f" Its answer is not an error of the API: {_glimpse(answer.body, credentials)}."
    words = [
        str(found[key])
        for key in ("code", "message", "reason")
        if isinstance(found.get(key), (str, int))
    ]
    said = _clean(
        ", ".join(word for word in words if word and word != str(answer.status)), credentials
    )
    error_id = found.get("error_id")
    known = (
        f" Error id for Support: {_clean(error_id, credentials)}."
        if isinstance(error_id, str) and error_id
        else ""
    )
    return (f" It says: {said}." if said else "") + known


def _glimpse(body: bytes, credentials: Credentials) -> str:
    """Say what a body that is no JSON object looks like."""
    if not body.strip():
        return "it is empty"
    text = _clean(body[:200].decode("utf-8", "replace"), credentials)
    return f"it is not a JSON object and begins with {text[:80]!r}"


def _clean(text: str, credentials: Credentials) -> str:
    """Make foreign text one printable line of bounded length without secrets."""
    # Hidden first: cut in two, a secret would no longer be found.
    line = " ".join("".join(c if c.isprintable() else " " for c in credentials.hide(text)).split())
    return (line if len(line) <= SHOWN else f"{line[:SHOWN]}…").rstrip(".")


def _json(body: bytes) -> object:
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        return None
