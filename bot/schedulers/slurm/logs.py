"""Find a job's log files and search them where they lie."""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from bot.diagnosis.signatures import literals
from bot.schedulers.errors import SchedulerUnavailableError
from bot.schedulers.model import Job, JobLogs, Limits, LogFile, Reading, Stream
from bot.schedulers.slurm import far, patterns
from bot.schedulers.slurm.far import Wanted
from bot.schedulers.slurm.runner import Runner
from bot.schedulers.slurm.script import Script

#: Below `--log-dir` torchrun makes RUN/attempt_N/LOCAL_RANK/stdout.log and stderr.log
#: (`torch/distributed/elastic/multiprocessing/api.py`); 2.2 and older leave RUN out.
_TORCHRUN = tuple(
    below.replace("*", patterns.ANY) for below in ("*/attempt_*/*/std*.log", "attempt_*/*/std*.log")
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Plan:
    """Which files of a job to look at, and what cannot be known from here."""

    wanted: tuple[Wanted, ...] = ()
    notes: tuple[str, ...] = ()


def plan(job: Job, script: Script, also: Sequence[str] = ()) -> Plan:
    """Return the files of a job: batch output, steps' outputs, torchrun's, the cluster's patterns.

    `also` are patterns from the settings, with the same letters and `*`. Each file is listed once.
    """
    found: dict[str, Wanted] = {}
    for pattern, stream, step in _named(job, script, also):
        # a step's own output has letters that differ from task to task
        letters = patterns.letters_of(job, step=step)
        glob = patterns.expand(pattern, letters, job.work_dir)
        if glob is not None:
            found.setdefault(glob.pattern, Wanted(glob=glob, stream=stream))
    notes = [
        f"The script writes to {path!r}, which hangs on variables: it was not looked for."
        for path in script.unknown
    ]
    if not found and job.batch is False:
        notes.append(
            f"Job {job.label} is interactive (salloc or a bare srun): its output went to a "
            "terminal and is in no file. Paste it."
        )
    elif not found:
        notes.append(f"Nobody tells where job {job.label} writes its output. Paste the log.")
    return Plan(wanted=tuple(found.values()), notes=tuple(notes))


def _named(
    job: Job, script: Script, also: Sequence[str]
) -> Iterator[tuple[str, Stream, str | None]]:
    if job.batch is not False:
        yield from _batch(job)
    for path in script.outputs:
        for step in _steps(job):
            yield path, Stream.STEP, step
    for folder in script.log_dirs:
        for below in _TORCHRUN:
            yield f"{folder.rstrip('/')}/{below}", Stream.TORCHRUN, None
    for pattern in also:
        yield pattern.replace("*", patterns.ANY), Stream.SETTINGS, None


def _batch(job: Job) -> Iterator[tuple[str, Stream, str | None]]:
    if not (job.stdout or job.stderr):
        # v0.0.38 and the file of finished jobs name no file; a batch job has sbatch's own then
        if job.batch and job.work_dir:
            yield patterns.default_output(job), Stream.BOTH, None
        return
    if not job.stderr or job.stdout == job.stderr:
        yield job.stdout, Stream.BOTH, None
        return
    if job.stdout:
        yield job.stdout, Stream.STDOUT, None
    yield job.stderr, Stream.STDERR, None


def _steps(job: Job) -> tuple[str, ...]:
    """Return the numbers of the steps that are known, or an empty one that stands for any."""
    return tuple(step.id for step in job.steps if step.id.isdigit()) or ("",)


async def search(runner: Runner, job: Job, plan: Plan, limits: Limits) -> JobLogs:
    """Search the planned files on the login node, and on the batch host what is not there."""
    if not plan.wanted:
        return JobLogs(notes=plan.notes)
    files, notes = await _on(runner, None, plan.wanted, limits, job.user)
    lost = [file for file in files if file.reading is Reading.MISSING]
    host = job.batch_host
    if lost and host and runner.reaches(host):
        missing = {file.path for file in lost}
        again = tuple(
            one for one in plan.wanted if one.glob.shown in missing or one.glob.pattern in missing
        )
        try:
            there, more = await _on(runner, host, again, limits, job.user)
        except SchedulerUnavailableError as error:
            there, more = (), (f"The batch host {host} was not looked at: {error}",)
        seen = {file.path: file for file in there if file.reading is not Reading.MISSING}
        kept = tuple(file for file in files if file.path not in seen and file not in lost)
        still = tuple(file for file in lost if file.path not in seen)
        files = (*kept, *seen.values(), *still)
        notes = (*notes, *more)
    elif lost and host:
        where = ", ".join(file.path for file in lost[:3])
        notes = (*notes, f"{where}: may lie on the batch host {host}, which is not configured.")
    return JobLogs(files=files, notes=(*plan.notes, *notes))


async def _on(
    runner: Runner, host: str | None, wanted: Sequence[Wanted], limits: Limits, user: str
) -> tuple[tuple[LogFile, ...], tuple[str, ...]]:
    mark = f"nccl-dns-{secrets.token_hex(12)}"
    ran = await runner.run(
        far.argv(mark, wanted, limits, user=user),
        stdin=far.stdin(literals()),
        host=host,
        timeout=limits.timeout,
    )
    files, whole = far.files_in(ran.stdout, mark, wanted, limits)
    notes = []
    if not whole:
        said = f": {ran.err[:200]}" if ran.err else ""
        notes.append(f"Not every log file was searched (at most {limits.files} are){said}.")
    if host is not None:
        files = tuple(replace(file, host=host) for file in files)
    return files, tuple(notes)
