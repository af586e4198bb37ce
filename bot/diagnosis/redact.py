"""Take secrets out of log text before it leaves the program; leave the diagnosis in.

Host names, addresses, ports, ranks and run ids are what a diagnosis consists of and stay, unless
`hide_hosts` is asked for. What is a secret is written in tables: `redact_shapes` (known by their
shape), `redact_names` (known by what stands before them), `redact_keys` (blocks of lines).
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import NamedTuple

from bot.diagnosis.redact_keys import blank_key_blocks
from bot.diagnosis.redact_names import NAMES
from bot.diagnosis.redact_rules import MARK, Rule, lowered
from bot.diagnosis.redact_shapes import SHAPES

#: In order: where two rows find overlapping secrets, the earlier one names the kind.
RULES: tuple[Rule, ...] = (*SHAPES, *NAMES)

#: A replacement can lay bare another secret, and that one a next; real lines settle at the second.
_ROUNDS = 8


class Redacted(NamedTuple):
    """A text without its secrets."""

    #: As given, with `[redacted:<kind>]` in place of each secret and as many lines.
    text: str
    #: How many secrets of each kind were taken out; a private key of many lines counts once.
    counts: Mapping[str, int]


class _Span(NamedTuple):
    start: int
    end: int
    row: int


def redact(text: str, *, hide_hosts: bool = False, held: frozenset[str] | None = None) -> Redacted:
    """Replace each secret by `[redacted:<kind>]` and keep everything else as it is.

    Never raises, and a second pass changes nothing. `hide_hosts`: replace machine names and IP
    addresses, too, by `host-1` and `addr-1`, the same one for the same machine within this text.
    `held`: all of the rules' literals that the text holds, from who has looked for them already.
    """
    counts: Counter[str] = Counter()
    clean = _without_secrets(text, counts, held)
    if hide_hosts:
        from bot.diagnosis.redact_hosts import hide_host_names

        # A pseudonym can make a secret of what an address made look like none.
        hidden = None
        while clean != hidden:
            hidden = hide_host_names(clean)
            clean = _without_secrets(hidden, counts)
    return Redacted(text=clean, counts=MappingProxyType(dict(sorted(counts.items()))))


def _without_secrets(text: str, counts: Counter[str], held: frozenset[str] | None = None) -> str:
    text, keys = blank_key_blocks(text)
    if keys:
        counts["private-key"] += keys
    parts: list[str] = []
    done = 0
    for (start, end), rows in sorted(_suspect_lines(text, held).items()):
        line = text[start:end]
        clean = _clean_line(line, rows, counts)
        if clean != line:
            parts += (text[done:start], clean)
            done = end
    return "".join((*parts, text[done:])) if parts else text


def _suspect_lines(
    text: str, held: frozenset[str] | None = None
) -> dict[tuple[int, int], list[int]]:
    """Find the lines to search: where each begins and ends, and for which rows."""
    low = lowered(text)
    lines: dict[tuple[int, int], list[int]] = {}
    for row, rule in enumerate(RULES):
        if held is not None and held.isdisjoint(rule.literals):
            continue
        for line in rule.suspects(text, low):
            lines.setdefault(line, []).append(row)
    return lines


def _clean_line(line: str, rows: Iterable[int], counts: Counter[str]) -> str:
    for _ in range(_ROUNDS):
        spans = _secrets(line, rows)
        if not spans:
            return line
        line = _replaced(line, spans, counts)
        rows = [row for found in _suspect_lines(line).values() for row in found]
    # Only a line made to keep this up comes here; what is left of it is not worth the risk.
    counts["unsettled-line"] += 1
    return "[redacted:unsettled-line]"


def _secrets(line: str, rows: Iterable[int]) -> list[_Span]:
    """Find what is to be replaced, in order and without overlap."""
    low = lowered(line)
    marks = [mark.span() for mark in MARK.finditer(line)]
    found: list[_Span] = []
    for row in rows:
        for secret in RULES[row].secrets(line, low):
            start, end = _beyond_marks(*secret, marks)
            if not MARK.fullmatch(line, start, end):
                found.append(_Span(start=start, end=end, row=row))
    return _merged(found)


def _beyond_marks(start: int, end: int, marks: list[tuple[int, int]]) -> tuple[int, int]:
    """Widen a span so that it cuts through none of the marks that an earlier round left."""
    after = bisect_left(marks, (start, 0))
    if after and marks[after - 1][1] > start:
        start = marks[after - 1][0]
    last = bisect_left(marks, (end, 0)) - 1
    if last >= 0 and marks[last][1] > end:
        end = marks[last][1]
    return start, end


def _merged(spans: list[_Span]) -> list[_Span]:
    merged: list[_Span] = []
    for span in sorted(spans, key=lambda span: (span.start, span.row)):
        if merged and span.start < merged[-1].end:
            last = merged[-1]
            merged[-1] = _Span(
                start=last.start, end=max(last.end, span.end), row=min(last.row, span.row)
            )
        else:
            merged.append(span)
    return merged


def _replaced(line: str, spans: list[_Span], counts: Counter[str]) -> str:
    parts: list[str] = []
    done = 0
    for span in spans:
        kind = RULES[span.row].kind
        counts[kind] += 1
        parts += (line[done : span.start], f"[redacted:{kind}]")
        done = span.end
    return "".join((*parts, line[done:]))
