"""What machines, cloud and scheduler answered at one look, as texts to be kept: bounded, redacted.

A repair destroys what it mends: this is what is left to show what was wrong. Pure.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from datetime import datetime
from enum import Enum

from bot.diagnosis.redact import redact
from bot.hosts.model import Evidence
from bot.hosts.probes import PROBES
from bot.triage.case import Case

#: Accused machines whose answers are kept whole, beside the healthy one.
_MACHINES = 4
#: Characters of one answer, of one log, and of all together.
_MOST_OUTPUT, _MOST_LOG, _MOST = 24_000, 120_000, 700_000
_ARGV = {one.name: " ".join(map(str, one.argv)) for one in PROBES}


def raw(case: Case) -> Mapping[str, str]:
    """Return what was answered, by name, such as `probes/node-8/resolv_conf`; not yet redacted."""
    kept: dict[str, str] = {}
    left = _MOST
    for name, text, most in _answers(case):
        if left <= 0:
            kept[name] = "(left out: the answers before it take all of the room)"
            continue
        kept[name] = _cut(text, min(most, left))
        left -= len(kept[name])
    return kept


def without_secrets(told: Mapping[str, str]) -> Mapping[str, str]:
    """Return the same answers without secrets; it may take a second, so it is done aside."""
    return {name: redact(text).text for name, text in told.items()}


def _answers(case: Case) -> Iterator[tuple[str, str, int]]:
    accused = list(case.looked)[:_MACHINES]
    peer = case.peer.evidence if case.peer else None
    for host in accused:
        if (vm := case.fleet.vm(host)) is not None:
            yield f"cloud/{host}", _fields(vm), _MOST_OUTPUT
        if (node := case.fleet.nodes.get(host)) is not None:
            yield f"scheduler/{host}", _fields(node), _MOST_OUTPUT
    if case.job is not None:
        yield f"scheduler/job-{case.job.label}", _fields(case.job), _MOST_OUTPUT
    for host in accused:
        looked = case.looked[host]
        if looked.evidence is None:
            yield f"probes/{host}/not-asked", looked.problem or "It was not asked.", _MOST_OUTPUT
        else:
            yield from _of_machine(host, looked.evidence)
    if peer is not None:
        yield from _of_machine(f"{peer.name}-healthy", peer)
    for file in case.logs.read:
        yield f"log/{file.path}", file.text.decode(errors="replace"), _MOST_LOG


def _of_machine(host: str, evidence: Evidence) -> Iterator[tuple[str, str, int]]:
    if evidence.failure is not None or evidence.detail:
        said = f"{evidence.failure or 'answered'}: {evidence.detail}"
        yield f"probes/{host}/way-in", f"{evidence.at:%Y-%m-%dT%H:%M:%SZ} {said}", _MOST_OUTPUT
    for name, result in evidence.results.items():
        ended = "no end within its time" if result.rc is None else f"exit {result.rc}"
        took = result.duration.total_seconds()
        cut = ", more was thrown away" if result.cut else ""
        head = f"$ {_ARGV.get(name, name)}\n# {evidence.at:%Y-%m-%dT%H:%M:%SZ}, {ended}, "
        yield f"probes/{host}/{name}", f"{head}{took:.3f} s{cut}\n{result.text}", _MOST_OUTPUT


def _fields(value: object) -> str:
    """Return a value's fields, a line each; what is not told is left out."""
    if not is_dataclass(value):
        return str(value)
    told = ((one.name, getattr(value, one.name)) for one in fields(value))
    return "\n".join(f"{name}: {_word(one)}" for name, one in told if one not in (None, "", ()))


def _word(value: object) -> str:
    if isinstance(value, datetime):
        return f"{value:%Y-%m-%dT%H:%M:%SZ}"
    if isinstance(value, Enum):
        return str(value.value)
    if isinstance(value, frozenset | set):
        return ", ".join(sorted(map(_word, value)))
    if isinstance(value, tuple | list):
        return ", ".join(map(_word, value))
    return str(value)


def _cut(text: str, most: int) -> str:
    """Return a text of at most so many characters: its beginning and, more of it, its end."""
    if len(text) <= most:
        return text
    head, tail = most // 3, most - most // 3
    return f"{text[:head]}\n… {len(text) - most:,} characters are left out …\n{text[-tail:]}"
