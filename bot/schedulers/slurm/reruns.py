"""Keep a job of Slurm and run it again, by the commands: no version of slurmrestd can requeue.

Seen with 22.05: a job that is requeued while it runs is COMPLETING first, and what is changed of it
then is lost when it becomes PENDING, two minutes in the future; so it is changed only after that.
"""

from __future__ import annotations

import re
import secrets
from collections import defaultdict
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace

from bot.schedulers.errors import RequestRefusedError
from bot.schedulers.model import Job, JobId, JobLogs, JobState, Limits, LogFile, Reading, Stream
from bot.schedulers.reruns import CopiedLog, Reruns, same_again
from bot.schedulers.slurm import copying
from bot.schedulers.slurm.login import LoginWay

#: What Slurm opens anew at each start of a job, or of a step of it.
_TRUNCATED = frozenset({Stream.STDOUT, Stream.STDERR, Stream.BOTH, Stream.STEP})


@dataclass(frozen=True, kw_only=True)
class SlurmReruns(Reruns):
    """By a login node."""

    way: LoginWay
    #: find a job, and its logs
    job: Callable[[JobId], Awaitable[Job]]
    logs: Callable[[Job], Awaitable[JobLogs]]
    limits: Limits

    async def copy_logs(self, job: Job) -> tuple[CopiedLog, ...]:
        """Copy what a new run would truncate, on the machine on which it lies."""
        if job.state is JobState.PENDING and job.restarts == 0:
            return ()  # it never ran
        # a job that waits again names its files as before, but `logs` would say that it has none
        ran = replace(job, state=JobState.FAILED, nodes=job.nodes or (job.batch_host or "-",))
        found = (await self.logs(ran)).files
        wanted: dict[str, list[LogFile]] = defaultdict(list)
        for file in found:
            if file.stream not in _TRUNCATED or file.reading is Reading.MISSING:
                continue
            if file.reading is Reading.UNREADABLE:
                raise RequestRefusedError(
                    f"{file.path} cannot be read ({file.because}), so it cannot be copied, and a "
                    "new run would truncate it. Nothing was done: copy it by hand first."
                )
            wanted[file.host].append(file)
        copies = [await self._copied(job, host, files) for host, files in wanted.items()]
        return tuple(one for each in copies for one in each)

    async def _copied(self, job: Job, host: str, files: list[LogFile]) -> list[CopiedLog]:
        mark = f"nccl-dns-{secrets.token_hex(12)}"
        paths = [one.path for one in files]
        # the number of the run that wrote them: one that waits again has been counted on
        run = job.restarts - (job.state is JobState.PENDING)
        folder = re.sub(r"[^A-Za-z0-9_+-]", "-", f"{job.cluster}-{job.label}")
        ran = await self.way.runner.run(
            copying.argv(mark, paths, run=run, folder=folder, user=job.user),
            host=host or None,
            timeout=self.limits.timeout,
        )
        made = []
        for path, one in zip(paths, copying.copied(ran.out, mark, paths), strict=True):
            if one is None:
                raise RequestRefusedError(
                    f"{path} could not be copied: neither beside it nor in a folder of ours is a "
                    "place for it. A new run would truncate it, so nothing was done: copy it by "
                    "hand first."
                )
            made.append(replace(one, host=host))
        return made

    async def keep(self, job: JobId) -> None:
        """Requeue it held, in one call: it cannot start in between."""
        await self.way.keep(job.job)

    async def go(self, job: JobId, *, without: tuple[str, ...] = ()) -> None:
        """Leave nodes out and let it start now, then release it."""
        found = await self.job(job)
        if found.state is not JobState.PENDING:
            raise RequestRefusedError(
                f"Job {found.label} is {found.raw_state} and does not wait, so it was not released."
            )
        left_out = tuple(dict.fromkeys((*found.excluded, *without))) if without else ()
        await self.way.begin_now(job.job, left_out)
        await self.way.release(job.job)

    async def resubmitted(self, job: Job) -> tuple[Job, ...]:
        """Look through the controller's jobs."""
        return same_again(job, await self.way.all_jobs())
