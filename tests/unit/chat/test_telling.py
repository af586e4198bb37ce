"""What people are told of a timeline."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from bot.chat import telling
from bot.incidents.incident import Entry, Incident, IncidentState

AT = datetime(2026, 11, 30, 3, 15, tzinfo=UTC)
OPEN = Incident(id="inc", key="k", opened_at=AT)
CHECKED = Entry(at=AT, kind="checked", text="node-8: resolver failed.", revision=2)
LATER = AT + timedelta(minutes=3)


def ended(state: IncidentState) -> Incident:
    """Return an incident that has ended."""
    return replace(OPEN, state=state, closed_at=LATER)


def test_what_was_found_is_no_reason_for_the_end() -> None:
    """The words of the entry that ended it count, not the last ones before."""
    entry = Entry(at=LATER, kind="dismissed", who="U1", revision=3)
    after = Entry(at=LATER + timedelta(minutes=1), kind="run_passed", text="It runs.", revision=4)
    assert telling.closing(OPEN, (CHECKED,)) is None
    found = telling.closing(ended(IncidentState.DISMISSED), (CHECKED, entry, after))
    assert found == entry


@pytest.mark.parametrize(
    ("kind", "text", "state", "wanted"),
    [
        ("dismissed", "", IncidentState.DISMISSED, "Dismissed. No step was carried out."),
        (
            "closed", "The resolver runs again.", IncidentState.CLOSED,
            "Closed: The resolver runs again. No step was carried out.",
        ),
    ],
)  # fmt: skip
def test_the_outcome(kind: str, text: str, state: IncidentState, wanted: str) -> None:
    """How it ended, with the words of whoever ended it."""
    entries = (CHECKED, Entry(at=LATER, kind=kind, text=text))
    assert telling.outcome(ended(state), entries) == wanted


def test_the_last_step_is_told() -> None:
    """Of several the newest counts."""
    steps = (
        Entry(at=AT, kind="run_failed", text="It still fails."),
        Entry(at=AT, kind="run_passed", text="It runs again. For now.\nunit: active"),
    )
    said = telling.outcome(ended(IncidentState.CLOSED), (*steps, Entry(at=LATER, kind="closed")))
    assert said == "Closed. Last step: done and proven: It runs again."


def test_every_kind_has_words() -> None:
    """A kind that nobody has named yet is still readable, and a long text is one line of it."""
    entries = (
        Entry(at=AT, kind="opened", who="U1"),
        Entry(at=AT, kind="vm picked", about="node-3", text="the rank printed it"),
        Entry(at=AT, kind=telling.PICTURED, text="as the look before it"),
        Entry(at=AT, kind="something_new", text="x" * 900),
    )
    first, picked, new = telling.timeline(entries)
    assert (first.what, first.by) == ("asked", "U1")
    assert picked.what == "node-3 picked as the VM: the rank printed it"
    assert new.what.startswith("something new: xxx")
    assert len(new.what) < 230


def test_a_preflight_is_told_by_its_first_line() -> None:
    """Its headline, then the rest; after its text was forgotten it says so."""
    one = Entry(at=AT, kind=telling.PREFLIGHT, who="U1", text="All well.\nnode-[0-7]: all\n– slow")
    assert telling.preflights((CHECKED, one)) == (one,)
    told = telling.told(one)
    assert (told.headline, told.rest) == ("All well.", "node-[0-7]: all\n– slow")
    assert "forgotten" in telling.told(replace(one, text="")).headline
