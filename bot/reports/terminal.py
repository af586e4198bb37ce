"""The report for a person at a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Console, Group
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    from bot.diagnosis import Diagnosis
    from bot.diagnosis.result import Peer

_COLOUR = {"failure": "red", "warning": "yellow", "none": "green"}
_KNOWN = {
    "log": "the log says so",
    "launch": "by the node list, not by the log",
    "guess": "a guess: check it",
}


def show(found: Diagnosis, console: Console | None = None) -> None:
    """Print who is affected, the cause, why, the quoted lines, and what to do next."""
    (console or Console(highlight=False)).print(report(found))


def report(found: Diagnosis) -> Group:
    """Return the report as rich renderables; foreign text is plain text in it, never markup."""
    colour = _COLOUR[found.severity]
    title = Text.assemble(
        (str(found.cause).replace("_", " "), f"bold {colour}"),
        (f"  confidence {found.confidence}", "dim"),
    )
    parts: list[Panel | Table | Text] = [
        Panel(Text(found.summary), title=title, border_style=colour)
    ]
    if found.affected:
        parts.append(_affected(found))
    parts.append(_facts(found))
    if found.evidence:
        parts += [Text("\nEvidence", style="bold"), *_evidence(found)]
    parts.append(Text("\nNext", style="bold"))
    parts.append(_next_steps(found))
    return Group(*parts)


def _next_steps(found: Diagnosis) -> Table:
    table = Table(box=None, pad_edge=False, show_header=False)
    table.add_column(justify="right", no_wrap=True)
    table.add_column(overflow="fold")
    for number, step in enumerate(found.next_steps, 1):
        table.add_row(Text(f"{number}."), Text(step))
    return table


def _affected(found: Diagnosis) -> Table:
    from bot.diagnosis.explain import spelled

    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in ("Affected", "Ranks", "Because", "Known"):
        table.add_column(column, overflow="fold")
    for one in found.affected:
        ranks = spelled(one.ranks)
        if not ranks and one.node_rank is not None:
            ranks = f"node rank {one.node_rank}"
        table.add_row(
            Text(one.host or "not named in this log", style="bold"),
            Text(ranks or "–"),
            Text(one.because),
            Text(_KNOWN[one.known_from]),
        )
    return table


def _facts(found: Diagnosis) -> Table:
    from bot.diagnosis.explain import spelled

    table = Table(box=None, pad_edge=False, show_header=False)
    table.add_column(style="dim")
    table.add_column(overflow="fold")
    joined = f"{found.clients_joined} of " if found.clients_joined is not None else ""
    rows = (
        ("joined", f"{joined}{found.world_size} ranks" if found.world_size else ""),
        ("silent ranks", spelled(found.silent_ranks)),
        ("store time-out", f"{found.timeout_seconds:g} s" if found.timeout_seconds else ""),
        ("looked for", ", ".join(_peer(peer) for peer in found.peers[:4])),
        ("restart may help", "yes, after the checks below" if found.restart_may_help else "no"),
        ("read", _amount(found)),
        ("time", " to ".join(filter(None, (found.log.first_time, found.log.last_time)))),
    )
    for name, value in rows:
        if value:
            table.add_row(name, Text(value))
    return table


def _amount(found: Diagnosis) -> str:
    log = found.log
    return f"{log.lines:,} lines, {log.bytes:,} bytes; {log.matched:,} lines recognised"


def _peer(peer: Peer) -> str:
    port = f":{peer.port}" if peer.port is not None else ""
    codes = f" (gai {', '.join(map(str, peer.gai_codes))}; {peer.lookups}×)" if peer.lookups else ""
    return f"{peer.host}{port}{codes}"


def _evidence(found: Diagnosis) -> list[Text | Table]:
    """Return the quoted lines with their numbers, file by file."""
    parts: list[Text | Table] = []
    for file in dict.fromkeys(line.file for line in found.evidence):
        lines = [line for line in found.evidence if line.file == file]
        if file is not None:
            parts.append(Text(file, style="dim"))
        table = Table(box=None, pad_edge=False, show_header=False)
        table.add_column(style="cyan", justify="right", no_wrap=True)
        table.add_column(overflow="fold")
        for line in sorted(lines, key=lambda line: line.line):
            table.add_row(Text(str(line.line)), Text(line.text))
        parts.append(table)
    return parts
