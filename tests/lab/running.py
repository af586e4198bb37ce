"""Run programs of this machine for the lab, and say what they said where they fail."""

from __future__ import annotations

import shutil
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

#: Everything here is slow at most; what takes longer hangs.
_MOST_S = 120.0


class LabError(Exception):
    """Say what the lab could not do."""


def run(
    *argv: str | Path,
    given: str = "",
    within_s: float = _MOST_S,
    environ: Mapping[str, str] | None = None,
    may_fail: bool = False,
) -> str:
    """Run a program to its end and return what it printed; raises LabError where it fails."""
    words = [str(one) for one in argv]
    try:
        done = subprocess.run(
            words, input=given, capture_output=True, text=True, errors="replace",
            timeout=within_s, env=environ, check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired as error:
        raise LabError(f"{' '.join(words)[:300]}: no end within {within_s:.0f} s") from error
    if done.returncode and not may_fail:
        said = (done.stderr or done.stdout).strip()[-2000:]
        raise LabError(f"{' '.join(words)[:300]}: exit code {done.returncode}\n{said}")
    return done.stdout


def spawn(*argv: str | Path, log: Path, environ: Mapping[str, str] | None = None) -> int:
    """Start a program that goes on, in a session of its own; return its process id."""
    with log.open("ab") as out:
        process = subprocess.Popen(
            [str(one) for one in argv], stdin=subprocess.DEVNULL, stdout=out, stderr=out,
            start_new_session=True, env=environ,
        )  # fmt: skip
    _CHILDREN[process.pid] = process
    return process.pid


#: Who is a child of this process has to be waited for once it has ended.
_CHILDREN: dict[int, subprocess.Popen[bytes]] = {}


def alive(pid: int) -> bool:
    """Tell whether a process runs."""
    if child := _CHILDREN.get(pid):
        return child.poll() is None
    try:
        state = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(") ")[2][:1]
    except OSError:
        return False
    return state != "Z"


def wait_until(what: str, true: Callable[[], object], *, within_s: float = 60.0) -> None:
    """Wait until something is true; raises LabError where it never is."""
    until = time.monotonic() + within_s
    while not true():
        if time.monotonic() > until:
            raise LabError(f"It never came to this within {within_s:.0f} s: {what}")
        time.sleep(0.1)


def missing(programs: Sequence[str]) -> list[str]:
    """Return the programs that this machine does not have."""
    return [one for one in programs if shutil.which(one) is None]
