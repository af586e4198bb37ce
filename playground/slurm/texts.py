"""Write what Slurm's commands print as text: `scontrol -o` as 22.05 prints it, and `sacct -P`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime, timedelta

from playground.slurm.model import Cluster, Job, Node, folded, spelled


def moment(value: datetime | None, absent: str = "Unknown") -> str:
    """Return a time in UTC and Slurm's standard format."""
    return value.strftime("%Y-%m-%dT%H:%M:%S") if value else absent


def job_line(job: Job, cluster: Cluster) -> str:
    """Return a job as `scontrol -o show job` prints it."""
    del cluster
    nodes = folded(job.nodes)
    batch_host = f"BatchHost={job.nodes[0]} " if job.nodes else ""
    ran = (job.ended or job.started or job.submitted) - (job.started or job.submitted)
    size = f"NumNodes={job.wanted} NumCPUs={job.tasks} NumTasks={job.tasks} CPUs/Task=1"
    return (
        f"JobId={job.number} JobName={job.name} UserId={job.user}({job.uid}) GroupId=ml(100) "
        f"MCS_label=N/A Priority=4294901759 Nice=0 Account=(null) QOS=(null) JobState={job.state} "
        f"Reason={job.reason} Dependency=(null) Requeue=1 Restarts={job.restarts} BatchFlag=1 "
        f"Reboot=0 ExitCode={job.exit_code}:0 RunTime={_clock(ran)} "
        f"TimeLimit={_clock(timedelta(minutes=job.limit_minutes))} TimeMin=N/A "
        f"SubmitTime={moment(job.submitted)} EligibleTime={moment(job.submitted)} "
        f"AccrueTime={moment(job.submitted)} StartTime={moment(job.started)} "
        f"EndTime={moment(job.planned_end if job.runs else job.ended)} Deadline=N/A "
        f"SuspendTime=None SecsPreSuspend=0 LastSchedEval={moment(job.started)} Scheduler=Main "
        f"Partition={job.partition} AllocNode:Sid=login:4711 ReqNodeList=(null) "
        f"ExcNodeList=(null) NodeList={nodes} {batch_host}{size} ReqB:S:C:T=0:0:*:* "
        f"TRES=cpu={job.tasks},node={job.wanted},billing={job.tasks} Socks/Node=* "
        f"NtasksPerN:B:S:C={job.tasks_per_node}:0:*:* CoreSpec=* "
        f"MinCPUsNode={job.tasks_per_node} MinMemoryNode=0 MinTmpDiskNode=0 Features=(null) "
        "DelayBoot=00:00:00 OverSubscribe=NO Contiguous=0 Licenses=(null) Network=(null) "
        f"Command={job.work_dir}/train.sbatch WorkDir={job.work_dir} "
        f"StdErr={job.filled(job.stderr)} StdIn=/dev/null StdOut={job.filled(job.stdout)} Power= "
    )


def node_line(node: Node, cluster: Cluster) -> str:
    """Return a node as `scontrol -o show node` prints it."""
    base, flags = cluster.state(node)
    star = "*" if "NOT_RESPONDING" in flags else ""
    drain = "+DRAIN" if "DRAIN" in flags else ""
    reason, by, at = cluster.why(node)
    said = f" Reason={reason} [{by}@{moment(at)}]" if reason else ""
    return (
        f"NodeName={node.name} Arch=x86_64 CoresPerSocket=48  CPUAlloc=0 CPUEfctv=192 CPUTot=192 "
        "CPULoad=0.50 AvailableFeatures=(null) ActiveFeatures=(null) Gres=gpu:8 "
        f"NodeAddr={node.address} NodeHostName={node.name} Version={spelled(cluster.version)} "
        "OS=Linux 6.8.0-48-generic #48-Ubuntu SMP PREEMPT_DYNAMIC  RealMemory=1900000 AllocMem=0 "
        f"FreeMem=1800000 Sockets=2 Boards=1 State={base}{star}{drain} ThreadsPerCore=2 TmpDisk=0 "
        f"Weight=1 Owner=N/A MCS_label=N/A Partitions={node.partition}  "
        f"BootTime={moment(node.booted())} SlurmdStartTime={moment(node.booted())} "
        "LastBusyTime=Unknown CfgTRES=cpu=192,mem=1900000M,billing=192 AllocTRES= CapWatts=n/a "
        "CurrentWatts=0 AveWatts=0 ExtSensorsJoules=n/s ExtSensorsWatts=0 "
        f"ExtSensorsTemp=n/s{said}"
    )


def step_lines(job: Job) -> tuple[str, ...]:
    """Return the running steps of a job as `scontrol -o show step` prints them."""
    if not job.runs:
        return ()
    began = f"UserId={job.uid} StartTime={moment(job.started)} TimeLimit=UNLIMITED State=RUNNING"
    nodes = folded(job.nodes)
    return (
        (
            f"StepId={job.number}.batch {began} Partition={job.partition} NodeList={job.nodes[0]} "
            "Nodes=1 CPUs=0 Tasks=1 Name=batch Network=(null) TRES=(null) ResvPorts=(null) "
            "CPUFreqReq=Default SrunHost:Pid=(null):0"
        ),
        (
            f"StepId={job.number}.0 {began} Partition={job.partition} NodeList={nodes} "
            f"Nodes={len(job.nodes)} CPUs={job.tasks} Tasks={job.tasks} Name=python Network=(null) "
            f"TRES=cpu={job.tasks},node={len(job.nodes)} ResvPorts=(null) CPUFreqReq=Default "
            f"Dist=Block SrunHost:Pid={job.nodes[0]}:20466"
        ),
    )


#: A column of sacct, for the job and for its batch step and its `srun` (""; `batch`; `0`).
_Column = Callable[[Job, str], str]


def _identity(job: Job, step: str) -> str:
    return f"{job.number}.{step}" if step else str(job.number)


def _only_job(value: Callable[[Job], str]) -> _Column:
    return lambda job, step: "" if step else value(job)


COLUMNS: Mapping[str, _Column] = {
    "JobID": _identity,
    "JobIDRaw": _identity,
    "User": _only_job(lambda job: job.user),
    "Partition": _only_job(lambda job: job.partition),
    "State": lambda job, _: job.state,
    "ExitCode": lambda job, _: f"{job.exit_code}:0",
    "Reason": _only_job(lambda job: job.reason),
    "NodeList": lambda job, step: (
        folded(job.nodes[:1] if step == "batch" else job.nodes) or "None assigned"
    ),
    "NTasks": lambda job, step: {"": "", "batch": "1"}.get(step, str(job.tasks)),
    "Layout": lambda _, step: {"": "", "batch": "Unknown"}.get(step, "Block"),
    "Submit": lambda job, step: moment(job.started if step else job.submitted),
    "Start": lambda job, _: moment(job.started),
    "End": lambda job, _: moment(job.ended),
    "StdOut": _only_job(lambda job: job.stdout),
    "StdErr": _only_job(lambda job: job.stderr),
    "WorkDir": _only_job(lambda job: job.work_dir),
    "JobName": lambda job, step: {"": job.name, "batch": "batch"}.get(step, "python"),
}


def sacct_line(job: Job, step: str, columns: list[str]) -> str:
    """Return a row of `sacct -P`; raises KeyError for a column that it does not have."""
    return "|".join(COLUMNS[column](job, step) for column in columns)


def _clock(span: timedelta) -> str:
    """Return a span as Slurm writes it: `1-00:30:00`."""
    minutes, seconds = divmod(int(span.total_seconds()), 60)
    hours, minutes = divmod(minutes, 60)
    days, hours = divmod(hours, 24)
    return (f"{days}-" if days else "") + f"{hours:02}:{minutes:02}:{seconds:02}"
