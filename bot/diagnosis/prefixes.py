"""Who logged a line: the table of prefixes that launchers, schedulers and shippers put in front.

One row per prefix. A row is tried only at the start of what is left of a line, so nested prefixes
(`2026-05-01T10:00:00Z 64: [1,10]<stderr>:…`) come off one after the other. Ranks, node ranks and
launcher task numbers are different things and stay apart here; the log itself has to link them.
"""

from __future__ import annotations

from typing import NamedTuple

from bot.diagnosis.patterns import Pattern

ISO = r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z| ?[+-]\d\d:?\d\d)?"
_SYSLOG = r"(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) +\d{1,2} \d\d:\d\d:\d\d(?:\.\d+)?"
_NAME = r"[A-Za-z0-9](?:[\w.-]*[A-Za-z0-9])?"
_IP = r"\[[0-9A-Fa-f:.]+\]|[0-9A-Fa-f]*:[0-9A-Fa-f:.]+|\d{1,3}(?:\.\d{1,3}){3}"


class Prefix(NamedTuple):
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
        r"(?:\[[A-Za-z]\w*\|(?P<local_rank>\d+)\]: ?|"
        r"[A-Za-z][\w-]*/(?P<node_rank>\d+) \[(?P<local>\d+)\]: ?)",
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
        rf"(?:<\d+>)?(?:{_SYSLOG}|{ISO}) (?P<host>{_NAME}) "
        r"[A-Za-z_][\w./@-]*\[(?P<process>\d+)\]: ",
        "Nov 30 17:26:18 node-8 train[4711]: {}",
    ),
    _row(
        "syslog without a process id",
        rf"(?:<\d+>)?(?:{_SYSLOG}|{ISO}) (?P<host>(?=\S*\d){_NAME}) [A-Za-z_][\w./@-]*: ",
        "Nov 30 17:26:18 node-8 train: {}",
    ),
    _row(
        "containerd",
        rf"(?P<time>{ISO}) std(?:out|err) [FP] ",
        "2026-11-30T17:26:18.842814600Z stderr F {}",
        _DIGITS,
    ),
    _row(
        "CloudWatch, SageMaker",
        rf"(?P<time>{ISO}) (?P<host>algo-\d+) ",
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
        rf"[\[(]?(?P<time>{ISO})[\])]?(?: -)?[ :|,]? ?",
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
        rf":]+(?:(?P<time>{ISO}|\d\d-\d\d \d\d:\d\d:\d\d"
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
    rf"(?:\[{ISO}\] )?(?P<host>(?=[^:]*[A-Za-z.]){_NAME}):(?P<process>\d+):\d+ \[-?\d+\] "
)

#: The prefix of c10's C++ log; the date has no leading zero (`W104` is 4 January).
C10 = Pattern(
    r"\[(?P<level>[IWEF])(?P<date>\d{3,4})? ?(?P<time>\d\d:\d\d:\d\d\.\d+)? ?"
    r"(?P<source>[^\[\]\n]*?\.(?:cpp|hpp|cc|h|cu|py)):(?P<number>\d+)\] ?"
)
