"""Read a batch script for what Slurm shows only while a step runs. Pure.

A script is a program; only what stands in plain words is believed. Whatever hangs on a variable
that is not Slurm's own counts as not told.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from bot.errors import PlacementError
from bot.fleet.torchrun import Torchrun, read_command
from bot.schedulers.model import Job


@dataclass(frozen=True, kw_only=True, slots=True)
class Script:
    """What the lines of a script say."""

    #: `--distribution` that every srun agrees on, in srun's words; None where they do not
    distribution: str | None = None
    #: output patterns of the srun lines, in order, each once
    outputs: tuple[str, ...] = ()
    #: folders given to torchrun's `--log-dir`
    log_dirs: tuple[str, ...] = ()
    #: every srun takes all nodes and tasks of the job, for none asks for others
    whole_job: bool = False
    #: the torchrun command, where there is one and the script does not contradict itself
    torchrun: Torchrun | None = None
    #: paths that hang on variables and cannot be known from here
    unknown: tuple[str, ...] = ()


_DIRECTIVE = re.compile(r"#SBATCH\s+(?P<rest>.*)")
#: Options of srun, and variables that it reads, by which a step has other nodes or tasks than its
#: job (srun(1), "INPUT ENVIRONMENT VARIABLES").
_NARROWING = (
    *("-N", "-n", "-w", "-x", "-r", "--nodes", "--ntasks", "--ntasks-per-node", "--nodelist"),
    *("--exclude", "--relative", "--het-group", "--jobid", "--nodefile", "-F", "--exact"),
)
_NARROWED = re.compile(
    r"\bSLURM_(?:NNODES|JOB_NUM_NODES|NPROCS|NTASKS\w*|JOB_NODELIST|NODELIST|HOSTFILE|"
    r"HET_GROUP\w*|JOB_ID|JOBID|EXCLUDE\w*)="
)
_SRUN = re.compile(r"(?<![\w.-])srun(?![\w.-])")
#: What srun takes when nobody asks (srun(1): block, where tasks outnumber nodes).
_DEFAULT = "block"
_VARIABLE = re.compile(r"\$(?:(?P<plain>\w+)|\{(?P<braced>\w+)\})")
_LAUNCHERS = ("torchrun", "torch.distributed.run", "torch.distributed.launch", "torchelastic")
#: Options of srun with a value that are looked for, in both spellings.
_DIST = ("-m", "--distribution")
_OUTPUTS = (("-o", "--output"), ("-e", "--error"))
_LOG_DIR = ("--log-dir", "--log_dir")


def read(script: str, job: Job) -> Script:
    """Return what a batch script says about where its tasks run and write."""
    directives, lines = _lines(script)
    asked = [word for line in directives for word in _words(line)]
    batch = _option(asked, *_DIST)
    inherited = _assigned(lines) or batch or _DEFAULT
    found: list[str] = []
    outputs: list[str] = []
    log_dirs: list[str] = []
    narrowed = False
    for words in _commands(lines):
        if "srun" in {word.rpartition("/")[2] for word in words[:1]}:
            options = _before_program(words[1:])
            found.append(_option(options, *_DIST) or inherited)
            narrowed = narrowed or any(_option(options, name) is not None for name in _NARROWING)
            outputs += [path for names in _OUTPUTS if (path := _option(options, *names))]
        if any(word.rpartition("/")[2] in _LAUNCHERS for word in words):
            log_dirs += [path for path in [_option(words, *_LOG_DIR)] if path]
    agreed = set(found)
    told = agreed.pop() if len(agreed) == 1 else None
    variables = _variables(job)
    paths = {path: _filled(path, variables) for path in (*outputs, *log_dirs)}
    return Script(
        distribution=None if told is None or "$" in told else told,
        outputs=tuple(dict.fromkeys(full for path in outputs if (full := paths[path]))),
        log_dirs=tuple(dict.fromkeys(full for path in log_dirs if (full := paths[path]))),
        whole_job=bool(found) and not narrowed and _all_seen(lines, len(found)),
        torchrun=_torchrun(script),
        unknown=tuple(dict.fromkeys(path for path, full in paths.items() if full is None)),
    )


def _all_seen(lines: list[str], sruns: int) -> bool:
    """Tell whether no srun hides in the middle of a line, and no variable narrows one."""
    plain = [line for line in lines if not _NARROWED.search(line)]
    return len(plain) == len(lines) and sum(len(_SRUN.findall(line)) for line in lines) == sruns


def _torchrun(script: str) -> Torchrun | None:
    try:
        return read_command(script)
    except PlacementError:
        return None


def _lines(script: str) -> tuple[list[str], list[str]]:
    """Return the `#SBATCH` directives and the commands, continued lines joined."""
    joined = script.replace("\r\n", "\n").replace("\\\n", " ")
    directives: list[str] = []
    commands: list[str] = []
    for line in joined.splitlines():
        shown = line.strip()
        directive = _DIRECTIVE.match(shown)
        if directive and not commands:
            directives.append(directive["rest"])
        elif shown and not shown.startswith("#"):
            commands.append(shown)
    return directives, commands


def _words(line: str) -> list[str]:
    try:
        return shlex.split(line, comments=True)
    except ValueError:
        # a quote that goes on over lines: take the words as they stand
        return line.split()


def _commands(lines: list[str]) -> Iterator[list[str]]:
    """Yield the commands, without leading assignments and words such as `exec` and `time`."""
    for line in lines:
        words = _words(line)
        while words and (
            re.match(r"\w+=", words[0]) or words[0] in {"exec", "time", "nohup", "env"}
        ):
            words = words[1:]
        if words:
            yield words


def _before_program(words: list[str]) -> list[str]:
    """Return srun's own options: those before the program that it runs."""
    own: list[str] = []
    skip = False
    for word in words:
        if skip:
            own.append(word)
            skip = False
        elif word.startswith("-"):
            own.append(word)
            skip = word in _WITH_VALUE
        else:
            break
    return own


#: srun's options whose value is the next word (srun(1)); a long one may hold it after `=`.
_WITH_VALUE_TEXT = (
    "-A -B -c -C -d -D -e -E -G -i -J -L -m -M -n -N -o -p -q -r -S -t -T -w -W -x -F "
    "--ntasks --nodes --ntasks-per-node --cpus-per-task --distribution --output --error --input "
    "--job-name --partition --nodelist --exclude --gpus --gpus-per-node --gpus-per-task --gres "
    "--mem --mem-per-cpu --mem-per-gpu --time --export --mpi --container-image --container-mounts "
    "--container-name --container-workdir --chdir --het-group --account --constraint --network "
    "--open-mode --cpu-bind --gpu-bind --jobid --task-prolog --task-epilog --signal"
)
_WITH_VALUE = frozenset(_WITH_VALUE_TEXT.split())


def _option(words: list[str], *names: str) -> str | None:
    """Return the value of an option in any spelling: `-m x`, `-mx`, `--long x`, `--long=x`."""
    for index, word in enumerate(words):
        for name in names:
            if word == name:
                return words[index + 1] if index + 1 < len(words) else None
            if name.startswith("--") and word.startswith(f"{name}="):
                return word[len(name) + 1 :]
            if not name.startswith("--") and word.startswith(name) and not word.startswith("--"):
                return word[len(name) :].removeprefix("=")
    return None


def _assigned(lines: list[str]) -> str | None:
    """Return what the script puts into SLURM_DISTRIBUTION, which srun reads."""
    for line in lines:
        found = re.search(r"\bSLURM_DISTRIBUTION=(\S+)", line)
        if found:
            return found[1].strip("'\"")
    return None


def _variables(job: Job) -> dict[str, str]:
    return {
        "SLURM_JOB_ID": job.id,
        "SLURM_JOBID": job.id,
        "SLURM_ARRAY_JOB_ID": str(job.array_job or ""),
        "SLURM_ARRAY_TASK_ID": "" if job.array_task is None else str(job.array_task),
        "SLURM_JOB_NAME": job.name,
        "SLURM_SUBMIT_DIR": job.work_dir,
        "SLURM_JOB_USER": job.user,
        "USER": job.user,
        "PWD": job.work_dir,
    }


def _filled(path: str, variables: Mapping[str, str]) -> str | None:
    """Return a path with Slurm's variables filled in; None where another one is left."""

    def known(found: re.Match[str]) -> str:
        return variables.get(found["plain"] or found["braced"], "") or found[0]

    full = _VARIABLE.sub(known, path)
    return None if re.search(r"[$`]", full) or full.startswith("~") else full
