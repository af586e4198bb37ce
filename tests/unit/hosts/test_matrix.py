"""Prove that each answer of a machine becomes the cell that it means, and that totals add up."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from bot.hosts.matrix import Matrix, Observer, Seen, observed, unreached
from bot.hosts.model import Evidence, LoginFailure, ProbeResult
from bot.hosts.probes import LOOKUPS
from tests.fabric import matrix, names_of

NAMES = ("found", "none", "nodata", "again", "late", "skipped", "empty", "broken")
SAID = (
    {"name": "found", "code": 0, "addresses": ["10.0.0.1"]},
    {"name": "none", "code": -2, "addresses": []},
    {"name": "nodata", "code": -5, "addresses": []},
    {"name": "again", "code": -3, "addresses": []},
    {"name": "skipped", "skipped": True},
    {"name": "empty", "code": 0, "addresses": []},
    {"name": "broken", "code": -11, "addresses": []},
    {"name": "never-asked", "code": 0, "addresses": ["10.0.0.9"]},
)


def _evidence(
    *lines: dict[str, object], rc: int | None = 0, failure: LoginFailure | None = None
) -> Evidence:
    output = "".join(json.dumps(line) + "\n" for line in lines).encode()
    result = ProbeResult(name=LOOKUPS.name, rc=rc, duration=timedelta(0), output=output)
    return Evidence(
        vm_id="vm-1",
        name="node-1",
        at=datetime(2026, 1, 1, tzinfo=UTC),
        results={} if failure else {LOOKUPS.name: result},
        failure=failure,
        detail="Nothing answered." if failure else "",
    )


def test_every_answer_is_a_cell() -> None:
    """A denial is told from silence, and silence from what was never asked."""
    row = observed(_evidence(*SAID, rc=None), NAMES)

    assert [row.seen(at) for at in range(len(NAMES))] == [
        Seen.RESOLVED,
        Seen.NONE,
        Seen.NONE,
        Seen.NO_ANSWER,
        Seen.NO_ANSWER,
        Seen.NOT_ASKED,
        Seen.NONE,
        Seen.NO_ANSWER,
    ]
    assert [row.code(at) for at in range(len(NAMES))] == [0, -2, -5, -3, None, None, -5, -11]


def test_a_machine_that_lets_nobody_in_tells_nothing() -> None:
    """Its names are not failures: nothing is known of them."""
    row = observed(_evidence(failure=LoginFailure.SILENT), NAMES)

    assert not row.reached
    assert row.tally == {Seen.NOT_REACHED: len(NAMES)}
    assert row.why == "Nothing answered."


def test_two_thousand_names_fit_one_answer() -> None:
    """Both names of a thousand machines come through the answer's bounds."""
    names = names_of(1024)
    lines = [{"name": name, "code": 0, "addresses": ["10.10.10.10"], "ms": 12} for name in names]
    evidence = _evidence(*lines)

    assert len(evidence.results[LOOKUPS.name].output) < LOOKUPS.most_bytes
    assert observed(evidence, names).clean


@given(st.lists(st.binary(min_size=6, max_size=6), max_size=8))
def test_totals_add_up(rows: list[bytes]) -> None:
    """Rows and columns count the same cells, whatever is in them."""
    names = tuple("abcdef")
    found = Matrix(
        names=names,
        observers=tuple(Observer(name=str(at), cells=row) for at, row in enumerate(rows)),
    )
    columns = [found.column(at) for at in range(len(names))]

    for seen in Seen:
        assert found.tally.get(seen, 0) == sum(column.get(seen, 0) for column in columns)
    assert sum(found.tally.values()) == len(rows) * len(names)
    assert found.wrong is (found.tally.get(Seen.RESOLVED, 0) < len(rows) * len(names))


def test_an_observer_that_was_not_reached_is_wrong() -> None:
    """A pre-flight that could not look at all machines does not pass."""
    names = names_of(2)
    rows = (Observer(name="node-0", cells=bytes(4)), unreached("node-1", "No way.", names))

    assert Matrix(names=names, observers=rows).wrong
    assert not matrix(2).wrong
