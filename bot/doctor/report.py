"""What the doctor says, as the rows of a report."""

from __future__ import annotations

from collections.abc import Iterator

from bot.diagnosis.kinds import Severity
from bot.doctor.model import Checkup, Outcome, Row
from bot.reports.sections import Report, Section
from bot.settings import Level

_SEVERITY: dict[Outcome, Severity] = {
    Outcome.FAIL: "failure",
    Outcome.WARN: "warning",
}


def of_checkup(checkup: Checkup) -> Report:
    """Return every check with its outcome, and then what mends what is not well, worst first."""
    counted = {one: len(checkup.of(one)) for one in Outcome}
    counts = ", ".join(f"{count} {one}" for one, count in counted.items() if count)
    level = Level(checkup.level)
    where = f" Settings: {checkup.config}." if checkup.config else ""
    return Report(
        title=_title(counted),
        aside=counts,
        severity=_SEVERITY.get(checkup.worst, "none"),
        summary=f"Level {int(level)} ({level.name.lower()}).{where}",
        sections=tuple(_sections(checkup)),
    )


def _title(counted: dict[Outcome, int]) -> str:
    for outcome, words in ((Outcome.FAIL, "does not work"), (Outcome.WARN, "to look at")):
        if count := counted[outcome]:
            return f"{count} {'thing' if count == 1 else 'things'} {_plural(words, count)}"
    return "all is well"


def _plural(words: str, count: int) -> str:
    return words.replace("does", "do") if count > 1 else words


def _sections(checkup: Checkup) -> Iterator[Section]:
    yield Section(
        columns=("", "Check", "Found"),
        rows=tuple((row.outcome.value, _name(row), row.said) for row in checkup.rows),
        toned=True,
    )
    ill = [row for one in (Outcome.FAIL, Outcome.WARN) for row in checkup.of(one) if row.mend]
    if ill:
        rows = tuple((f"{number}.", _name(row), row.mend) for number, row in enumerate(ill, 1))
        yield Section(title="What mends it", rows=rows, numbered=True)


def _name(row: Row) -> str:
    return f"{row.check} ({row.about})" if row.about else row.check
