"""What a report says, in order, as rows of text; how it looks is for whoever prints it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from bot.diagnosis.explain import spelled

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bot.diagnosis import Diagnosis
    from bot.diagnosis.kinds import Severity
    from bot.diagnosis.result import Peer

KNOWN = {
    "log": "the log says so",
    "launch": "by the node list, not by the log",
    "guess": "a guess: check it",
}


class Section(NamedTuple):
    """A part of a report: a title over rows of as many cells as the part has columns."""

    title: str = ""
    #: headings of the columns; none where the rows speak for themselves
    columns: tuple[str, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()
    #: whether the first column holds numbers
    numbered: bool = False
    #: whether the first column holds outcomes: OK, WARN, FAIL, SKIP
    toned: bool = False


class Report(NamedTuple):
    """A whole report."""

    title: str
    #: how sure it is
    aside: str
    severity: Severity
    summary: str
    sections: tuple[Section, ...]


def of_diagnosis(found: Diagnosis) -> Report:
    """Return what a diagnosis says: who is affected, facts, quoted lines, what to do next."""
    return Report(
        title=str(found.cause).replace("_", " "),
        aside=f"confidence {found.confidence}",
        severity=found.severity,
        summary=found.summary,
        sections=tuple(_sections(found)),
    )


def _sections(found: Diagnosis) -> Iterator[Section]:
    if found.affected:
        yield Section(
            columns=("Affected", "Ranks", "Because", "Known"), rows=tuple(_affected(found))
        )
    yield Section(rows=tuple((name, value) for name, value in _facts(found) if value))
    yield from quoted_lines(found)
    steps = enumerate(found.next_steps, 1)
    yield Section(
        title="Next", rows=tuple((f"{number}.", step) for number, step in steps), numbered=True
    )


def quoted_lines(found: Diagnosis) -> Iterator[Section]:
    """Return the lines that bear a diagnosis out, file by file, with their numbers."""
    for number, file in enumerate(dict.fromkeys(line.file for line in found.evidence)):
        lines = sorted((line.line, line.text) for line in found.evidence if line.file == file)
        title = "Evidence" if number == 0 else ""
        yield Section(
            title=": ".join(filter(None, (title, file))),
            rows=tuple((str(line), text) for line, text in lines),
            numbered=True,
        )


def _affected(found: Diagnosis) -> Iterator[tuple[str, ...]]:
    for one in found.affected:
        ranks = spelled(one.ranks)
        if not ranks and one.node_rank is not None:
            ranks = f"node rank {one.node_rank}"
        yield one.host or "not named in this log", ranks or "–", one.because, KNOWN[one.known_from]


def _facts(found: Diagnosis) -> tuple[tuple[str, str], ...]:
    log = found.log
    joined = f"{found.clients_joined} of " if found.clients_joined is not None else ""
    return (
        ("joined", f"{joined}{found.world_size} ranks" if found.world_size else ""),
        ("silent ranks", spelled(found.silent_ranks)),
        ("store time-out", f"{found.timeout_seconds:g} s" if found.timeout_seconds else ""),
        ("looked for", ", ".join(map(_peer, found.peers[:4]))),
        ("restart may help", "yes, after the checks below" if found.restart_may_help else "no"),
        ("read", f"{log.lines:,} lines, {log.bytes:,} bytes; {log.matched:,} lines recognised"),
        ("time", " to ".join(dict.fromkeys(filter(None, (log.first_time, log.last_time))))),
    )


def _peer(peer: Peer) -> str:
    port = f":{peer.port}" if peer.port is not None else ""
    codes = f" (gai {', '.join(map(str, peer.gai_codes))}; {peer.lookups}×)" if peer.lookups else ""
    return f"{peer.host}{port}{codes}"
