"""Measure the diagnosis against grep and ripgrep and print one table of ratios within this run.

The exit code is 1 when a verdict is wrong or missing, and never depends on time.
"""

from __future__ import annotations

import argparse
import os
import platform
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

from bot.diagnosis.signatures import literals
from tests.benchmarks.backup import backup
from tests.benchmarks.clicks import clicks
from tests.benchmarks.generator import MB, parse_size
from tests.benchmarks.keeping import keeping
from tests.benchmarks.load import load
from tests.benchmarks.measure import CommandFailedError
from tests.benchmarks.preflight import preflight
from tests.benchmarks.rows import Bench, endless, in_words, pastes, scan, startup
from tests.benchmarks.table import Row, render

_LONGER = 10
_SPARE_BYTES = 200 * MB


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks", description=__doc__)
    parser.add_argument(
        "--size", type=parse_size, default=1000 * MB, help="of the large log, such as 1GB"
    )
    parser.add_argument("--seed", type=int, default=1, help="of the generator")
    parser.add_argument("--times", type=int, default=3, help="runs of each long command")
    parser.add_argument("--quick", action="store_true", help="leave out the log ten times as long")
    parser.add_argument(
        "--big", action="store_true", help="take that log from a file instead of a pipe"
    )
    parser.add_argument("--only", choices=PARTS, action="append", help="parts to measure")
    options = parser.parse_args()
    if options.size < MB:
        parser.error("--size has to be 1MB or more, because an ending alone takes a third of that")
    if options.times < 1:
        parser.error("--times has to be 1 or more")
    return options


def _progress() -> Callable[[str], None]:
    """Make what says on a terminal's stderr what is being done, in one line that it clears."""

    def say(words: str) -> None:
        sys.stderr.write(f"\r\x1b[2K{words}{' …' if words else ''}")
        sys.stderr.flush()

    return say if sys.stderr.isatty() else lambda _words: None


def _room(folder: Path, needed_bytes: int) -> str | None:
    """Say in a sentence when the folder has no room for the logs."""
    free = shutil.disk_usage(folder).free
    if free >= needed_bytes + _SPARE_BYTES:
        return None
    return (
        f"The logs take {needed_bytes / MB:.0f} MB in {folder}, where {free / MB:.0f} MB are free: "
        "set TMPDIR to a folder with more room, or ask for a smaller log with --size."
    )


def _write_signatures(path: Path) -> int:
    """Write the strings that the scanner looks for, one a line, for grep and ripgrep."""
    strings = literals()
    if any(not string or b"\n" in string for string in strings):
        raise ValueError("A string to look for is empty or has an end of line: grep takes neither.")
    path.write_bytes(b"".join(string + b"\n" for string in strings))
    return len(strings)


def _heading(bench: Bench, strings: int) -> str:
    load = f", load {os.getloadavg()[0]:.1f} at the start" if hasattr(os, "getloadavg") else ""
    pinned = "not pinned to a core here" if bench.core is None else f"pinned to core {bench.core}"
    return (
        f"{strings} strings, {in_words(bench.size_bytes)} logs in the page cache, seed "
        f"{bench.seed}; commands {pinned}, {bench.times} runs in turn; Python "
        f"{platform.python_version()}, {os.cpu_count()} cores{load}.\n"
        "Ratios are of the best times of this run, ours to theirs."
    )


#: What can be measured, in order.
PARTS: dict[str, Callable[[Bench, argparse.Namespace], Iterator[Row]]] = {
    "startup": lambda bench, _: startup(bench),
    "pastes": lambda bench, _: pastes(bench),
    "mixed": lambda bench, _: scan(bench, "mixed", slower=1.0, faster=1.0),
    "silent": lambda bench, _: scan(bench, "silent", slower=2.0, faster=None),
    "endless": lambda bench, options: endless(
        bench, _LONGER * bench.size_bytes, as_file=options.big
    ),
    "preflight": lambda bench, _: preflight(bench),
    "backup": lambda bench, _: backup(bench),
    "store": lambda bench, _: keeping(bench),
    "load": lambda bench, _: load(bench),
    "clicks": lambda bench, _: clicks(bench),
}


def _rows(bench: Bench, options: argparse.Namespace) -> Iterator[Row]:
    """Measure part after part; one that fails is a mistake, and the rest is measured still."""
    chosen = options.only or [part for part in PARTS if part != "endless" or not options.quick]
    for part in chosen:
        try:
            yield from PARTS[part](bench, options)
        except CommandFailedError as error:
            bench.mistakes.append(str(error))


def main() -> int:
    """Measure, print the table, and return the exit code."""
    options = _options()
    with tempfile.TemporaryDirectory(prefix="nccl-dns-bench-") as name:
        folder = Path(name)
        largest = options.size * (_LONGER if options.big and not options.quick else 1)
        sentence = _room(folder, largest)
        if sentence:
            print(sentence, file=sys.stderr)
            return 2
        signatures = folder / "signatures.txt"
        strings = _write_signatures(signatures)
        bench = Bench(
            folder=folder,
            signatures=signatures,
            size_bytes=options.size,
            seed=options.seed,
            times=options.times,
            say=_progress(),
        )
        print(_heading(bench, strings), flush=True)
        rows = list(_rows(bench, options))
        bench.say("")
        print(f"\n{render(rows)}", flush=True)
    for words in dict.fromkeys(bench.mistakes):
        print(f"Wrong: {words}", file=sys.stderr)
    return 1 if bench.mistakes else 0


if __name__ == "__main__":
    sys.exit(main())
