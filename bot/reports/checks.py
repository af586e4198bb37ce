"""What a check says, as the rows of a report."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime

from bot.diagnosis.explain import spelled
from bot.fleet.folding import folded
from bot.reports.sections import Report, Section, quoted_lines
from bot.triage.model import Checked, JobFacts, Machine

_KNOWN = {
    "log": "the log says so",
    "launch": "by the launch",
    "guess": "a guess: check it",
    "asked": "asked for",
}
_LEVELS = ("paste", "look", "probe", "act")


def of_check(checked: Checked, now: datetime | None = None) -> Report:
    """Return what a check says: machines, what was found and why, what may be done, what lacks."""
    return Report(
        title="something is wrong" if checked.wrong else "nothing is known to be wrong",
        aside=f"confidence {checked.confidence}",
        severity="failure" if checked.wrong else "none",
        summary=checked.headline,
        sections=tuple(_sections(checked, now or datetime.now(UTC))),
    )


def _sections(checked: Checked, now: datetime) -> Iterator[Section]:
    if checked.machines:
        yield Section(
            columns=("Machine", "Ranks", "State", "Found", "Known"),
            rows=tuple(_row(one, now) for one in checked.machines),
        )
    yield Section(rows=tuple(_facts(checked)))
    for one in checked.machines:
        yield from _found(one)
    if checked.diagnosis is not None:
        yield from quoted_lines(checked.diagnosis)
    yield from _next(checked)
    for title, lines in (("Notes", checked.notes), ("Missing", checked.missing)):
        if lines:
            yield Section(title=title, rows=tuple(("–", line) for line in lines), numbered=True)


def _row(one: Machine, now: datetime) -> tuple[str, ...]:
    vm = one.vm
    state = f"{_word(vm.raw_state)}, {_age(now, vm.read_at)}" if vm else "not known"
    found = ", ".join(each.finding.replace("_", " ") for each in one.findings)
    return (
        one.host,
        spelled(one.ranks) or "–",
        state,
        found or "–",
        _KNOWN[one.known_from],
    )


def _word(raw_state: str) -> str:
    """Return the cloud's own word without the prefix that all its states have."""
    return raw_state.removeprefix("STATE_")


def _age(now: datetime, then: datetime) -> str:
    return f"read {max(round((now - then).total_seconds()), 0)} s ago"


def _facts(checked: Checked) -> Iterator[tuple[str, str]]:
    for one in checked.machines:
        if one.vm is not None:
            # a line of its own, so that it can be copied whole from a terminal of 80 columns
            name = f" {one.vm.name}" if one.vm.name != one.host else ""
            yield f"VM of {one.host}", f"{one.vm.id}{name}"
    if checked.job is not None:
        yield "job", _job(checked.job)
        if checked.job.nodes:
            yield "nodes", folded(checked.job.nodes)
    for log in checked.logs:
        how = log.reading if log.reading == "read" else f"{log.reading}: {log.because.strip()}"
        size = f", {log.size_bytes:,} bytes" if log.reading == "read" else ""
        yield "log", f"{log.path} ({how}{size})"
    if checked.diagnosis is not None:
        cause = str(checked.diagnosis.cause).replace("_", " ")
        yield "the log says", f"{cause} (confidence {checked.diagnosis.confidence})"
        if checked.diagnosis.world_size and checked.diagnosis.clients_joined is not None:
            joined, world = checked.diagnosis.clients_joined, checked.diagnosis.world_size
            yield "joined", f"{joined} of {world} ranks"
    if checked.compared_with is not None:
        yield "compared with", checked.compared_with.host
    yield "level", f"{checked.level} ({_LEVELS[checked.level]})"


def _job(job: JobFacts) -> str:
    who = f" of {job.user}" if job.user else ""
    return f"{job.cluster}:{job.id} {job.name}{who}, {job.state} (from {job.known_from})"


def _found(one: Machine) -> Iterator[Section]:
    rows = [(each.finding.replace("_", " "), f"{each.why} {each.advice}") for each in one.findings]
    if not rows and one.untold:
        rows.append(("nothing found", one.untold))
    if one.vm_problem and one.vm_problem != one.untold:
        rows.append(("VM", one.vm_problem))
    if one.probed is not None and one.probed.detail:
        rows.append(("on the way", one.probed.detail))
    if one.held:
        rows.append(("held", one.held))
    if one.probed is not None and one.probed.host_key_on_first_use:
        rows.append(("host key", "taken on first use, without proof"))
    if rows:
        yield Section(title=f"Found on {one.host}", rows=tuple(rows))


def _next(checked: Checked) -> Iterator[Section]:
    """Say what the ladder offers, or why it offers no restart."""
    for one in checked.machines:
        offered = [each for each in one.offers if each.offered]
        if offered:
            rows = tuple(
                (f"{each.number}." if each.number is not None else "–", _offer(each.what, each.why))
                for each in offered
            )
            yield Section(title=f"What may be done about {one.host}", rows=rows, numbered=True)
    if not checked.machines and checked.diagnosis is not None:
        steps = enumerate(checked.diagnosis.next_steps, 1)
        rows = tuple((f"{number}.", step) for number, step in steps)
        yield Section(title="Next", rows=rows, numbered=True)


def _offer(what: str, why: tuple[str, ...]) -> str:
    return f"{what} {' '.join(why)}"
