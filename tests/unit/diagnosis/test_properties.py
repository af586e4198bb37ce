"""What must not change a diagnosis: the order of speakers, prefixes, colours, line ends, splits."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import bot
from bot.diagnosis import Diagnosis, Source, diagnose, diagnose_bytes, of_bytes
from bot.diagnosis.prefixes import PREFIXES
from bot.diagnosis.progress import is_progress
from bot.diagnosis.signatures import SIGNATURES
from tests.cases.accuracy import Case, cases
from tests.trickle import Trickle

EXAMPLE = (Path(bot.__file__).parent / "examples" / "resolver-failed.log").read_bytes()
ALL = list(cases([Path(__file__).parents[2] / "cases"]))
#: Logs in which each line says which task it is of.
LABELLED = [
    case
    for case in ALL
    if sum(bool(re.match(rb" *\d+: ", line)) for line in case.log.split(b"\n"))
    > 0.7 * case.log.strip().count(b"\n")
]

Verdict = tuple[str, tuple[tuple[str | None, tuple[int, ...], int | None], ...]]


def verdict(found: Diagnosis) -> Verdict:
    """Return what must stay the same: the cause and who is affected."""
    return found.cause, tuple((one.host, one.ranks, one.node_rank) for one in found.affected)


#: The diagnosis of each case as it stands, made once.
_PLAIN: dict[str, Verdict] = {}


def plain_of(case: Case) -> Verdict:
    """Return the verdict on a case as it stands."""
    key = f"{case.suite}/{case.id}"
    if key not in _PLAIN:
        _PLAIN[key] = verdict(diagnose_bytes(case.log))
    return _PLAIN[key]


def by_line(change: Callable[[bytes, int], bytes]) -> Callable[[bytes], bytes]:
    """Return a change of a whole log out of one of each line that is not blank."""

    def changed(log: bytes) -> bytes:
        return b"\n".join(
            change(line, number) if line.strip() else line
            for number, line in enumerate(log.split(b"\n"))
        )

    return changed


def _record(line: bytes, **labels: str) -> bytes:
    return json.dumps({**labels, "log": line.decode("utf-8", "replace")}).encode()


#: Prefixes that say nothing of who speaks, and other things that shippers and terminals do.
NEUTRAL: dict[str, Callable[[bytes], bytes]] = {
    row.source: by_line(lambda line, _, row=row: row.example.encode().replace(b"{}", line))  # type: ignore[misc]
    for row in PREFIXES
    if row.source
    in {
        "containerd",
        "ISO time",
        "syslog time",
        "clock time",
        "quotation",
        "Python logging, level first",
    }
} | {
    "colour": by_line(lambda line, _: b"\x1b[36m" + line + b"\x1b[0m"),
    "CRLF": by_line(lambda line, _: line + b"\r"),
    "duplicates": by_line(lambda line, _: line + b"\n" + line),
    "trailing blanks": by_line(lambda line, _: line + b"  "),
    "record": by_line(lambda line, _: _record(line, stream="stderr")),
    "record in a record": by_line(lambda line, _: _record(_record(line), time="2026-11-30")),
    "logfmt": by_line(lambda line, _: b"level=info msg=" + json.dumps(line.decode()).encode()),
    "NULs": lambda log: b"\0" * 64 + log,
    "byte order mark": lambda log: b"\xef\xbb\xbf" + log,
}


@pytest.mark.parametrize("name", NEUTRAL)
def test_what_shippers_add_changes_nothing(name: str) -> None:
    """Neutral prefixes, colours, line ends and records leave cause and affected as they are."""
    change = NEUTRAL[name]
    for case in ALL:
        assert verdict(diagnose_bytes(change(case.log))) == plain_of(case), case.id


def relabelled(log: bytes, label: Callable[[int], str]) -> bytes:
    """Put another label where `N: ` stands."""
    return re.sub(rb"(?m)^ *(\d+): ", lambda found: label(int(found[1])).encode(), log)


LABELS: dict[str, Callable[[int], str]] = {
    "rank bracket": lambda number: f"[rank{number}]: ",
    "mpi": lambda number: f"[1,{number}]<stderr>:",
    "padded srun": lambda number: f"{number:4}: ",
    "time before srun": lambda number: f"2026-11-30T17:26:18.842814Z {number}: ",
    "wrapper": lambda number: f"[{number}] ",
    "rank word": lambda number: f"rank{number}: ",
}


@pytest.mark.parametrize("name", LABELS)
@pytest.mark.parametrize("case", LABELLED, ids=lambda case: case.id)
def test_how_a_rank_is_labelled_changes_nothing(case: Case, name: str) -> None:
    """`64: `, `[rank64]: ` and `[1,64]<stderr>:` are the same speaker."""
    if b"torch/distributed/run.py" in case.log or b"elastic" in case.log:
        return  # there a task is a node rank, which the other labels do not mean
    assert verdict(diagnose_bytes(relabelled(case.log, LABELS[name]))) == plain_of(case)


def shuffled(log: bytes, seed: int) -> bytes:
    """Interleave the speakers anew; each one's own order stays."""
    speakers: dict[bytes, list[bytes]] = {}
    for line in log.split(b"\n"):
        found = re.match(rb" *\d+: ", line)
        speakers.setdefault(found[0] if found else b"", []).append(line)
    turns = [speaker for speaker, lines in speakers.items() for _ in lines]
    random.Random(seed).shuffle(turns)
    queues = {speaker: iter(lines) for speaker, lines in speakers.items()}
    return b"\n".join(next(queues[speaker]) for speaker in turns)


def speaks_for_itself(case: Case) -> bool:
    """Tell whether no speaker's progress has to stand for another's.

    The one place where the order between speakers means something: where only rank 0 logs steps,
    they show that the others recovered only if they come after the others' failures.
    """
    if case.truth["cause"] != "harmless_warning":
        return True
    lines = case.log.decode().split("\n")
    failing = {line.partition(": ")[0] for line in lines if "socket.cpp:" in line}
    return failing <= {line.partition(": ")[0] for line in lines if is_progress(line)}


@given(
    seed=st.integers(0, 2**32),
    case=st.sampled_from([case for case in LABELLED if speaks_for_itself(case)]),
)
def test_the_order_of_speakers_changes_nothing(seed: int, case: Case) -> None:
    """Lines of ranks interleave as they like; only one's own order means anything."""
    assert verdict(diagnose_bytes(shuffled(case.log, seed))) == plain_of(case)


@given(sizes=st.lists(st.integers(1, 5000), max_size=8), case=st.sampled_from(ALL))
def test_how_a_stream_is_split_changes_nothing(sizes: list[int], case: Case) -> None:
    """A read may end anywhere, in the middle of a message or a character."""
    source = Source(name=None, open=lambda: nullcontext(Trickle(case.log, sizes)))
    assert diagnose([source]) == diagnose_bytes(case.log)


_WORDS = st.sampled_from(
    [row.example.encode() for row in SIGNATURES]
    + [row.example.format("x").encode() for row in PREFIXES]
    + [b"\n", b"\r\n", b"\0", b"\xff\xfe", b"\x1b[31m", b"{", b'{"log": "', b"==> a.log <==\n"]
)


@given(st.lists(st.one_of(_WORDS, st.binary(max_size=40)), max_size=40).map(b"".join))
def test_no_bytes_make_it_fail(data: bytes) -> None:
    """Whatever is pasted, the answer is a diagnosis that fits the contract."""
    found = diagnose_bytes(data)
    assert found.log.bytes == len(data)
    assert found.restart_may_help == (found.cause == "resolver_failed")


@given(st.binary(max_size=400), st.integers(0, 60))
def test_garbage_around_a_log_is_ignored(garbage: bytes, at: int) -> None:
    """Binary noise between lines neither breaks the reading nor names anybody."""
    lines = EXAMPLE.split(b"\n")
    lines.insert(at, garbage.replace(b"\n", b" "))
    assert diagnose_bytes(b"\n".join(lines)).cause == "resolver_failed"


def test_order_of_files_changes_nothing() -> None:
    """Per-rank files may be named in any order."""
    files: dict[str, list[bytes]] = {}
    for line in EXAMPLE.split(b"\n"):
        found = re.match(rb"(\d+): ", line)
        name = f"rank_{found[1].decode()}.log" if found else "srun.err"
        files.setdefault(name, []).append(line[len(found[0]) :] if found else line)
    sources = [of_bytes(b"\n".join(lines), name) for name, lines in files.items()]
    plain = verdict(diagnose_bytes(EXAMPLE))
    for seed in range(6):
        random.Random(seed).shuffle(sources)
        assert verdict(diagnose(sources)) == plain
