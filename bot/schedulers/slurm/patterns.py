"""Turn Slurm's output patterns (`%x-%j.out`, `step-%t.log`) into paths and globs. Pure.

The letters are those of sbatch(1) and srun(1), "filename pattern", and of `src/srun/fname.c`.
22.05 hands out the batch script's paths with most letters replaced; 24.11 and later hand out the
pattern itself.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Mapping
from dataclasses import dataclass

from bot.schedulers.model import Job

#: A letter with Slurm's optional width: `%j`, `%4t`, `%%`.
_LETTER = re.compile(r"%(?P<width>\d{0,2})(?P<letter>[%A-Za-z])", re.ASCII)
_GLOB = re.compile(r"[][*?]")
_MOST_WIDTH = 10

#: No letter of Slurm's: it stands for anything within one name.
ANY = "%Z"


@dataclass(frozen=True, kw_only=True, slots=True)
class Glob:
    """One file, or several where `many`: a shell pattern whose fixed parts are escaped."""

    pattern: str
    #: the same as a person reads it
    shown: str
    many: bool = False


def letters_of(job: Job, *, step: str | None = None) -> dict[str, str]:
    """Return what the letters stand for in the output of a job's batch script, or of a step.

    An empty `step` stands for any.
    Letters that differ from task to task (`%t`, `%n`, `%N` of a step) are left out.
    """
    number = job.id
    task = "" if job.array_task is None else str(job.array_task)
    known = {
        "%": "%",
        "j": number,
        "A": str(job.array_job or number),
        # NO_VAL, as Slurm writes it for a job that is no array task
        "a": task or "4294967294",
        "b": str(job.array_task % 10) if job.array_task is not None else "4294967294",
        "x": job.name,
        "u": job.user,
    }
    if step is None:
        known |= {"J": number, "s": "batch"}
        known |= {"N": job.batch_host.split(".")[0], "n": "0", "t": "0"}
    elif step:
        known |= {"J": f"{number}.{step}", "s": step}
    return {letter: found for letter, found in known.items() if found}


def expand(pattern: str, letters: Mapping[str, str], work_dir: str) -> Glob | None:
    """Return the files that a pattern stands for, below the job's folder where it is relative.

    What is not known becomes `*`. None where the path is relative and the folder is not known, or
    where it holds a line end.
    """
    if not pattern:
        return None
    if "\\" in pattern:
        # a backslash switches every replacement off (sbatch(1))
        path, many = pattern.replace("\\", ""), False
        escaped = _escaped(path)
    else:
        escaped, path, many = _replaced(pattern, letters)
    if not path.startswith("/"):
        if not work_dir.startswith("/"):
            return None
        folder = posixpath.normpath(work_dir)
        escaped, path = f"{_escaped(folder)}/{escaped}", f"{folder}/{path}"
    if any(char in escaped for char in "\0\n\r"):
        # no word of a command line holds one
        return None
    return Glob(pattern=escaped, shown=path, many=many)


def _replaced(pattern: str, letters: Mapping[str, str]) -> tuple[str, str, bool]:
    escaped, shown, many, at = "", "", False, 0
    for found in _LETTER.finditer(pattern):
        between = pattern[at : found.start()]
        at = found.end()
        stands_for = letters.get(found["letter"])
        escaped, shown = escaped + _escaped(between), shown + between
        if stands_for is None:
            escaped, shown, many = f"{escaped}*", f"{shown}*", True
            continue
        width = min(int(found["width"] or 0), _MOST_WIDTH)
        if stands_for.isdecimal():
            stands_for = stands_for.zfill(width)
        # a name with a slash would lead out of the folder: Slurm replaces only what is between
        stands_for = stands_for.replace("/", "_")
        escaped, shown = escaped + _escaped(stands_for), shown + stands_for
    rest = pattern[at:]
    return escaped + _escaped(rest), shown + rest, many


def _escaped(fixed: str) -> str:
    """Return a fixed text so that a shell's pathname expansion takes it as it is."""
    return _GLOB.sub(lambda found: f"[{found[0]}]" if found[0] != "]" else "?", fixed)


def default_output(job: Job) -> str:
    """Return sbatch's pattern for a job that names no output file."""
    return "slurm-%A_%a.out" if job.array_task is not None else "slurm-%j.out"
