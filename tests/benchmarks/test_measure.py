"""Prove that the benchmark measures what it says, judges verdicts and states its goals."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from tests.benchmarks.measure import Command, CommandFailedError, in_turn, run_once
from tests.benchmarks.table import Row, ratio_row, render
from tests.benchmarks.truth import Truth, mistakes

_TRUTH = Truth(
    cause="resolver_failed",
    affected_ranks=(64, 65),
    affected_hosts=("node-8",),
    host_must_be_named=True,
    restart_may_help=True,
    world_size=256,
    clients_joined=254,
    lines=10,
    size_bytes=1000,
)


def _python(code: str) -> Command:
    return Command(name="python", argv=(sys.executable, "-I", "-S", "-c", code))


def _report(**changes: object) -> dict[str, Any]:
    right: dict[str, Any] = {
        "cause": "resolver_failed",
        "affected": [{"host": "node-8", "ranks": [64, 65]}],
        "restart_may_help": True,
        "silent_ranks": [],
        "clients_joined": 254,
        "world_size": 256,
        "log": {"lines": 10, "bytes": 1000},
    }
    return {**right, **changes}


def test_peak_is_that_of_the_command_alone(tmp_path: Path) -> None:
    """The memory of the process that measures is not counted into the peak of a command."""
    ours = bytearray(b"x") * (200 * 10**6)
    small = run_once(_python("pass"), core=None, folder=tmp_path)
    large = run_once(_python("bytearray(b'x') * (100 * 10**6)"), core=None, folder=tmp_path)
    assert small.peak_bytes < 50 * 10**6 < len(ours)
    assert 100 * 10**6 < large.peak_bytes < 150 * 10**6


def test_output_is_kept_and_a_bad_exit_raises(tmp_path: Path) -> None:
    """A run returns what the command printed; an exit code that it may not have is an error."""
    assert run_once(_python("print('hello')"), core=None, folder=tmp_path).output == b"hello\n"
    with pytest.raises(CommandFailedError, match=r"python ended with exit code 3: no luck"):
        run_once(
            _python("import sys; sys.stderr.write('no luck'); sys.exit(3)"),
            core=None,
            folder=tmp_path,
        )


def test_commands_run_in_turn(tmp_path: Path) -> None:
    """Every command runs once before any runs again, and each series has all its runs."""
    noted = tmp_path / "noted"
    commands = [_python(f"open({str(noted)!r}, 'a').write({name!r})") for name in "ab"]
    series = in_turn(commands, times=2, core=None, folder=tmp_path)
    assert noted.read_text("ascii") == "abab"
    assert [len(each.runs) for each in series] == [2, 2]
    assert all(0 < each.best <= each.median for each in series)


def test_right_report_has_no_mistake() -> None:
    """A report that agrees with the truth in all judged fields is right."""
    assert mistakes(_TRUTH, _report()) == []


@pytest.mark.parametrize(
    "changes",
    [
        {"cause": "dns_outage"},
        {"affected": []},
        {"affected": [{"host": "node-8", "ranks": [64]}]},
        {"affected": [{"host": None, "ranks": [64, 65]}]},
        {"affected": [{"host": "node-8", "ranks": [64, 65]}, {"host": "node-0", "ranks": []}]},
        {"restart_may_help": False},
        {"silent_ranks": [7]},
        {"clients_joined": 255},
        {"world_size": None},
        {"log": {"lines": 9, "bytes": 1000}},
        {"log": {"lines": 10, "bytes": 999}},
    ],
)
def test_wrong_report_is_found_out(changes: dict[str, object]) -> None:
    """A report that departs from the truth in any judged field has a mistake in words."""
    assert mistakes(_TRUTH, _report(**changes))


def test_truth_survives_its_json() -> None:
    """A truth handed from the generator's process to the benchmark's stays the same."""
    assert Truth.from_json(_TRUTH.to_json()) == _TRUTH


def test_ratio_says_whether_its_goal_is_met() -> None:
    """A ratio is met up to its goal, missed above, and has no verdict without one."""
    assert ratio_row("r", 1.0, at_most=1.0).met is True
    assert ratio_row("r", 1.01, at_most=1.0).met is False
    assert ratio_row("r", 9.0).met is None


def test_table_shows_speed_goal_and_verdict() -> None:
    """A row shows its seconds, its MB/s from bytes and best time, its goal and if it is met."""
    row = Row(
        name="scan", best=2.0, median=2.5, cpu=1.9, size_bytes=10**9, goal="<= 1.00x", met=False
    )
    heading, _, line = render([row]).splitlines()
    assert heading.split() == [
        "best",
        "median",
        "cpu",
        "MB/s",
        "peak",
        "MB",
        "result",
        "goal",
        "met",
    ]
    assert line.split() == [
        "scan",
        "2.00",
        "s",
        "2.50",
        "s",
        "1.90",
        "s",
        "500",
        "<=",
        "1.00x",
        "NO",
    ]
