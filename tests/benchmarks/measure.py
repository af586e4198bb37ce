"""Measure commands: seconds, peak memory, exit code; several in turn, so that noise hits all."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

#: The root of the source tree, from which ``python -m bot`` runs.
ROOT = Path(__file__).resolve().parents[2]
_SPAWNED = Path(__file__).with_name("spawned.py")


@dataclass(frozen=True, kw_only=True)
class Command:
    """A command to measure."""

    #: Short name for the table.
    name: str
    argv: tuple[str, ...]
    #: Exit codes that mean that it did its work.
    good_exits: tuple[int, ...] = (0,)
    #: Variables set on top of our own environment.
    env: Mapping[str, str] | None = None


@dataclass(frozen=True, kw_only=True)
class Run:
    """One run of a command."""

    seconds: float
    #: Seconds on the core, which a busy machine stretches less than those of the clock.
    cpu_seconds: float
    peak_bytes: int
    output: bytes
    #: What it said on stderr.
    words: str


@dataclass(frozen=True, kw_only=True)
class Series:
    """Several runs of one command."""

    name: str
    runs: tuple[Run, ...]

    @property
    def best(self) -> float:
        """Give the seconds of the fastest run."""
        return min(run.seconds for run in self.runs)

    @property
    def median(self) -> float:
        """Give the median of the seconds."""
        return statistics.median(run.seconds for run in self.runs)

    @property
    def cpu(self) -> float:
        """Give the least seconds on the core."""
        return min(run.cpu_seconds for run in self.runs)

    @property
    def peak_bytes(self) -> int:
        """Give the largest peak of resident memory."""
        return max(run.peak_bytes for run in self.runs)


class CommandFailedError(Exception):
    """A measured command ended with an exit code that it should not have."""


def one_core() -> int | None:
    """Choose the core to pin to: the last allowed one; None where the system cannot pin."""
    if sys.platform != "linux":
        return None
    return max(os.sched_getaffinity(0))


def run_once(
    command: Command, *, core: int | None, folder: Path, stdin: IO[bytes] | None = None
) -> Run:
    """Run a command once, pinned, and return what was measured.

    Raises `CommandFailedError` with the command's own words when it exits otherwise than it may.
    """
    report = folder / "measured.json"
    place = "-" if core is None else str(core)
    done = subprocess.run(
        [sys.executable, "-I", "-S", str(_SPAWNED), str(report), place, *command.argv],
        stdin=stdin or subprocess.DEVNULL,
        capture_output=True,
        check=False,
        cwd=ROOT,
        env={**os.environ, **(command.env or {})},
    )
    measured = json.loads(report.read_text("ascii")) if done.returncode == 0 else {}
    words = done.stderr.decode(errors="replace").strip()
    if measured.get("exit_code") not in command.good_exits:
        code = measured.get("exit_code", done.returncode)
        raise CommandFailedError(f"{command.name} ended with exit code {code}: {words}")
    return Run(
        seconds=measured["seconds"],
        cpu_seconds=measured["cpu_seconds"],
        peak_bytes=measured["peak_bytes"],
        output=done.stdout,
        words=words,
    )


def in_turn(
    commands: Sequence[Command], *, times: int, core: int | None, folder: Path
) -> list[Series]:
    """Run each command once, then each again, and so on, and return a series for each."""
    rounds = [
        [run_once(command, core=core, folder=folder) for command in commands] for _ in range(times)
    ]
    return [
        Series(name=command.name, runs=runs)
        for command, runs in zip(commands, zip(*rounds, strict=True), strict=True)
    ]
