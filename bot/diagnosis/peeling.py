"""Take the prefixes off a line, whatever stands before what, and keep what they tell."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from bot.diagnosis.filenames import origin_of_file
from bot.diagnosis.names import looks_like_host
from bot.diagnosis.origin import NOWHERE, Origin
from bot.diagnosis.patterns import Pattern
from bot.diagnosis.prefixes import C10, NCCL, PREFIXES, Prefix

#: English words that follow a name in prose, where stern would put the container.
_PROSE = frozenset(
    [
        "is",
        "was",
        "are",
        "were",
        "has",
        "had",
        "have",
        "will",
        "would",
        "can",
        "could",
        "did",
        "does",
        "do",
        "to",
        "of",
        "in",
        "on",
        "at",
        "and",
        "or",
        "for",
        "from",
        "with",
        "as",
        "by",
        "not",
        "no",
        "failed",
        "lost",
        "got",
        "timed",
        "connected",
        "exited",
        "died",
        "reports",
        "says",
        "joined",
        "left",
        "rank",
        "ranks",
        "error",
        "warning",
        "info",
    ]
)
#: What stands before a colon without being a machine.
_NOT_A_HOST = Pattern(
    r"(?:srun|sbatch|slurmstepd|slurmd|ssh|pdsh|python|bash|sh|sudo|mpirun|torchrun|epoch|step|iter"
    r"|iteration|batch|loss|line|frame|cuda|rank|task|job|version|attempt|fold|pid|note|fd|try)"
    r"[-_]?[\d.]*|slurmstepd-.*|[IWEF]\d{3,4}|.*(?:Error|Exception|Warning|Interrupt|Exit)|v?\d+(?:\.\d+){0,2}|gpu\d",
    re.IGNORECASE,
)

_ANSI = Pattern(r"\x1b(?:\[[0-9;:?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\^_])")
_MAX_LEVELS = 8


def strip_ansi(text: str) -> str:
    """Return the text without ANSI escape sequences (ECMA-48 CSI and OSC)."""
    return _ANSI.sub("", text) if "\x1b" in text else text


def _by_first_character() -> dict[str, tuple[Prefix, ...]]:
    table = {}
    for code in range(128):
        char = chr(code)
        table[char] = tuple(row for row in PREFIXES if row.starts is None or char in row.starts)
    return table


_ROWS = _by_first_character()
_ANY = tuple(row for row in PREFIXES if row.starts is None)


class Peeled(NamedTuple):
    """A line without its prefixes, and what these told."""

    text: str
    origin: Origin = NOWHERE
    #: when the line was logged, as the most telling prefix spells it
    time: str | None = None
    #: how many lines the shipper folded into this one
    repeats: int = 1


def peel(line: str, origin: Origin = NOWHERE) -> Peeled:
    """Take every prefix off a line and return what they tell about who logged it.

    `origin` is what is known from outside (file name, labels of a JSON record). The inner prefix
    adds to the outer one and never overrules it.
    """
    text = strip_ansi(line)
    folded = _RAY_FOLDED.search(text) if "across cluster]" in text else None
    if folded is not None:
        peeled = peel(text[: folded.start()], origin)
        return peeled._replace(repeats=min(peeled.repeats * int(folded[1]), _MOST_REPEATS))
    c10 = C10.search(text, 0, _LONGEST_HEAD) if "[" in text else None
    if c10 is None:
        return _peeled(text, origin)
    head = _head(text[: c10.start()], origin)
    time = head.time
    if c10["time"] and not (time and time[4:5] == "-"):
        time = c10_time(c10["date"], c10["time"])
    return Peeled(
        text=head.text + text[c10.start() :],
        origin=head.origin,
        time=time,
        repeats=head.repeats,
    )


#: What Ray puts behind a line that it folded.
_RAY_FOLDED = Pattern(r" \[repeated (\d{1,6})x across cluster\].*$")
_MOST_REPEATS = 1_000_000
#: c10's own prefix stands within so many characters, whatever is put in front of it.
_LONGEST_HEAD = 300
_STUB = "[W a.cpp:1] "


@lru_cache(maxsize=4096)
def _head(head: str, origin: Origin) -> Peeled:
    """Peel what stands before c10's prefix: mostly the same few labels, line after line."""
    peeled = _peeled(head + _STUB, origin)
    return peeled._replace(text=peeled.text.removesuffix(_STUB))


def _peeled(text: str, origin: Origin) -> Peeled:
    time: str | None = None
    repeats = 1
    for _ in range(_MAX_LEVELS):
        found = _first_match(text)
        if found is None:
            break
        row, match = found
        groups = {key: value for key, value in match.groupdict().items() if value}
        stamp = groups.pop("time", None)
        if stamp and (time is None or (stamp[:4].isdigit() and not time[:4].isdigit())):
            time = stamp
        repeats *= int(groups.pop("repeats", 1))
        origin = _told_by(groups, origin)
        text = text[match.end() :]
        if row.source == "quotation":
            text = text.lstrip()
    nccl = NCCL.match(text)
    if nccl:
        origin = origin._replace(nccl_host=nccl["host"])
        if origin.process is None and not origin.labelled:
            origin = origin._replace(process=nccl["process"])
        text = text[nccl.end() :]
    return Peeled(text=text, origin=origin, time=_iso(time), repeats=min(repeats, _MOST_REPEATS))


def _first_match(text: str) -> tuple[Prefix, re.Match[str]] | None:
    if not text or C10.match(text) or NCCL.match(text):
        return None
    for row in _ROWS.get(text[0], _ANY):
        match = row.pattern.match(text)
        if match is None or match.end() == 0:
            continue
        groups = match.groupdict()
        labelled = groups.get("labelled")
        if labelled is not None and not _is_machine(labelled):
            continue
        if groups.get("container") in _PROSE:
            continue
        return row, match
    return None


@lru_cache(maxsize=4096)
def _is_machine(label: str) -> bool:
    return looks_like_host(label) and not _NOT_A_HOST.fullmatch(label)


def _told_by(groups: dict[str, str], origin: Origin) -> Origin:
    """Add what one prefix told to what the outer ones did."""
    if not groups:
        return origin
    if "file" in groups:
        inner = origin_of_file(groups["file"])
        return origin.inside(inner._replace(file=groups["file"]))
    host = groups.get("ip") or groups.get("host") or groups.get("labelled") or groups.get("pod")
    host = host or groups.get("name")
    local = groups.get("local_rank") or groups.get("local")
    return origin.inside(
        Origin(
            host=host.strip("[]") if host else None,
            rank=_number(groups.get("rank")),
            task=_number(groups.get("task")),
            node_rank=_number(groups.get("node_rank")),
            local_rank=_number(local),
            process=groups.get("process"),
        )
    )


def _number(text: str | None) -> int | None:
    return int(text) if text is not None else None


def c10_time(date: str | None, clock: str) -> str:
    """Spell c10's `month*100+day` date (no leading zero) as month and day."""
    if not date:
        return clock
    return f"{int(date) // 100:02d}-{int(date) % 100:02d}T{clock}"


_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


def _iso(time: str | None) -> str | None:
    """Spell a log's time as ISO 8601, without the year or zone where the log has none."""
    if time is None:
        return None
    if time[:3] in _MONTHS:
        month, day, clock = time.split(maxsplit=2)
        return f"{_MONTHS.index(month) + 1:02d}-{int(day):02d}T{clock}"
    glog = re.fullmatch(r"(\d\d)(\d\d) (\d\d:.*)", time)
    if glog:
        return f"{glog[1]}-{glog[2]}T{glog[3]}"
    short = re.fullmatch(r"(\d\d)[-/](\d\d) (\d\d:.*)", time)
    if short:
        return f"{short[1]}-{short[2]}T{short[3].replace(',', '.')}"
    spelled = time.replace(",", ".")
    return re.sub(r"^(\d{4}-\d\d-\d\d) ", r"\1T", spelled).replace(" +", "+").replace(" -", "-")
