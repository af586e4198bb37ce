"""Measure what the product promises, part by part; each part yields rows for the table.

A wrong verdict goes into the bench's list of mistakes; a missed goal is only printed.
"""

from __future__ import annotations

import compileall
import dataclasses
import json
import shutil
import statistics
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.benchmarks.generator import MB, Shape, generate
from tests.benchmarks.measure import (
    ROOT,
    Command,
    CommandFailedError,
    Run,
    Series,
    in_turn,
    one_core,
    run_once,
)
from tests.benchmarks.table import Row, ratio_row
from tests.benchmarks.truth import Truth, mistakes

_PEAK_GOAL_BYTES = 150 * MB
_SHORT_RUNS = 9
#: Exit codes of ``diagnose``: nothing wrong, and a failure diagnosed.
_DIAGNOSED = (0, 1)


@dataclass(frozen=True, kw_only=True)
class Bench:
    """What all parts of one run share."""

    #: Folder for logs; removed by whoever made it.
    folder: Path
    #: Strings to look for, one a line.
    signatures: Path
    size_bytes: int
    seed: int
    #: Runs of each long command.
    times: int
    #: Says on a terminal what is being done.
    say: Callable[[str], None]
    #: Core that measured commands are pinned to.
    core: int | None = dataclasses.field(default_factory=one_core)
    #: Wrong verdicts, in words.
    mistakes: list[str] = dataclasses.field(default_factory=list)

    def make(self, shape: Shape, size_bytes: int) -> tuple[Path, Truth]:
        """Write a log of a shape to the folder; reading it back leaves it in the page cache."""
        self.say(f"making {in_words(size_bytes)} of the shape {shape}")
        path = self.folder / f"{shape}.log"
        with path.open("wb") as out:
            truth = generate(out.write, shape=shape, size_bytes=size_bytes, seed=self.seed)
        warm(path)
        return path, truth

    def judge(self, what: str, truth: Truth, run: Run) -> None:
        """Compare the report that a run printed with the truth.

        Raises `CommandFailedError` when it printed none: an exit code of 1 may mean that, too.
        """
        try:
            report = json.loads(run.output)
        except ValueError:
            raise CommandFailedError(f"{what} got no report: {run.words}") from None
        self.mistakes.extend(f"{what}: {words}" for words in mistakes(truth, report))

    def run(self, command: Command) -> Run:
        """Run a command once, pinned."""
        return run_once(command, core=self.core, folder=self.folder)

    def many(self, commands: list[Command], times: int) -> list[Series]:
        """Run several commands in turn, pinned."""
        return in_turn(commands, times=times, core=self.core, folder=self.folder)


def in_words(size_bytes: int) -> str:
    """Write a size as people say it."""
    unit, name = (1000 * MB, "GB") if size_bytes >= 1000 * MB else (MB, "MB")
    return f"{size_bytes / unit:g} {name}"


def warm(path: Path) -> None:
    """Read a file once, so that all that follows find it in the page cache."""
    with path.open("rb") as file:
        while file.read(8 * MB):
            pass


def _diagnose(*arguments: str) -> Command:
    return Command(
        name="nccl-dns diagnose",
        argv=(sys.executable, "-m", "bot", "diagnose", *arguments, "--json"),
        good_exits=_DIAGNOSED,
    )


@dataclass(frozen=True, kw_only=True)
class Scanner:
    """A tool that counts the lines with any of the strings."""

    tool: str
    #: Package that has the tool.
    package: str
    #: Up to the file of strings; ``--no-config`` keeps out a user's own settings.
    options: tuple[str, ...]


SCANNERS = (
    Scanner(tool="grep", package="grep", options=("-F", "-c", "-f")),
    Scanner(tool="rg", package="ripgrep", options=("--no-config", "-c", "-F", "-f")),
)


def _scanner(bench: Bench, scanner: Scanner, path: Path) -> Command:
    return Command(
        name=f"{scanner.tool} -F -c -f signatures",
        argv=(scanner.tool, *scanner.options, str(bench.signatures), str(path)),
        # Bytes instead of characters: grep is many times slower otherwise.
        env={"LC_ALL": "C"},
    )


def _series_row(series: Series, size_bytes: int | None = None, note: str = "") -> Row:
    return Row(
        name=f"  {series.name}",
        best=series.best,
        median=series.median,
        cpu=series.cpu,
        size_bytes=size_bytes,
        peak_bytes=series.peak_bytes,
        result=note,
    )


def scan(bench: Bench, shape: Shape, *, slower: float, faster: float | None) -> Iterator[Row]:
    """Compare the diagnosis of a whole log with a scan for the same strings by grep and ripgrep.

    ``slower`` and ``faster`` are the goals for the ratio to the slower and the faster of the two.
    """
    path, truth = bench.make(shape, bench.size_bytes)
    what = f"{in_words(bench.size_bytes)} {shape}"
    try:
        bench.say(f"diagnosing {what}")
        present = [scanner for scanner in SCANNERS if shutil.which(scanner.tool)]
        commands = [_scanner(bench, scanner, path) for scanner in present]
        ours, *theirs = bench.many([_diagnose(str(path)), *commands], bench.times)
        for run in ours.runs:
            bench.judge(what, truth, run)
        yield Row(name=f"{what}, file", result=f"{truth.lines} lines")
        yield _series_row(ours, truth.size_bytes)
        for series in theirs:
            count = series.runs[-1].output.decode().strip()
            yield _series_row(series, truth.size_bytes, note=f"{count} lines match")
        yield from _ratios(ours, theirs, slower=slower, faster=faster)
        yield _peak_row("  peak memory", ours.peak_bytes)
        if shape == "mixed":
            yield from _pasted_tail(bench, path, truth)
    finally:
        path.unlink()


def _ratios(
    ours: Series, theirs: list[Series], *, slower: float, faster: float | None
) -> Iterator[Row]:
    there = " ".join(series.name for series in theirs)
    for scanner in SCANNERS:
        if scanner.tool not in there.split():
            note = f"not here; install the package {scanner.package}"
            yield Row(name=f"  {scanner.tool}", result=note)
    if not theirs:
        return
    by_time = sorted(theirs, key=lambda series: series.best)
    for word, bar, goal in (("slower", by_time[-1], slower), ("faster", by_time[0], faster)):
        yield ratio_row(
            f"  to the {word}, {bar.name.partition(' ')[0]}",
            ours.best / bar.best,
            cpu=ours.cpu / bar.cpu,
            at_most=goal,
        )


def _peak_row(name: str, peak_bytes: int) -> Row:
    return Row(
        name=name,
        peak_bytes=peak_bytes,
        result=f"{peak_bytes / MB:.0f} MB",
        goal=f"< {_PEAK_GOAL_BYTES // MB} MB",
        met=peak_bytes < _PEAK_GOAL_BYTES,
    )


def endless(bench: Bench, size_bytes: int, *, as_file: bool) -> Iterator[Row]:
    """Diagnose a log ten times as long, through a pipe or from a file, for its peak memory."""
    if as_file:
        path, truth = bench.make("mixed", size_bytes)
        bench.say(f"diagnosing {in_words(size_bytes)} from a file")
        run = bench.run(_diagnose(str(path)))
        path.unlink()
    else:
        bench.say(f"diagnosing {in_words(size_bytes)} through a pipe while they are made")
        run, truth = _piped(bench, size_bytes)
    bench.judge(f"{in_words(size_bytes)} mixed", truth, run)
    way = "file" if as_file else "pipe, as fast as it is made"
    yield Row(
        name=f"{in_words(size_bytes)} mixed, {way}",
        best=run.seconds,
        cpu=run.cpu_seconds,
        size_bytes=truth.size_bytes,
        peak_bytes=run.peak_bytes,
        result=f"{truth.lines} lines",
    )
    yield _peak_row("  peak memory", run.peak_bytes)


def _piped(bench: Bench, size_bytes: int) -> tuple[Run, Truth]:
    told = bench.folder / "truth.json"
    arguments = ["--size", f"{size_bytes // MB}MB", "--seed", str(bench.seed), "--truth", str(told)]
    maker = subprocess.Popen(
        [sys.executable, "-m", "tests.benchmarks.generator", "--shape", "mixed", *arguments],
        stdout=subprocess.PIPE,
        cwd=ROOT,
    )
    with maker:
        run = run_once(_diagnose("-"), core=bench.core, folder=bench.folder, stdin=maker.stdout)
    return run, Truth.from_json(told.read_text("ascii"))


def _pasted_tail(bench: Bench, path: Path, truth: Truth) -> Iterator[Row]:
    """Time the last megabyte of a large log, a third of which is its fatal ending."""
    with path.open("rb") as file:
        file.seek(-min(MB, truth.size_bytes), 2)
        data = file.read().partition(b"\n")[2]
    tail = dataclasses.replace(truth, lines=data.count(b"\n"), size_bytes=len(data))
    pasted = bench.folder / "paste.log"
    pasted.write_bytes(data)
    yield from _call(bench, "1 MB, the end of the large log", pasted, tail, goal_seconds=None)


def pastes(bench: Bench) -> Iterator[Row]:
    """Time the library's call on a megabyte with the large log's mix, and on look-ups alone."""
    goals: tuple[tuple[Shape, float], ...] = (("mixed", 0.050), ("lookups", 0.250))
    for shape, goal_seconds in goals:
        path, truth = bench.make(shape, MB)
        yield from _call(bench, f"1 MB {shape}, library call", path, truth, goal_seconds)


def _call(
    bench: Bench, name: str, path: Path, truth: Truth, goal_seconds: float | None
) -> Iterator[Row]:
    bench.say(name)
    run = bench.run(
        Command(
            name="library call",
            argv=(sys.executable, "-m", "tests.benchmarks.paste", str(path), str(_SHORT_RUNS)),
        )
    )
    path.unlink()
    measured = json.loads(run.output)
    report = json.dumps(measured["report"]).encode()
    bench.judge(name, truth, dataclasses.replace(run, output=report))
    seconds = measured["seconds"]
    median = statistics.median(seconds)
    yield Row(
        name=name,
        best=min(seconds),
        median=median,
        cpu=min(measured["cpu_seconds"]),
        size_bytes=truth.size_bytes,
        peak_bytes=run.peak_bytes,
        result=f"first call {seconds[0] * 1000:.0f} ms",
        goal="" if goal_seconds is None else f"median < {goal_seconds * 1000:.0f} ms",
        met=None if goal_seconds is None else median < goal_seconds,
    )


def startup(bench: Bench) -> Iterator[Row]:
    """Time the start of the commands against the start of Python itself."""
    bench.say("starting up")
    # as in an installed wheel; where Python may not write bytecode, it would compile at each start
    compileall.compile_dir(ROOT / "bot", quiet=1)
    tiny = bench.folder / "tiny.log"
    tiny.write_text("step 1 | loss 2.3026\n", encoding="ascii")
    commands = [
        Command(name="python -c pass", argv=(sys.executable, "-c", "pass")),
        Command(name="nccl-dns --help", argv=(sys.executable, "-m", "bot", "--help")),
        dataclasses.replace(_diagnose(str(tiny)), name="nccl-dns diagnose, one line"),
    ]
    bare, *ours = bench.many(commands, _SHORT_RUNS)
    tiny.unlink()
    yield Row(name="start-up")
    yield _series_row(bare)
    goal_seconds = 0.300
    for series in ours:
        yield dataclasses.replace(
            _series_row(series),
            result=f"{series.median / bare.median:.1f}x python",
            goal=f"median < {goal_seconds * 1000:.0f} ms",
            met=series.median < goal_seconds,
        )
