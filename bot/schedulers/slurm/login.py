"""Slurm by its commands on a login node: 22.05 to 25.x.

Every command runs with TZ=UTC, Slurm's standard time format and no SLURM_JWT (an empty one breaks
the commands). `scontrol` has `--json` from 23.02 on; `sacct -P` tells the same in all versions.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import TypeVar

from bot.schedulers.about import About
from bot.schedulers.errors import (
    AccessError,
    RequestRefusedError,
    SchedulerError,
    SchedulerUnavailableError,
    UnknownNodeError,
    UnreadableAnswerError,
)
from bot.schedulers.model import FAILED_STATES, Job, KnownFrom, Node, Step
from bot.schedulers.port import Operation
from bot.schedulers.slurm import shapes, telling, texts
from bot.schedulers.slurm.runner import Ran, Runner
from bot.schedulers.slurm.way import History, Way, checked_node

_Record = TypeVar("_Record")

_ENVIRONMENT = (
    *("env", "-u", "SLURM_JWT", "-u", "SLURM_CLUSTERS", "TZ=UTC"),
    "SLURM_TIME_FORMAT=standard",
)
_JSON_SINCE = (23, 2)
_PATHS_IN_SACCT_SINCE = (24, 11)
#: The job's name comes last: it may hold the separator.
_SACCT = (
    "JobID,JobIDRaw,User,Partition,State,ExitCode,Reason,NodeList,NTasks,Layout,Submit,Start,End"
)
#: sacct's letters for FAILED, NODE_FAIL, TIMEOUT, OUT_OF_MEMORY, BOOT_FAIL and DEADLINE.
_FAILED = "F,NF,TO,OOM,BF,DL"
_MOST_NODES_A_CALL = 500
_TIME = "%Y-%m-%dT%H:%M:%S"

#: What the commands say (`slurm_errno.c`), and what it means.
_NO_JOB = re.compile(r"Invalid job id|Job \S+ not found", re.IGNORECASE)
_NO_NODE = re.compile(r"Node \S+ not found|Invalid node name", re.IGNORECASE)
_NO_ACCOUNTING = re.compile(
    r"accounting storage is disabled|not running (?:a supported )?accounting|"
    r"AccountingStorageType",
    re.IGNORECASE,
)
_AWAY = re.compile(
    r"Unable to contact slurm controller|Unable to contact|Connection refused|timed out|"
    r"Zero Bytes were transmitted|Slurm backup controller in standby|Could not resolve|"
    r"Communication connection failure",
    re.IGNORECASE,
)
_DENIED = re.compile(
    r"Access/permission denied|Invalid authentication|Protocol authentication error|munge",
    re.IGNORECASE,
)


@dataclass(kw_only=True)
class LoginWay(Way):
    """The commands on a login node."""

    runner: Runner
    timeout: timedelta = timedelta(seconds=20)
    _version: tuple[int, int] | None = None

    def __post_init__(self) -> None:
        """Name the way."""
        self.name = "login node"

    @property
    def can(self) -> frozenset[Operation]:
        """Return everything: there is a command for each."""
        return frozenset(Operation)

    async def version(self) -> tuple[int, int]:
        """Return Slurm's release, such as (22, 5), as the commands have it."""
        if self._version is None:
            said = (await self._run("scontrol", "--version")).out
            found = re.search(r"(\d+)\.(\d+)", said)
            if found is None:
                message = f"`scontrol --version` said {said[:80]!r} instead of Slurm's version."
                raise UnreadableAnswerError(message)
            self._version = (int(found[1]), int(found[2]))
        return self._version

    async def live(self, number: int) -> tuple[Job, ...]:
        """Return what the controller remembers of a number."""
        ran = await self._show("job", str(number), "jobs")
        if ran is None:
            return ()
        return ran.read(shapes.job_of, texts.job_of, "JobId", self.cluster)

    async def history(self, number: int) -> History:
        """Ask accounting; without it the file of finished jobs and the controller's settings."""
        ran = await self._sacct("-j", str(number))
        disabled = bool(_NO_ACCOUNTING.search(ran.err))
        if ran.returncode and not disabled:
            raise _error(ran, f"job {number} was not looked up in accounting")
        jobs = texts.accounted_jobs(ran.out, self.cluster, known_from=KnownFrom.ACCOUNTING)
        if jobs or not disabled:
            return History(jobs=jobs, accounting=True)
        config = await self._config()
        return History(
            jobs=await self._completed("-j", str(number)),
            accounting=False,
            next_number=texts.whole(config, "NEXT_JOB_ID"),
            forgets_after=texts.whole(config, "MinJobAge"),
        )

    async def steps(self, job: Job) -> tuple[Step, ...]:
        """Return the steps that run now; a job that has ended has none."""
        ran = await self._run("scontrol", "-o", "show", "step", job.id)
        # Slurm answers "Invalid job id" for a job without a step, too
        return tuple(texts.step_of(fields) for fields in texts.records(ran.out, "StepId"))

    async def script(self, job: Job) -> str:
        """Return the batch script; empty for interactive jobs, foreign ones and forgotten ones."""
        ran = await self._run("scontrol", "write", "batch_script", job.id, "-")
        return ran.out if ran.returncode == 0 else ""

    async def failures(self, since: datetime) -> tuple[Job, ...]:
        """Return failed jobs from accounting, or else from the controller and the file."""
        start = since.astimezone(UTC).strftime(_TIME)
        # with states given sacct wants an end, and none before the start
        end = (since.astimezone(UTC) + timedelta(days=366)).strftime(_TIME)
        ran = await self._sacct("-a", "-X", "-S", start, "-E", end, "-s", _FAILED)
        if ran.returncode == 0:
            return texts.accounted_jobs(ran.out, self.cluster, known_from=KnownFrom.ACCOUNTING)
        if not _NO_ACCOUNTING.search(ran.err):
            raise _error(ran, "failed jobs were not looked up in accounting")
        now = await self.all_jobs()
        known = {job.id: job for job in await self._completed("-a", "-S", start)}
        known |= {job.id: job for job in now}
        return tuple(job for job in known.values() if job.state in FAILED_STATES)

    async def all_jobs(self) -> tuple[Job, ...]:
        """Return every job that the controller remembers."""
        shown = await self._show("job", "", "jobs")
        if shown is None:
            return ()
        return shown.read(shapes.job_of, texts.job_of, "JobId", self.cluster, lenient=True)

    async def about(self) -> About:
        """Return what the controller's settings tell, and what our user may do."""
        ran = await self._run("scontrol", "show", "config")
        config = _pairs(ran.out)
        if ran.returncode or "SLURM_VERSION" not in config:
            raise _error(ran, "its settings were not read")
        user = await self._user()
        level = ""
        if telling.accounted(config) and user:
            asked = ("sacctmgr", "-n", "-P", "show", "user", user, "format=AdminLevel")
            level = (await self._run(*asked)).out.strip()
        return telling.of_config(self.name, config, user, level)

    async def _user(self) -> str:
        """Return who we are there; empty where the login node does not say."""
        try:
            return (await self._run("id", "-un")).out.strip()
        except SchedulerUnavailableError:
            # a restricted login may know Slurm's commands alone
            return ""

    async def all_nodes(self) -> tuple[Node, ...]:
        """Return every node."""
        shown = await self._show("node", "", "nodes")
        if shown is None:
            return ()
        return shown.read(shapes.node_of, texts.node_of, "NodeName", self.cluster)

    async def some_nodes(self, names: tuple[str, ...]) -> tuple[Node, ...]:
        """Return these nodes."""
        found: list[Node] = []
        for at in range(0, len(names), _MOST_NODES_A_CALL):
            listed = ",".join(checked_node(name) for name in names[at : at + _MOST_NODES_A_CALL])
            shown = await self._show("node", listed, "nodes")
            if shown is None:
                message = f"Cluster {self.cluster} does not have all of the nodes {listed[:200]}."
                raise UnknownNodeError(message)
            found += shown.read(shapes.node_of, texts.node_of, "NodeName", self.cluster)
        return tuple(found)

    async def drain(self, node: str, reason: str) -> None:
        """Drain a node."""
        await self._change(
            f"node {node} was not drained",
            *("scontrol", "update", f"nodename={checked_node(node)}", "state=drain"),
            f"reason={reason}",
        )

    async def resume(self, node: str) -> None:
        """Take a node's drain away."""
        await self._change(
            f"node {node} was not resumed",
            *("scontrol", "update", f"nodename={checked_node(node)}", "state=resume"),
        )

    async def hold(self, job: str) -> None:
        """Keep a waiting job from starting."""
        await self._change(f"job {job} was not held", "scontrol", "hold", job)

    async def cancel(self, job: str) -> None:
        """End a job; `--verbose` makes scancel speak about one that it does not know."""
        await self._change(f"job {job} was not cancelled", "scancel", "--verbose", job)

    async def requeue(self, job: str) -> None:
        """Put a job back into the queue."""
        await self._change(f"job {job} was not requeued", "scontrol", "requeue", job)

    async def keep(self, job: str) -> None:
        """Put a job back into the queue, held."""
        await self._change(f"job {job} was not kept", "scontrol", "requeuehold", job)

    async def begin_now(self, job: str, without: tuple[str, ...] = ()) -> None:
        """Let a waiting job be eligible now, on none of these nodes; a requeue sets two minutes."""
        left_out = ",".join(checked_node(one) for one in without)
        words = (f"ExcNodeList={left_out}",) if without else ()
        update = ("scontrol", "update", f"JobId={job}", *words, "StartTime=now")
        await self._change(f"job {job} was not changed", *update)

    async def release(self, job: str) -> None:
        """Take a hold from a job."""
        await self._change(f"job {job} was not released", "scontrol", "release", job)

    async def _change(self, undone: str, *argv: str) -> None:
        ran = await self._run(*argv)
        # scancel ends with 0 after an error
        if ran.returncode or re.search(r"\berror:", ran.err):
            raise _error(ran, undone)

    async def _show(self, what: str, which: str, key: str) -> _Shown | None:
        """Return what `scontrol show` prints; None where it does not know `which`."""
        named = (which,) if which else ()
        as_json = await self.version() >= _JSON_SINCE
        form = ("--json",) if as_json else ("-o",)
        ran = await self._run("scontrol", *form, "show", what, *named)
        unknown = _NO_JOB if what == "job" else _NO_NODE
        if ran.returncode or unknown.search(ran.err):
            if unknown.search(f"{ran.err}\n{ran.out}"):
                return None
            raise _error(ran, f"{what} {which or 's'} could not be read".replace(" s ", "s "))
        return _Shown(text=ran.out, key=key if as_json else None)

    async def _sacct(self, *which: str) -> Ran:
        paths = ",StdOut,StdErr" if await self.version() >= _PATHS_IN_SACCT_SINCE else ""
        return await self._run("sacct", "-P", *which, "-o", f"{_SACCT}{paths},WorkDir,JobName")

    async def _completed(self, *which: str) -> tuple[Job, ...]:
        """Return jobs from the file of `jobcomp/filetxt`; none where there is no such file."""
        columns = f"{_SACCT},WorkDir,JobName"
        ran = await self._run("sacct", "-c", "-P", *which, "-o", columns)
        if ran.returncode:
            return ()
        found = texts.accounted_jobs(ran.out, self.cluster, known_from=KnownFrom.COMPLETION_FILE)
        note = (
            "From the file of finished jobs: state, nodes and exit code, in the controller's own "
            "time zone; output paths, steps and their distribution are not in it."
        )
        return tuple(replace(job, notes=(note,)) for job in found)

    async def _config(self) -> dict[str, str]:
        return _pairs((await self._run("scontrol", "show", "config")).out)

    async def _run(self, *argv: str) -> Ran:
        return await self.runner.run((*_ENVIRONMENT, *argv), timeout=self.timeout)


def _pairs(shown: str) -> dict[str, str]:
    return dict(re.findall(r"^(\S+)\s*=\s*(.*?)\s*$", shown, re.MULTILINE))


@dataclass(frozen=True, kw_only=True, slots=True)
class _Shown:
    """What `scontrol show` printed."""

    text: str
    #: name of the list in the JSON; None for text
    key: str | None

    def read(
        self,
        of_json: Callable[[shapes.Json, str], _Record],
        of_text: Callable[[dict[str, str], str], _Record],
        first: str,
        cluster: str,
        *,
        lenient: bool = False,
    ) -> tuple[_Record, ...]:
        """Return the records; `lenient` leaves out those that cannot be believed."""
        if self.key is None:
            found = []
            for fields in texts.records(self.text, first):
                try:
                    found.append(of_text(fields, cluster))
                except UnreadableAnswerError:
                    if not lenient:
                        raise
            return tuple(found)
        try:
            answer = shapes.mapping(json.loads(self.text))
        except ValueError as error:
            message = f"`scontrol --json` printed no JSON: {self.text[:80]!r}."
            raise UnreadableAnswerError(message) from error
        return tuple(of_json(row, cluster) for row in shapes.rows(answer.get(self.key)))


def _error(ran: Ran, undone: str) -> SchedulerError:
    """Return the error for what a command said; `undone` is what was not done."""
    said = _sentence(ran.err or ran.out)
    if _AWAY.search(said):
        return SchedulerUnavailableError(
            f"Slurm's controller does not answer the commands, so {undone}: {said}"
        )
    if _DENIED.search(said):
        return AccessError(
            f"Slurm refuses our user, so {undone}: {said} It needs an operator's rights."
        )
    return RequestRefusedError(f"Slurm refused, so {undone}: {said}")


def _sentence(said: str, most: int = 300) -> str:
    lines: Sequence[str] = [line.strip() for line in said.splitlines() if line.strip()]
    told = " ".join(lines)[:most] or "it gave no reason"
    return told if told.endswith(".") else f"{told}."
