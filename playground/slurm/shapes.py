"""Write jobs, nodes and accounting records as Slurm's JSON of each version has them.

v0.0.38 is as a slurmrestd 22.05 prints it; the others follow the tables of Slurm's sources
(`src/plugins/data_parser/v0.0.39` to `v0.0.43`). Fields that nobody reads are left out.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from playground.slurm.model import Cluster, Job, Node, folded, spelled

Json = dict[str, object]

_NUMBERS_SINCE, _TIMES_SINCE, _RESOURCES_SINCE, _EXPANDED_SINCE = 39, 40, 41, 43


@dataclass(frozen=True, kw_only=True, slots=True)
class Form:
    """How one version writes its values."""

    version: int

    def number(self, value: int | None) -> object:
        """Return a number, plain or as an object; None is not set."""
        if self.version < _NUMBERS_SINCE:
            return value
        return {"set": value is not None, "infinite": False, "number": value or 0}

    def time(self, value: datetime | None) -> object:
        """Return a time in Unix seconds; 0 where there is none."""
        seconds = int(value.timestamp()) if value else 0
        return seconds if self.version < _TIMES_SINCE else self.number(seconds)

    def words(self, *words: str) -> object:
        """Return a job's state: one text, or a list of them."""
        return words[0] if self.version < _TIMES_SINCE else list(words)

    def exit(self, job: Job) -> object:
        """Return an exit code: a wait status, or its parts."""
        if self.version < _TIMES_SINCE:
            return self.number(job.exit_code << 8)
        return self._parts(job)

    def accounted_exit(self, job: Job) -> object:
        """Return an exit code as accounting has it: older versions call each a success."""
        if self.version < _TIMES_SINCE:
            return {"status": "SUCCESS", "return_code": 0}
        return {"status": self._ended(job), "return_code": self.number(job.exit_code)}

    def _parts(self, job: Job) -> Json:
        signal = {"id": self.number(None), "name": ""}
        return {
            "status": self._ended(job),
            "return_code": self.number(job.exit_code),
            "signal": signal,
        }

    def _ended(self, job: Job) -> list[str]:
        return ["ERROR" if job.exit_code else "SUCCESS"]


def job_row(job: Job, cluster: Cluster, version: int) -> Json:
    """Return a job as `/slurm/v0.0.N/job/ID` has it."""
    form = Form(version=version)
    named = folded(job.nodes)
    row: Json = {
        "job_id": job.number,
        "name": job.name,
        "user_name": job.user,
        "user_id": job.uid,
        "partition": job.partition,
        "state_reason": job.reason,
        "batch_host": job.nodes[0] if job.nodes else "",
        "cluster": cluster.name,
        "nodes": named,
        "current_working_directory": job.work_dir,
        "standard_output": job.stdout,
        "standard_error": job.stderr,
        "standard_input": "/dev/null",
        "batch_flag": True,
        "restart_cnt": job.restarts,
        "requeue": True,
        "het_job_id_set": "",
        "array_task_string": "",
        "command": f"{job.work_dir}/train.sbatch",
        "tasks": form.number(job.tasks),
        "tasks_per_node": form.number(job.tasks_per_node),
        "node_count": form.number(job.wanted),
        "time_limit": form.number(job.limit_minutes),
        "array_job_id": form.number(0),
        "array_max_tasks": form.number(0),
        "array_task_id": form.number(None),
        "het_job_id": form.number(0),
        "het_job_offset": form.number(0),
        "submit_time": form.time(job.submitted),
        "start_time": form.time(job.started),
        "end_time": form.time(job.planned_end if job.runs else job.ended),
        "job_state": form.words(job.state),
        "exit_code": form.exit(job),
        "job_resources": _resources(job, named, version),
    }
    if version >= _EXPANDED_SINCE:
        row["stdout_expanded"] = job.filled(job.stdout)
        row["stderr_expanded"] = job.filled(job.stderr)
    return row


def _resources(job: Job, named: str, version: int) -> Json:
    if version < _RESOURCES_SINCE:
        return {"nodes": named, "allocated_cpus": job.tasks, "allocated_hosts": len(job.nodes)}
    return {
        "select_type": ["CPU"],
        "nodes": {
            "count": len(job.nodes), "select_type": ["AVAILABLE"], "list": named, "whole": False,
        },
        "cpus": job.tasks,
    }  # fmt: skip


def node_row(node: Node, cluster: Cluster, version: int) -> Json:
    """Return a node as `/slurm/v0.0.N/node/NAME` has it."""
    form = Form(version=version)
    base, flags = cluster.state(node)
    reason, by, at = cluster.why(node)
    row: Json = {
        "name": node.name,
        "hostname": node.name,
        "address": node.address,
        "architecture": "x86_64",
        "operating_system": "Linux 6.8.0-48-generic #48-Ubuntu SMP PREEMPT_DYNAMIC",
        "reason": reason,
        "reason_set_by_user": by,
        "reason_changed_at": form.time(at),
        "boot_time": form.time(node.booted()),
        "slurmd_start_time": form.time(node.booted()),
        "partitions": [node.partition],
        "cpus": 192,
    }
    release = spelled(version)
    if version < _NUMBERS_SINCE:
        return row | {
            "state": base.lower(),
            "state_flags": flags,
            "next_state_after_reboot": "invalid",
            "next_state_after_reboot_flags": [],
            "slurmd_version": release,
        }
    return row | {
        "state": [base, *flags],
        "next_state_after_reboot": ["INVALID"],
        "reservation": "",
        "version": release,
    }


def accounted_row(job: Job, cluster: Cluster, version: int) -> Json:
    """Return a job as `/slurmdb/v0.0.N/job/ID` has it, with its batch step and its `srun`."""
    form = Form(version=version)
    row: Json = {
        "job_id": job.number,
        "name": job.name,
        "user": job.user,
        "partition": job.partition,
        "nodes": folded(job.nodes),
        "working_directory": job.work_dir,
        "cluster": cluster.name,
        "array": {"job_id": 0, "task_id": form.number(None), "task": ""},
        "het": {"job_id": 0, "job_offset": form.number(None)},
        "state": {"current": form.words(job.state), "reason": job.reason},
        "exit_code": form.accounted_exit(job),
        "time": {
            "submission": _seconds(job.submitted),
            "start": _seconds(job.started),
            "end": _seconds(job.ended),
            "elapsed": _seconds(job.ended) - _seconds(job.started) if job.started else 0,
        },
        "steps": [_step(job, name, form) for name in ("batch", "0") if job.nodes],
    }
    if version >= _RESOURCES_SINCE:
        row |= {"stdout": job.stdout, "stderr": job.stderr}
    if version >= _EXPANDED_SINCE:
        row["stdout_expanded"] = job.filled(job.stdout)
        row["stderr_expanded"] = job.filled(job.stderr)
    return row


def _step(job: Job, name: str, form: Form) -> Json:
    nodes = job.nodes[:1] if name == "batch" else job.nodes
    identity: Json = {"id": f"{job.number}.{name}"}
    if form.version == _NUMBERS_SINCE:
        identity = {"id": {"job_id": job.number, "step_id": name}}
    elif form.version < _NUMBERS_SINCE:
        identity = {"job_id": job.number, "id": name if name == "batch" else int(name)}
    return {
        "step": {**identity, "name": name if name == "batch" else "python"},
        "nodes": {"count": len(nodes), "range": folded(nodes), "list": list(nodes)},
        "tasks": {"count": 1 if name == "batch" else job.tasks},
        "task": {"distribution": "Unknown" if name == "batch" else "Block"},
        "state": form.words(job.state),
    }


def partition_row(cluster: Cluster, version: int) -> Json:
    """Return the one partition as `/slurm/v0.0.N/partition/NAME` has it."""
    names = folded(list(cluster.nodes))
    if version < _NUMBERS_SINCE:
        return {
            "name": "gpu", "nodes": names, "state": "UP", "flags": ["default"],
            "total_nodes": len(cluster.nodes),
        }  # fmt: skip
    return {
        "name": "gpu",
        "nodes": {"configured": names, "total": len(cluster.nodes), "allowed_allocation": ""},
        "partition": {"state": ["UP"]},
    }


def _seconds(value: datetime | None) -> int:
    return int(value.timestamp()) if value else 0
