"""Prove what is read from the commands' text, as Slurm 22.05 printed it."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from bot.schedulers.errors import UnreadableAnswerError
from bot.schedulers.model import DistributionFrom, JobState, KnownFrom, NodeFlag
from bot.schedulers.slurm import texts

FAILED = (
    "JobId=5 ArrayJobId=2 ArrayTaskId=1 ArrayTaskThrottle=2 JobName=my job State=x "
    "UserId=ada(1000) GroupId=ml(100) MCS_label=N/A Priority=4294901759 Nice=0 "
    "Account=(null) QOS=(null) "
    "JobState=FAILED Reason=NonZeroExitCode Dependency=(null) Requeue=1 Restarts=0 BatchFlag=1 "
    "Reboot=0 ExitCode=1:0 RunTime=00:00:05 TimeLimit=365-00:00:00 TimeMin=N/A "
    "SubmitTime=2026-11-30T20:45:44 EligibleTime=2026-11-30T20:45:44 "
    "AccrueTime=2026-11-30T20:45:44 StartTime=2026-11-30T20:45:44 EndTime=2026-11-30T20:45:49 "
    "Deadline=N/A SuspendTime=None SecsPreSuspend=0 LastSchedEval=2026-11-30T20:45:44 "
    "Scheduler=Backfill Partition=gpu AllocNode:Sid=localhost:10667 ReqNodeList=(null) "
    "ExcNodeList=(null) NodeList=n[0-1] BatchHost=n0 NumNodes=2 NumCPUs=4 NumTasks=4 CPUs/Task=1 "
    "ReqB:S:C:T=0:0:*:* TRES=cpu=4,node=2,billing=4 Socks/Node=* NtasksPerN:B:S:C=2:0:*:* "
    "CoreSpec=* MinCPUsNode=2 MinMemoryNode=0 MinTmpDiskNode=0 Features=(null) "
    "DelayBoot=00:00:00 OverSubscribe=OK Contiguous=0 Licenses=(null) Network=(null) "
    "Command=/home/ada/my job.sh --lr=0.1 WorkDir=/home/ada/a b StdErr=/home/ada/a b/err-1.log "
    "StdIn=/dev/null StdOut=/home/ada/a b/out=1.log Power= "
)
STEPS = """\
StepId=1.batch UserId=0 StartTime=2026-11-30T20:45:44 TimeLimit=UNLIMITED State=RUNNING \
Partition=gpu NodeList=n0 Nodes=1 CPUs=0 Tasks=1 Name=batch Network=(null) TRES=(null) \
ResvPorts=(null) CPUFreqReq=Default SrunHost:Pid=(null):0
StepId=1.0 UserId=0 StartTime=2026-11-30T20:45:44 TimeLimit=UNLIMITED State=RUNNING Partition=gpu \
NodeList=n[0-1] Nodes=2 CPUs=4 Tasks=4 Name=sh Network=(null) TRES=cpu=4,mem=0,node=2 \
ResvPorts=(null) CPUFreqReq=Default Dist=Cyclic SrunHost:Pid=vm:20466
"""
NODE = (
    "NodeName=n1 Arch=x86_64 CoresPerSocket=1  CPUAlloc=0 CPUEfctv=4 CPUTot=4 CPULoad=4.88 "
    "AvailableFeatures=(null) ActiveFeatures=(null) Gres=(null) NodeAddr=10.0.0.11 "
    "NodeHostName=n1 Port=54397 Version=22.05.8 OS=Linux 6.1.0 #1 SMP PREEMPT_DYNAMIC @0  "
    "RealMemory=1000 AllocMem=0 FreeMem=21136 Sockets=4 Boards=1 State=IDLE+DRAIN+PLANNED "
    "ThreadsPerCore=1 TmpDisk=0 Weight=1 Owner=N/A MCS_label=N/A Partitions=gpu,all  "
    "BootTime=2026-11-30T19:12:46 SlurmdStartTime=2026-11-30T20:45:23 "
    "LastBusyTime=2026-11-30T20:45:49 CfgTRES=cpu=4,mem=1000M,billing=4 AllocTRES= CapWatts=n/a "
    "CurrentWatts=0 AveWatts=0 ExtSensorsJoules=n/s ExtSensorsWatts=0 ExtSensorsTemp=n/s "
    'Reason=bad gpu = "x" | State=IDLE [root@2026-11-30T20:46:43]'
)
SACCT = """\
JobID|JobIDRaw|User|Partition|State|ExitCode|Reason|NodeList|NTasks|Layout|Submit|Start|End|\
WorkDir|JobName
48213_7|48220|ada|gpu|FAILED|1:0|None|gpu-[01-02]|||2026-11-30T17:00:00|2026-11-30T17:00:05|\
2026-11-30T17:30:00|/home/ada|a|b
48213_7.batch|48220.batch|||FAILED|1:0||gpu-01|1|Unknown|2026-11-30T17:00:05|\
2026-11-30T17:00:05|2026-11-30T17:30:00||batch
48213_7.0|48220.0|||FAILED|1:0||gpu-[01-02]|16|Cyclic|2026-11-30T17:00:06|2026-11-30T17:00:06|\
2026-11-30T17:30:00||python
48214+1|48215|bob|gpu|CANCELLED by 1001|0:15|None|None assigned|||2026-11-30T17:00:00|Unknown|\
2026-11-30T17:10:00|/home/bob|het
"""


def test_a_job_with_spaces_and_equal_signs_in_its_values() -> None:
    """Only names that scontrol prints begin a field, and a path may hold anything else."""
    (fields,) = texts.records(FAILED, "JobId")
    job = texts.job_of(fields, "hall")

    assert (job.id, job.label, job.state) == ("5", "2_1", JobState.FAILED)
    assert (job.name, job.user, job.exit_code) == ("my job State=x", "ada", 1)
    assert (job.nodes, job.ntasks, job.ntasks_per_node) == (("n0", "n1"), 4, 2)
    assert (job.work_dir, job.batch_host) == ("/home/ada/a b", "n0")
    assert (job.stdout, job.stderr) == ("/home/ada/a b/out=1.log", "/home/ada/a b/err-1.log")
    assert job.ended_at == datetime(2026, 11, 30, 20, 45, 49, tzinfo=UTC)


@pytest.mark.parametrize("fake", ["StdOut=/etc/shadow", "NodeList=n9", "UserId=root(0)"])
def test_a_name_cannot_imitate_a_field(fake: str) -> None:
    """A job whose name holds a field of Slurm's is not believed, whichever of the two is real."""
    (fields,) = texts.records(FAILED.replace("State=x", fake), "JobId")

    with pytest.raises(
        UnreadableAnswerError, match=f"job 5 names {fake.split('=', maxsplit=1)[0]} twice"
    ):
        texts.job_of(fields, "hall")


def test_waiting_array_tasks_share_a_record() -> None:
    """A record of several waiting tasks is none of them."""
    line = FAILED.replace("ArrayTaskId=1 ", "ArrayTaskId=3-7%2 ").replace("=FAILED", "=PENDING")
    (fields,) = texts.records(line, "JobId")
    job = texts.job_of(fields, "hall")

    assert (job.array_job, job.array_task, job.started_at, job.ended_at) == (2, None, None, None)


def test_steps_tell_their_distribution() -> None:
    """`Dist` is there for a step that srun started, not for the batch script."""
    steps = [texts.step_of(fields) for fields in texts.records(STEPS, "StepId")]

    assert [(step.id, step.distribution) for step in steps] == [("batch", None), ("0", "Cyclic")]
    assert (steps[1].nodes, steps[1].ntasks) == (("n0", "n1"), 4)


def test_a_node_with_a_reason_that_looks_like_fields() -> None:
    """A free text cannot overwrite what stood before it; who and when are taken from its end."""
    (fields,) = texts.records(NODE, "NodeName")
    node = texts.node_of(fields, "hall")

    assert (node.state, node.flags) == ("IDLE", frozenset({NodeFlag.DRAIN}))
    assert node.reason == 'bad gpu = "x" | State=IDLE'
    assert (node.reason_by, node.reason_at) == (
        "root",
        datetime(2026, 11, 30, 20, 46, 43, tzinfo=UTC),
    )
    assert (node.address, node.partitions) == ("10.0.0.11", ("gpu", "all"))


def test_accounting_as_a_table() -> None:
    """Array tasks, components and steps are told apart, and a name may hold the separator."""
    first, second = texts.accounted_jobs(SACCT, "hall", known_from=KnownFrom.ACCOUNTING)

    assert (first.id, first.label, first.name) == ("48220", "48213_7", "a|b")
    assert [step.id for step in first.steps] == ["batch", "0"]
    assert (first.distribution, first.distribution_from) == ("Cyclic", DistributionFrom.STEP)
    assert (first.nodes, first.work_dir) == (("gpu-01", "gpu-02"), "/home/ada")
    assert (second.id, second.label, second.state) == ("48215", "48214+1", JobState.CANCELLED)
    assert (second.nodes, second.exit_signal, second.started_at) == ((), 15, None)


@pytest.mark.parametrize("output", ["", "\n", "JobID|State\n", "slurm: error\nx", "JobId=\n"])
def test_no_records_in_no_output(output: str) -> None:
    """Headers alone and messages are no jobs."""
    assert texts.accounted_jobs(output, "hall", known_from=KnownFrom.ACCOUNTING) == ()
    assert [fields for fields in texts.records(output, "JobId") if fields["JobId"]] == []
