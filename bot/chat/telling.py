"""From an incident's timeline to what people are told of it. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from bot.incidents.incident import Entry, Incident, IncidentState
from bot.reports.slack import values

#: Kinds of entries of ours, beside those of the store.
PREFLIGHT, PICTURED = "pre-flight", "pictured"
#: What the entries before them tell already.
_UNTOLD = frozenset({PICTURED, "picked"})

#: Kind of an entry → how its line of a timeline begins; `{about}` is what it is about.
_LINES: Mapping[str, str] = {
    "opened": "asked",
    "checked": "looked at",
    "revised": "looked at again, with {about}",
    "vm picked": "{about} picked as the VM",
    PREFLIGHT: "all VMs asked for names",
    "proposed": "a step proposed",
    "first_approved": "first approval of two",
    "approved": "the step approved",
    "declined": "the step declined",
    "expired": "the step expired, decided by nobody",
    "voided": "the step voided",
    "ready": "the step ready to be decided",
    "run_checking": "the step begun: looking again first",
    "run_acting": "acting",
    "run_verifying": "proving that it worked",
    "run_passed": "done and proven",
    "run_failed": "it did not work",
    "run_unknown": "not known how it went",
    "run_refused": "not done",
    "run_cancelled": "stopped",
    "run_left_out": "left out",
    "run_watched": "proven again",
    "glass_broken": "the glass broken: approved alone",
    "pause_on": "steps paused",
    "pause_off": "steps may go on",
    "breaker_on": "the breaker opened: no more steps",
    "breaker_off": "the breaker closed",
    "dismissed": "dismissed",
    "closed": "closed",
}
#: What steps came to; the newest is the outcome where whoever closed the incident gave none.
_OUTCOMES = frozenset(
    {"run_passed", "run_failed", "run_unknown", "run_refused", "run_cancelled", "declined"}
)
_LONGEST = 200


def closing(incident: Incident, entries: Sequence[Entry]) -> Entry | None:
    """Return the entry that ended an incident; None while it is open."""
    if incident.state is IncidentState.OPEN:
        return None
    return next((one for one in reversed(entries) if one.at == incident.closed_at), None)


def outcome(incident: Incident, entries: Sequence[Entry]) -> str:
    """Return in a sentence or two how an incident ended."""
    ended = closing(incident, entries)
    steps = [one for one in entries if one.kind in _OUTCOMES]
    done = f"Last step: {_said(steps[-1])}." if steps else "No step was carried out."
    state = "Dismissed" if incident.state is IncidentState.DISMISSED else "Closed"
    why = f": {ended.text.strip().removesuffix('.')}" if ended and ended.text.strip() else ""
    return f"{state}{why}. {done}"


def timeline(entries: Sequence[Entry]) -> tuple[values.Entry, ...]:
    """Return a timeline as a summary takes it."""
    return tuple(
        values.Entry(at=one.at, what=_said(one), by=one.who or "")
        for one in entries
        if one.kind not in _UNTOLD
    )


def _said(one: Entry) -> str:
    known = _LINES.get(one.kind, one.kind.replace("_", " ")).format(about=one.about or "more")
    text = _short(one.text)
    return f"{known}: {text}" if text else known


def _short(text: str) -> str:
    """Return the first sentence of an entry's text, as long as a line of a timeline may be."""
    first = text.strip().partition("\n")[0].partition(". ")[0].removesuffix(".")
    return first if len(first) <= _LONGEST else f"{first[: _LONGEST - 1]}…"


def preflights(entries: Sequence[Entry]) -> tuple[Entry, ...]:
    """Return the pre-flights of an incident that have ended, in order."""
    return tuple(one for one in entries if one.kind == PREFLIGHT)


def told(one: Entry) -> values.Told:
    """Return what a pre-flight has come to: the first line is its headline."""
    first, _, rest = one.text.partition("\n")
    return values.Told(
        by=one.who or "", at=one.at, headline=first or "Its text was forgotten for its age.",
        rest=rest.strip("\n"),
    )  # fmt: skip
