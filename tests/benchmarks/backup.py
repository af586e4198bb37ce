"""Measure a backup's copy beside plain `rsync -a`: many small files and some large ones.

Both go from one disk to another on loop devices, each time to an empty folder, in turn. The copy is
what the far side runs: the same walk, list, options and folder; the proof by SHA-256 has a row of
its own, for rsync alone has none.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from tests.benchmarks.measure import Command, Run, Series, run_once
from tests.benchmarks.rows import Bench
from tests.benchmarks.table import Row, ratio_row

_SMALL, _LARGE, _EACH = 4000, 100, 10 << 20
_NEEDS = ("rsync", "mkfs.ext4", "mount", "umount")
#: The copy itself may take a tenth more than rsync alone.
_GOAL = 1.10
#: A disk is noisier than a processor.
_RUNS = 6
_DISK = "3G"


def backup(bench: Bench) -> Iterator[Row]:
    """Yield rsync's row, ours, and what the proof takes."""
    lacking = [name for name in _NEEDS if shutil.which(name) is None]
    if lacking or os.geteuid() != 0:
        why = f"no {', '.join(lacking)}" if lacking else "only root mounts disks"
        yield Row(name="backup beside rsync -a", result=f"skipped: {why}")
        return
    with _disks(bench.folder) as (source, target):
        size = _plant(source)
        commands = _commands(source, target)
        rounds = []
        for at in range(max(bench.times, _RUNS)):
            # who goes first changes: the one after finds more in the page cache
            order = commands if at % 2 else commands[::-1]
            ran = {one.name: _run(bench, one, target) for one in order}
            rounds.append([ran[one.name] for one in commands])
        theirs, ours = (
            Series(name=one.name, runs=runs)
            for one, runs in zip(commands, zip(*rounds, strict=True), strict=True)
        )
        yield Row(name=f"backup of {_SMALL + _LARGE:,} files, disk to disk")
        yield _row(theirs, size)
        yield _row(ours, size)
        itself = min(float(run.output) for run in ours.runs)
        yield Row(name="the copy itself, without start and look around", best=itself)
        yield ratio_row("the copy itself, ours to rsync -a", itself / theirs.best, at_most=_GOAL)
        proof = _run(bench, _ours(source, target, "whole"), target)
        if proof.output.split() != [b"%d" % (_SMALL + _LARGE)]:
            bench.mistakes.append(f"The backup proved {proof.output!r} of the files.")
        yield Row(name="with both sides read again", best=proof.seconds, size_bytes=size)


def _row(series: Series, size: int) -> Row:
    return Row(
        name=series.name, best=series.best, median=series.median, cpu=series.cpu, size_bytes=size,
        peak_bytes=series.peak_bytes,
    )  # fmt: skip


def _commands(source: Path, target: Path) -> Sequence[Command]:
    plain = Command(
        name="rsync -a", argv=("rsync", "-a", f"{source}/", f"{target}/copy/"), good_exits=(0,)
    )
    return (plain, _ours(source, target, "copy"))


def _ours(source: Path, target: Path, what: str) -> Command:
    module = "tests.benchmarks.backing"
    return Command(
        name=f"nccl-dns, {what}",
        argv=(sys.executable, "-m", module, str(source), str(target), what),
        good_exits=(0,),
    )


def _run(bench: Bench, command: Command, target: Path) -> Run:
    """Run with an empty target, everything written before."""
    bench.say(command.name)
    for one in target.iterdir():
        if one.name != "lost+found":
            shutil.rmtree(one)
    os.sync()
    return run_once(command, core=None, folder=bench.folder)


def _plant(source: Path) -> int:
    """Write small and large files, as a run's folder has; return their bytes."""
    block, size = os.urandom(_EACH), 0
    for number in range(_SMALL + _LARGE):
        folder = source / f"step-{number % 40}"
        folder.mkdir(exist_ok=True)
        length = _EACH if number < _LARGE else 500 + number * 7 % 8000
        (folder / f"shard-{number}").write_bytes(block[:length])
        size += length
    return size


@contextmanager
def _disks(folder: Path) -> Iterator[tuple[Path, Path]]:
    """Mount two disks; they are gone afterwards."""
    mounted: list[Path] = []
    try:
        for name in ("local", "stays"):
            image, where = folder / f"{name}.img", folder / name
            where.mkdir()
            for argv in (
                ["truncate", "-s", _DISK, str(image)],
                ["mkfs.ext4", "-q", "-m", "0", str(image)],
                ["mount", "-o", "loop", str(image), str(where)],
            ):
                subprocess.run(argv, check=True)
            mounted.append(where)
        yield mounted[0], mounted[1]
    finally:
        for where in mounted:
            subprocess.run(["umount", str(where)], check=False)
