"""The reports of one diagnosis say the same wherever they are printed."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from rich.console import Console

from bot.diagnosis import Diagnosis, diagnose_bytes
from bot.reports import plain, terminal
from bot.reports.sections import of_diagnosis

_CASES = Path(__file__).parents[1] / "cases" / "pasted.jsonl"
_LOGS = [json.loads(line)["log"] for line in _CASES.read_text().splitlines()[::23]]
_HARMLESS = "nothing of the kind in here\n"


def _words(text: str) -> list[str]:
    """Return the words of a report without what a terminal wraps and frames them with."""
    return re.findall(r"[^\s│╭╮╰╯─]+", re.sub(r"\x1b\[[0-9;]*m", "", text))


def _at_a_terminal(found: Diagnosis) -> str:
    console = Console(width=4000, force_terminal=True, highlight=False)
    with console.capture() as said:
        terminal.show(of_diagnosis(found), console)
    return said.get()


@pytest.mark.parametrize("log", [*_LOGS, _HARMLESS])
def test_a_pipe_is_told_what_a_terminal_is_told(log: str) -> None:
    """Colour, frames and wrapping are all that differ."""
    found = diagnose_bytes(log.encode())
    wanted = _words(_at_a_terminal(found))
    said = _words(plain.text(of_diagnosis(found)).replace(": confidence", " confidence", 1))
    assert said == wanted


def test_a_quoted_line_is_one_line_of_a_pipe() -> None:
    """What was one line in the log can be searched for as one."""
    found = diagnose_bytes(_LOGS[0].encode())
    lines = plain.text(of_diagnosis(found)).splitlines()
    for quoted in found.evidence:
        assert any(line.endswith(quoted.text.rstrip()) for line in lines)
