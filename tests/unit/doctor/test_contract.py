"""Prove the published shape and what a person is shown of it."""

from __future__ import annotations

import json
from pathlib import Path

from rich.console import Console

import bot.doctor
from bot.doctor.contract import DoctorV1, json_schema, to_json
from bot.doctor.model import Checkup, Outcome, Row
from bot.doctor.report import of_checkup
from bot.reports.plain import text
from bot.reports.terminal import drawn

SCHEMA = Path(bot.doctor.__file__).parent / "schema" / "doctor-1.json"
HOSTILE = "[red]x[/red] \x1b[31m"


def row(outcome: Outcome, check: str = "store", about: str = "") -> Row:
    """Return a row that ended so."""
    mend = "" if outcome in {Outcome.OK, Outcome.SKIP} else f"Mend the {check}."
    return Row(check=check, about=about, outcome=outcome, said=f"Of {check}.", mend=mend)


def checkup(*rows: Row, worst: Outcome) -> Checkup:
    """Return a checkup with these rows."""
    return Checkup(worst=worst, level=2, config="nccl-dns.toml", rows=rows)


def test_the_schema_that_is_checked_in_is_the_one_in_force() -> None:
    """A change of the shape is a change of a file that reviewers see."""
    assert json.loads(SCHEMA.read_text(encoding="utf-8")) == json_schema()


def test_what_is_printed_is_read_back() -> None:
    """On one line."""
    told = checkup(row(Outcome.OK), row(Outcome.FAIL, "clock"), worst=Outcome.FAIL)

    printed = to_json(told)

    assert "\n" not in printed
    assert json.loads(printed)["schema"] == "nccl-dns/doctor/1"
    assert DoctorV1.model_validate_json(printed).root == told


def test_what_mends_it_comes_worst_first() -> None:
    """Each row with its outcome, and below them only what is not well."""
    rows = (row(Outcome.WARN, "clock"), row(Outcome.OK), row(Outcome.FAIL, "logins", "hall"))

    said = text(of_checkup(checkup(*rows, worst=Outcome.FAIL)))

    assert said.startswith("1 thing does not work: 1 OK, 1 WARN, 1 FAIL\n")
    mends = said.partition("What mends it\n")[2].splitlines()
    assert mends == ["1.  logins (hall)  Mend the logins.", "2.  clock          Mend the clock."]


def test_where_all_is_well_nothing_is_to_be_mended() -> None:
    """And the title says so."""
    said = text(of_checkup(checkup(row(Outcome.OK), worst=Outcome.OK)))

    assert said.startswith("all is well: 1 OK\n")
    assert "mends" not in said


def test_outcomes_have_a_tone_and_are_never_cut() -> None:
    """At forty columns, too; what a machine said stays text."""
    ill = Row(check="logins", about="hall", outcome=Outcome.FAIL, said=HOSTILE, mend="m " * 40)
    told = of_checkup(checkup(ill, row(Outcome.OK), worst=Outcome.FAIL))
    console = Console(width=40, force_terminal=True, color_system="standard", record=True)

    with console.capture() as captured:
        console.print(drawn(told))

    shown = captured.get()
    assert "\x1b[1;31mFAIL\x1b[0m" in shown
    assert "\x1b[32mOK" in shown
    assert "[red]x[/red]" in shown
