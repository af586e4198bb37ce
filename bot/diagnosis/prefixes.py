"""Who logged a line: the table of prefixes that launchers, schedulers and shippers put in front.

One row per prefix. A row is tried only at the start of what is left of a line, so nested prefixes
(`2026-05-01T10:00:00Z 64: [1,10]<stderr>:…`) come off one after the other. Ranks, node ranks and
launcher task numbers are different things and stay apart here; the log itself has to link them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import lru_cache

from bot.diagnosis.filenames import origin_of_file
from bot.diagnosis.names import looks_like_host
from bot.diagnosis.origin import NOWHERE, Origin
from bot.diagnosis.patterns import Pattern

_ISO = r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z| ?[+-]\d\d:?\d\d)?"
_SYSLOG = r"(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) +\d{1,2} \d\d:\d\d:\d\d(?:\.\d+)?"
_NAME = r"[A-Za-z0-9](?:[\w.-]*[A-Za-z0-9])?"
_IP = r"\[[0-9A-Fa-f:.]+\]|[0-9A-Fa-f]*:[0-9A-Fa-f:.]+|\d{1,3}(?:\.\d{1,3}){3}"


@dataclass(frozen=True, kw_only=True)
class Prefix:
    """One prefix that something puts in front of a line."""

    #: what puts it there
    source: str
    #: regular expression, matched at the start; named groups are what it tells (`Origin` fields,
    #: plus `time`, `file`, `repeats`)
    pattern: Pattern
    #: a whole prefix as it is printed, with `{}` where the line follows
    example: str
    #: characters that it can start with; None is any
    starts: str | None = None


def _row(source: str, pattern: str, example: str, starts: str | None = None) -> Prefix:
    return Prefix(source=source, pattern=Pattern(pattern), example=example, starts=starts)


_DIGITS = "0123456789"

#: Rows in the order in which they are tried; the more telling one first.
PREFIXES: tuple[Prefix, ...] = (
    _row(
        "kubectl logs --prefix",
        r"\[pod/(?P<host>[^/\]\s]+)/[^\]\s]+\] ?",
        "[pod/trainer-worker-2/pytorch] {}",
        "[",
    ),
    _row(
        "torch excepthook and c10 (2.2 on)",
        r"\[rank(?P<rank>\d{1,7})\]: ?",
        "[rank64]: {}",
        "[",
    ),
    _row(
        "Open MPI --tag-output, SageMaker",
        rf"\[\d+,(?:mpirank:)?(?P<task>\d{{1,7}})(?:,(?P<host>{_NAME}))?\]<std(?:out|err)>: ?",
        "[1,64]<stderr>:{}",
        "[",
    ),
    _row(
        "torchrun --tee",
        rf"\[(?:(?P<host>{_NAME}):)?[A-Za-z_]\w*?(?P<local_rank>\d{{1,4}})\]: ?",
        "[default3]:{}",
        "[",
    ),
    _row(
        "torchx",
        r"(?:\[[A-Za-z]\w*\|(?P<local_rank>\d+)\]: ?|[A-Za-z][\w-]*/\d+ \[(?P<local>\d+)\]: ?)",
        "trainer/0 [1]:{}",
    ),
    _row(
        "SkyPilot",
        r"\((?P<name>head|worker\d*), rank=(?P<node_rank>\d+), pid=\d+"
        rf"(?:, ip=(?P<ip>{_IP}|{_NAME}))?\) ?",
        "(worker1, rank=1, pid=5752, ip=10.0.0.9) {}",
        "(",
    ),
    _row(
        "Ray, vLLM",
        r"\((?:[^()\n]{0,200}? )?pid=(?P<process>\d+)"
        rf"(?:, ip=(?P<ip>{_IP}|{_NAME}))?\) ?",
        "(RayTrainWorker pid=4126, ip=10.42.0.12) {}",
        "(",
    ),
    _row(
        "docker compose",
        rf"(?P<host>{_NAME}) +\| ",
        "worker-2  | {}",
    ),
    _row(
        "Slurm srun -l, pmix -l",
        r" {0,6}(?P<task>\d{1,7}): ",
        "64: {}",
        _DIGITS + " ",
    ),
    _row(
        "Intel MPI -l and other wrappers",
        r"\[(?P<task>\d{1,5})\]:? (?=\S)",
        "[64] {}",
        "[",
    ),
    _row(
        "rank as a word",
        r"(?:rank|Rank|RANK) ?(?P<rank>\d{1,7}): ",
        "rank64: {}",
        "rR",
    ),
    _row(
        "journald, syslog",
        rf"(?:<\d+>)?(?:{_SYSLOG}|{_ISO}) (?P<host>{_NAME}) [\w./@-]+(?:\[(?P<process>\d+)\])?: ",
        "Nov 30 17:26:18 node-8 train[4711]: {}",
    ),
    _row(
        "containerd",
        rf"(?P<time>{_ISO}) std(?:out|err) [FP] ",
        "2026-11-30T17:26:18.842814600Z stderr F {}",
        _DIGITS,
    ),
    _row(
        "CloudWatch, SageMaker",
        rf"(?P<time>{_ISO}) (?P<host>algo-\d+) ",
        "2026-11-30T17:26:18.842Z algo-2 {}",
        _DIGITS,
    ),
    _row(
        "SageMaker without a time",
        r"(?P<host>algo-\d+) (?:\| )?",
        "algo-2 {}",
        "a",
    ),
    _row(
        "ISO time",
        rf"[\[(]?(?P<time>{_ISO})[\])]?(?: -)?[ :|,]? ?",
        "2026-11-30T17:26:18.842814Z {}",
        _DIGITS + "[(",
    ),
    _row(
        "syslog time",
        rf"(?P<time>{_SYSLOG}) ",
        "Nov 30 17:26:18 {}",
        "JFMASOND",
    ),
    _row(
        "clock time",
        r"\[?(?P<time>(?:\d{2}[-/]\d{2}(?:[-/]\d{2,4})? )?\d\d:\d\d:\d\d(?:[.,]\d+)?)\]?(?: -)? ",
        "17:26:18.842 {}",
        _DIGITS + "[",
    ),
    _row(
        "Python logging, level first",
        rf"\[?(?:DEBUG|INFO|WARNING|ERROR|CRITICAL)\]?[ "
        rf":]+(?:(?P<time>{_ISO}|\d\d-\d\d \d\d:\d\d:\d\d"
        r"(?:[.,]\d+)?) )?(?:\[?[\w./-]+\.py:\d+\]|[\w.]+:(?=[^\d\s/]|\[| ))? ?",
        "ERROR 08-02 08:50:03 worker_base.py:382] {}",
        "[DIWEC",
    ),
    _row(
        "torch launcher (2.1, 2.2)",
        r"torch\.distributed\.[\w.]+: \[[A-Z]+\] ",
        "torch.distributed.run: [WARNING] {}",
        "t",
    ),
    _row(
        "torch launcher (2.3 on)",
        r"[IWEF](?P<time>\d{4} \d\d:\d\d:\d\d\.\d+) \d+ [\w./-]+\.py:\d+\] ?",
        "W1130 17:26:18.208000 296 torch/distributed/run.py:874] {}",
        "IWEF",
    ),
    _row(
        "Monarch and other folders of like lines",
        r"\[(?P<repeats>\d+) similar log lines\] ",
        "[24 similar log lines] {}",
        "[",
    ),
    _row(
        "grep -H, tail of files",
        r"(?P<file>(?:[\w.@%+=-]*/)*[\w.@%+=-]+\.(?:log|out|err|txt|stdout|stderr)(?:\.\d+)?)"
        r":(?:\d+:)? ?",
        "logs/rank_64.log:{}",
    ),
    _row(
        "DeepSpeed, pdsh, clush",
        rf"(?P<labelled>{_NAME}|{_IP}): ",
        "node-8: {}",
    ),
    _row(
        "stern",
        r"(?P<pod>(?=[^ ]*\d)[a-z0-9]+(?:-[a-z0-9]+)+) (?P<container>[a-z][a-z0-9-]*) (?=\S)",
        "trainer-worker-2 pytorch {}",
    ),
    _row(
        "quotation",
        r"(?:[>#|] |\t)+",
        "> {}",
        ">#|\t",
    ),
)

#: The prefix that NCCL itself prints; `host` is the machine that logs, cut at the first dot.
NCCL = Pattern(
    rf"(?:\[{_ISO}\] )?(?P<host>(?=[^:]*[A-Za-z.]){_NAME}):(?P<process>\d+):\d+ \[-?\d+\] "
)

#: The prefix of c10's C++ log; the date has no leading zero (`W104` is 4 January).
C10 = Pattern(
    r"\[(?P<level>[IWEF])(?P<date>\d{3,4})? ?(?P<time>\d\d:\d\d:\d\d\.\d+)? ?"
    r"(?P<source>[^\[\]\n]*?\.(?:cpp|hpp|cc|h|cu|py)):(?P<number>\d+)\] ?"
)

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


@dataclass(frozen=True, kw_only=True, slots=True)
class Peeled:
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
    c10 = C10.search(text, 0, _LONGEST_HEAD) if "[" in text else None
    if c10 is None:
        return _peeled(text, origin)
    head = _head(text[: c10.start()], origin)
    time = head.time
    if c10["time"] and not (time and time[4:5] == "-"):
        time = _c10_time(c10["date"], c10["time"])
    return Peeled(
        text=head.text + text[c10.start() :],
        origin=head.origin,
        time=time,
        repeats=head.repeats,
    )


#: c10's own prefix stands within so many characters, whatever is put in front of it.
_LONGEST_HEAD = 300
_STUB = "[W a.cpp:1] "


@lru_cache(maxsize=4096)
def _head(head: str, origin: Origin) -> Peeled:
    """Peel what stands before c10's prefix: mostly the same few labels, line after line."""
    peeled = _peeled(head + _STUB, origin)
    return replace(peeled, text=peeled.text.removesuffix(_STUB))


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
        origin = replace(origin, nccl_host=nccl["host"])
        if origin.process is None and not origin.labelled:
            origin = replace(origin, process=nccl["process"])
        text = text[nccl.end() :]
    return Peeled(text=text, origin=origin, time=_iso(time), repeats=min(repeats, 1_000_000))


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
        return origin.inside(replace(inner, file=groups["file"]))
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


def _c10_time(date: str | None, clock: str) -> str:
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
