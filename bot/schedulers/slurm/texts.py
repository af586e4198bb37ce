"""Read what Slurm's commands print where they have no `--json` (22.05 and any later). Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime

from bot.schedulers.errors import UnreadableAnswerError
from bot.schedulers.model import DistributionFrom, Job, JobState, KnownFrom, Node, Step
from bot.schedulers.select import agreed_distribution
from bot.schedulers.slurm.states import job_state, node_list, node_state

#: What Slurm writes for "nothing".
_EMPTY = frozenset({"", "(null)", "N/A", "None", "Unknown", "none", "*"})

#: A field of `scontrol -o`: the name begins a word, the value goes on until the next name. Values
#: hold spaces, equal signs and quotes, so that only names that scontrol prints begin a field.
_JOB_FIELDS = (
    "JobId ArrayJobId ArrayTaskId ArrayTaskThrottle HetJobId HetJobOffset HetJobIdSet JobName "
    "UserId GroupId MCS_label Priority Nice Account QOS WCKey JobState Reason FailedNode "
    "Dependency Requeue Restarts BatchFlag Reboot ExitCode DerivedExitCode RunTime TimeLimit "
    "TimeMin SubmitTime EligibleTime AccrueTime ResizeTime StartTime EndTime Deadline "
    "PreemptEligibleTime PreemptTime SuspendTime SecsPreSuspend "
    "LastSchedEval Scheduler Partition AllocNode:Sid "
    "ReqNodeList ExcNodeList NodeList BatchHost SchedNodeList NumNodes NumCPUs NumTasks "
    "CPUs/Task ReqB:S:C:T TRES ReqTRES AllocTRES Socks/Node NtasksPerN:B:S:C CoreSpec MinCPUsNode "
    "MinMemoryNode MinMemoryCPU MinTmpDiskNode Features DelayBoot OverSubscribe Contiguous "
    "Licenses LicensesAlloc Network Reservation BurstBuffer Command WorkDir Comment AdminComment "
    "SystemComment Extra StdErr StdIn StdOut BatchScript Power TresPerNode TresPerJob TresPerTask "
    "CpusPerTres MemPerTres MailUser MailType Container SubmitLine JobSubmitTime NtasksPerTRES "
    "Nodes CPU_IDs ResvPorts Switches GresEnforceBind KillOInInvalidDependent OOMKillStep "
    "Segment StepMgrEnabled"
)
_NODE_FIELDS = (
    "NodeName Arch CoresPerSocket CPUAlloc CPUEfctv CPUErr CPUTot CPULoad AvailableFeatures "
    "ActiveFeatures Gres GresDrain GresUsed NodeAddr NodeHostName Port Version BcastAddr OS "
    "RealMemory AllocMem FreeMem Sockets Boards State ThreadsPerCore TmpDisk Weight Owner "
    "MCS_label Partitions BootTime SlurmdStartTime LastBusyTime ResumeAfterTime CfgTRES AllocTRES "
    "CapWatts CurrentWatts AveWatts ExtSensorsJoules ExtSensorsWatts ExtSensorsTemp Reason "
    "Comment Extra InstanceId InstanceType ReservationName CoreSpecCount CPUSpecList MemSpecLimit "
    "NextState Topology GpuSpecList RestrictedCoresPerGPU"
)
_STEP_FIELDS = (
    "StepId UserId StartTime TimeLimit State Partition NodeList Nodes CPUs Tasks Name Network "
    "TRES ResvPorts CPUFreqReq Dist SrunHost:Pid Container ContainerID SubmitLine Cwd StdErr StdIn "
    "StdOut OverSubscribe CpusPerTres MemPerTres TresBind TresFreq TresPerStep TresPerNode "
    "TresPerSocket TresPerTask"
)


#: Key under which `records` lists names that came twice; no field is called so.
TWICE = "\0twice"
#: What nobody may slip in by the name of a job: the name comes before all of these.
_TRUSTED = frozenset(
    {
        "UserId",
        "JobState",
        "NodeList",
        "BatchHost",
        "WorkDir",
        "ExcNodeList",
        "StdOut",
        "StdErr",
        "ExitCode",
    }
)


def _split(names: str) -> re.Pattern[str]:
    longest_first = "|".join(sorted(map(re.escape, names.split()), key=len, reverse=True))
    return re.compile(rf"(?:^|\s)({longest_first})=")


_SPLITTERS = {
    "JobId": _split(_JOB_FIELDS),
    "NodeName": _split(_NODE_FIELDS),
    "StepId": _split(_STEP_FIELDS),
}


def records(output: str, first: str) -> Iterator[dict[str, str]]:
    """Yield the fields of each record of `scontrol -o`; `first` names the one it begins with.

    A name that comes again is taken for part of the value before it, and listed under `TWICE`: a
    free text (a job's name, a comment, a reason) holds it.
    """
    splitter = _SPLITTERS[first]
    for line in output.splitlines():
        if not line.startswith(f"{first}="):
            continue
        parts = splitter.split(line)[1:]
        fields: dict[str, str] = {}
        last = ""
        for name, value in zip(parts[::2], parts[1::2], strict=True):
            if name in fields:
                fields[last] = f"{fields[last]} {name}={value}".strip()
                fields[TWICE] = f"{fields.get(TWICE, '')} {name}".strip()
                continue
            fields[name] = value.strip()
            last = name
        yield fields


def value(fields: Mapping[str, str], name: str) -> str:
    """Return a field, empty where it is missing or Slurm writes one of its words for nothing."""
    found = fields.get(name, "")
    return "" if found in _EMPTY else found


def whole(fields: Mapping[str, str], name: str) -> int | None:
    """Return a field's leading integer (`4`, `1-1`, `2:0:*:*`), or None."""
    found = re.match(r"\d+", value(fields, name))
    return int(found[0]) if found else None


def utc(shown: str) -> datetime | None:
    """Return the time of `2026-11-30T20:45:44`, which the commands print where TZ is UTC."""
    try:
        return datetime.fromisoformat(shown).replace(tzinfo=UTC)
    except ValueError:
        return None


def exit_pair(shown: str) -> tuple[int | None, int | None]:
    """Return exit code and signal of `1:0`."""
    found = re.fullmatch(r"(\d+):(\d+)", shown)
    return (int(found[1]), int(found[2]) or None) if found else (None, None)


def job_of(fields: Mapping[str, str], cluster: str) -> Job:
    """Return a job from a record of `scontrol -o show job`.

    Raises UnreadableAnswerError where its name or a comment holds one of Slurm's own field names,
    so that it cannot be told which of the two is Slurm's.
    """
    if doubtful := _TRUSTED.intersection(fields.get(TWICE, "").split()):
        message = (
            f"Slurm's record of job {fields['JobId']} names {', '.join(sorted(doubtful))} twice: "
            "its name or comment imitates a field, so neither was believed. Paste the log."
        )
        raise UnreadableAnswerError(message)
    state = job_state(value(fields, "JobState"))
    code, signal = exit_pair(value(fields, "ExitCode"))
    array_task = value(fields, "ArrayTaskId")
    over = state not in {JobState.PENDING, JobState.RUNNING, JobState.CONFIGURING, JobState.OTHER}
    return Job(
        id=value(fields, "JobId"),
        cluster=cluster,
        state=state,
        raw_state=value(fields, "JobState"),
        reason=value(fields, "Reason"),
        name=value(fields, "JobName"),
        user=value(fields, "UserId").split("(")[0],
        partition=value(fields, "Partition"),
        nodes=node_list(value(fields, "NodeList")),
        ntasks=whole(fields, "NumTasks"),
        ntasks_per_node=whole(fields, "NtasksPerN:B:S:C") or None,
        stdout=value(fields, "StdOut"),
        stderr=value(fields, "StdErr"),
        work_dir=value(fields, "WorkDir"),
        command=value(fields, "Command"),
        excluded=node_list(value(fields, "ExcNodeList")),
        batch_host=value(fields, "BatchHost"),
        batch={"1": True, "0": False}.get(value(fields, "BatchFlag")),
        exit_code=code,
        exit_signal=signal,
        submitted_at=utc(value(fields, "SubmitTime")),
        started_at=None if state is JobState.PENDING else utc(value(fields, "StartTime")),
        ended_at=utc(value(fields, "EndTime")) if over else None,
        restarts=whole(fields, "Restarts") or 0,
        array_job=whole(fields, "ArrayJobId"),
        # a record of several waiting tasks has `3-7` or `3,5` here
        array_task=int(array_task) if array_task.isdecimal() else None,
        het_job=whole(fields, "HetJobId"),
        het_offset=whole(fields, "HetJobOffset"),
    )


def step_of(fields: Mapping[str, str]) -> Step:
    """Return a step from a record of `scontrol -o show step`."""
    return Step(
        id=value(fields, "StepId").rpartition(".")[2],
        name=value(fields, "Name"),
        state=job_state(value(fields, "State")),
        nodes=node_list(value(fields, "NodeList")),
        ntasks=whole(fields, "Tasks"),
        distribution=value(fields, "Dist") or None,
    )


#: `text [user@2026-11-30T20:46:43]`
_REASON = re.compile(r"(?P<text>.*?) \[(?P<user>[^\[\]@]*)@(?P<at>[-0-9T:]+)\]$", re.DOTALL)


def node_of(fields: Mapping[str, str], cluster: str) -> Node:
    """Return a node from a record of `scontrol -o show node`."""
    raw = value(fields, "State")
    base, flags = node_state(raw)
    reason = value(fields, "Reason")
    signed = _REASON.fullmatch(reason)
    return Node(
        name=value(fields, "NodeName"),
        cluster=cluster,
        state=base,
        flags=flags,
        raw_state=raw,
        reason=signed["text"] if signed else reason,
        reason_by=signed["user"] if signed else "",
        reason_at=utc(signed["at"]) if signed else None,
        reservation=value(fields, "ReservationName"),
        address=value(fields, "NodeAddr"),
        hostname=value(fields, "NodeHostName"),
        partitions=tuple(name for name in value(fields, "Partitions").split(",") if name),
        booted_at=utc(value(fields, "BootTime")),
    )


def table(output: str) -> Iterator[dict[str, str]]:
    """Yield the rows of `sacct -P`, keyed by its header line."""
    lines = output.splitlines()
    if not lines:
        return
    header = lines[0].split("|")
    for line in lines[1:]:
        cells = line.split("|")
        if len(cells) < len(header):
            continue
        # a job's name may hold the separator; it is asked for as the last column
        cells[len(header) - 1 :] = ["|".join(cells[len(header) - 1 :])]
        yield dict(zip(header, cells, strict=True))


_ACCOUNTED = re.compile(
    r"(?P<number>\d+)(?:_(?P<task>\d+)|_\[[^\]]*\]|\+(?P<het>\d+))?(?:\.(?P<step>\w+))?"
)


def accounted_jobs(output: str, cluster: str, *, known_from: KnownFrom) -> tuple[Job, ...]:
    """Return the jobs of `sacct -P`, each with its steps, one entry for each run of it."""
    jobs: list[Job] = []
    steps: dict[int, list[Step]] = {}
    for row in table(output):
        named = _ACCOUNTED.fullmatch(row.get("JobID", ""))
        if named is None:
            continue
        if named["step"] is not None:
            steps.setdefault(len(jobs) - 1, []).append(_accounted_step(row, named["step"]))
            continue
        jobs.append(_accounted_job(row, named, cluster, known_from))
    return tuple(_with_steps(job, steps.get(index, [])) for index, job in enumerate(jobs))


def _with_steps(job: Job, steps: list[Step]) -> Job:
    told = agreed_distribution(steps)
    return replace(
        job,
        steps=tuple(steps),
        distribution=told,
        distribution_from=DistributionFrom.STEP if told else None,
    )


def _accounted_step(row: Mapping[str, str], step: str) -> Step:
    layout = value(row, "Layout")
    return Step(
        id=step,
        name=value(row, "JobName"),
        state=job_state(value(row, "State")),
        nodes=node_list(value(row, "NodeList")),
        ntasks=whole(row, "NTasks"),
        distribution=layout or None,
    )


def _accounted_job(
    row: Mapping[str, str], named: re.Match[str], cluster: str, known_from: KnownFrom
) -> Job:
    state = job_state(value(row, "State"))
    code, signal = exit_pair(value(row, "ExitCode"))
    raw = value(row, "JobIDRaw").partition(".")[0]
    number = int(named["number"])
    return Job(
        id=raw or named["number"],
        cluster=cluster,
        state=state,
        raw_state=value(row, "State"),
        reason=value(row, "Reason"),
        name=value(row, "JobName"),
        # jobcomp has `root(0)` here
        user=value(row, "User").split("(")[0],
        partition=value(row, "Partition"),
        nodes=node_list(value(row, "NodeList")),
        work_dir=value(row, "WorkDir"),
        exit_code=code,
        exit_signal=signal,
        submitted_at=utc(value(row, "Submit")),
        started_at=utc(value(row, "Start")),
        ended_at=utc(value(row, "End")),
        array_job=number if named["task"] else None,
        array_task=int(named["task"]) if named["task"] else None,
        het_job=number if named["het"] else None,
        het_offset=int(named["het"]) if named["het"] else None,
        known_from=known_from,
    )
