"""Replies in an incident's thread: quoted lines, what probes found, and how it ended."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime

from slack_sdk.models.blocks import Block

from bot.diagnosis.result import Evidence
from bot.reports.slack import escaping, fitting
from bot.reports.slack.marking import notification
from bot.reports.slack.message import Message
from bot.reports.slack.parts import (
    Line,
    Names,
    about,
    age,
    aged,
    header,
    line,
    lines,
    listed,
    moment,
    person,
    quoted,
    table,
    words,
)
from bot.reports.slack.standing import finding_words, shown_state, told
from bot.reports.slack.values import Entry, Incident, Purpose
from bot.triage.model import Checked, LogRead, Machine


def evidence(checked: Checked, incident: Incident) -> Message:
    """Return the lines that bear the diagnosis out, by file and line number, and what was read."""
    name = Names(incident.revision)
    found = checked.diagnosis.evidence if checked.diagnosis is not None else ()
    files = list(dict.fromkeys(each.file for each in found))
    blocks = [lines(name("read"), *_read(checked))]
    for number, file in enumerate(files, 1):
        own = [each for each in found if each.file == file]
        blocks.append(
            quoted(name(f"evidence-{number}"), _numbered(own), title=file or "pasted text")
        )
    first = next(iter(found), None)
    said = f"{first.file or 'Pasted text'}, line {first.line}: {first.text}" if first else ""
    return fitting.message(
        blocks=blocks,
        text=notification(f"Evidence: {len(found)} lines.", said),
        about=about(incident, Purpose.EVIDENCE),
    )


def _numbered(found: Sequence[Evidence]) -> str:
    """Put the line numbers before the lines; redacted together, since a key has several lines."""
    ordered = sorted(found, key=lambda each: each.line)
    texts = escaping.clean_lines(each.text for each in ordered)
    width = len(str(ordered[-1].line))
    pairs = zip(ordered, texts, strict=True)
    return "\n".join(f"{each.line:>{width}}  {text}" for each, text in pairs)


def _read(checked: Checked) -> Iterator[Line]:
    if checked.diagnosis is not None:
        log = checked.diagnosis.log
        yield line(
            words("Lines that bear it out. ", bold=True),
            f"Read: {log.lines:,} lines, {log.bytes:,} bytes; {log.matched:,} lines recognised.",
        )
    else:
        yield line("No log was read.")
    for one in checked.logs:
        yield line(words(one.path, code=True), f" {_reading(one)}")


def _reading(one: LogRead) -> str:
    where = f" on {one.host}" if one.host else ""
    if one.reading == "read":
        cut = "; more lines were worth reading than were carried over" if one.cut else ""
        return f"read{where}, {one.size_bytes:,} bytes{cut}"
    return f"{one.reading}{where}: {one.because.strip() or 'no reason given'}"


def probes(checked: Checked, incident: Incident, *, now: datetime) -> Message:
    """Return what was found on the machines and on the healthy one beside them, as a table."""
    name = Names(incident.revision)
    shown = checked.machines[:_MOST_COLUMNS]
    peer = checked.compared_with
    columns = [*shown, *([peer] if peer is not None else [])]
    heads = [one.host for one in shown] + ([f"{peer.host} (healthy)"] if peer else [])
    rows: list[tuple[str | Line, ...]] = [("", *heads)]
    rows += [(label, *(_cell(label, one, now) for one in columns)) for label in _ROWS]
    more = [_brief(one) for one in checked.machines[_MOST_COLUMNS:]]
    blocks: list[Block] = []
    if columns:
        blocks.append(table(name("probes"), rows))
    blocks += [
        listed(name(f"advice-{n}"), _advice(one), title=one.host) for n, one in enumerate(shown)
    ]
    if more:
        blocks.append(listed(name("others"), map(line, more), title="Other machines"))
    said = "; ".join(_brief(one) for one in columns) or "no machine was probed"
    return fitting.message(
        blocks=blocks or [lines(name("none"), line("No machine was probed."))],
        text=notification(f"Probes: {said}."),
        about=about(incident, Purpose.PROBES),
    )


#: More columns than these cannot be read on a phone.
_MOST_COLUMNS = 2
_ROWS = ("Found", "Why", "API state", "Probed", "Way in", "Names asked")


def _cell(label: str, one: Machine, now: datetime) -> str | Line:
    probed, vm = one.probed, one.vm
    match label:
        case "Found":
            return ", ".join(finding_words(each.finding) for each in one.findings) or "nothing"
        case "Why":
            return " ".join(each.why for each in one.findings) or one.untold
        case "API state":
            state = line(f"{shown_state(vm.raw_state)}, ", aged(vm.read_at, now)) if vm else None
            return state or "not known"
        case "Probed":
            return line(aged(probed.at, now)) if probed else "no"
        case "Way in":
            return _way_in(one)
    return ", ".join(probed.names) if probed else ""


def _way_in(one: Machine) -> str:
    if one.probed is None:
        return ""
    if one.probed.failure is not None:
        return f"{one.probed.failure}: {one.probed.detail}"
    took = one.probed.login_ms
    key = "host key taken on first use, without proof" if one.probed.host_key_on_first_use else ""
    said = ("SSH", f"login {took} ms" if took is not None else "", key, one.probed.detail)
    return "; ".join(filter(None, said))


def _brief(one: Machine) -> str:
    return f"{one.host}: {told(one) or one.untold or 'nothing found'}"


def _advice(one: Machine) -> Iterator[Line]:
    for each in one.findings:
        yield line(each.advice)
        for label, rungs in (("Helps: ", each.helps), ("Cannot help: ", each.cannot_help)):
            if rungs:
                yield line(words(label, bold=True), ", ".join(map(finding_words, rungs)))
    if not one.findings:
        yield line(one.untold or "Nothing was found.")
    if one.held:
        yield line(words("Held by somebody else: ", bold=True), one.held)


def summary(
    incident: Incident, entries: Sequence[Entry], *, outcome: str, now: datetime
) -> Message:
    """Return how an incident ended: the outcome in a sentence, and its timeline with times."""
    name = Names(incident.revision)
    about_what = incident.job or "pasted log"
    ended = incident.closed_at or now
    took = age(ended - incident.asked_at)
    rows = [_entry(each, incident, now) for each in entries]
    return fitting.message(
        blocks=[
            header(name("title"), f"Summary: {about_what}"),
            lines(name("outcome"), line(words(outcome, bold=True)), line(f"It took {took}.")),
            *([listed(name("timeline"), rows, title="Timeline")] if rows else []),
        ],
        text=notification(f"Summary of {about_what}: {outcome}", f"It took {took}."),
        about=about(incident, Purpose.SUMMARY),
    )


def _entry(each: Entry, incident: Incident, now: datetime) -> Line:
    since = f" (+{age(each.at - incident.asked_at)}) "
    by = (", ", person(each.by)) if each.by else ()
    return line(moment(each.at, now), since, each.what, *by)
