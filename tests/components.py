"""Skip tests by name when a program they need is missing, and fail instead under `CI=true`.

A test says `@pytest.mark.needs("rg")`; the program must be a row of `scripts/system-packages.txt`.
Any other skip whose reason holds the words "missing component" is treated the same way.
"""

import os
import shutil
from collections.abc import Generator
from dataclasses import dataclass
from pathlib import Path

import pytest

TABLE = Path(__file__).parents[1] / "scripts" / "system-packages.txt"

#: What a skip's reason holds when something is not installed.
MISSING = "missing component"


@dataclass(frozen=True, kw_only=True)
class Component:
    """Name a program, the packages that bring it, and who runs it: one row of the table."""

    #: The command as found on PATH.
    command: str
    #: Package on Debian and Ubuntu, or several separated by commas.
    debian: str
    #: Formula of Homebrew; `-` where it has none.
    brew: str
    #: Uses that need it: `ci`, `test`, `bench`.
    used_by: frozenset[str]

    @property
    def installing(self) -> str:
        """Say how to install it."""
        brew = "" if self.brew == "-" else f", or brew install {self.brew}"
        return f"apt-get install {self.debian.replace(',', ' ')}{brew}"


def read_table(text: str) -> dict[str, Component]:
    """Read the rows of `scripts/system-packages.txt`, keyed by command."""
    rows = [line.split(maxsplit=4) for line in text.splitlines() if line.strip()]
    return {
        row[0]: Component(
            command=row[0], debian=row[1], brew=row[2], used_by=frozenset(row[3].split(","))
        )
        for row in rows
        if not row[0].startswith("#")
    }


def in_ci() -> bool:
    """Say whether this is a CI run, where every component must be there."""
    return os.environ.get("CI") == "true"


def pytest_configure(config: pytest.Config) -> None:
    """Declare the marker, since unknown markers are errors."""
    config.addinivalue_line("markers", "needs(command): skip when this program is not installed")


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip a test whose program is missing; refuse a program that the table does not list."""
    table = read_table(TABLE.read_text(encoding="utf-8"))
    for marker in item.iter_markers("needs"):
        for command in marker.args:
            if command not in table:
                pytest.fail(f"add a row for {command!r} to scripts/system-packages.txt")
            if shutil.which(command) is None:
                pytest.skip(f"{MISSING}: {command} ({table[command].installing})")


def _fail_if_missing(report: pytest.TestReport | pytest.CollectReport) -> None:
    """Turn a skip for a missing component into a failure when this is a CI run."""
    if not (in_ci() and report.skipped and isinstance(report.longrepr, tuple)):
        return
    reason = report.longrepr[2]
    if MISSING in reason:
        report.outcome = "failed"
        report.longrepr = f"{report.nodeid}: {reason}; CI must not skip this"


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Fail a skipped test under CI when the reason is a missing component."""
    report = yield
    _fail_if_missing(report)
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report() -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """Fail a skipped module under CI when the reason is a missing component."""
    report = yield
    _fail_if_missing(report)
    return report
