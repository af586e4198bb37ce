"""Answer Slurm's commands on a login node: those that the product sends, and no others."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from ClusterShell.NodeSet import NodeSet

from playground.slurm import shapes, texts
from playground.slurm.model import ENDED, Cluster, Job, RefusedError, spelled

#: Words before each command: a time zone and a format that do not hang on the account's own.
ENVIRONMENT = (
    *("env", "-u", "SLURM_JWT", "-u", "SLURM_CLUSTERS", "TZ=UTC"),
    "SLURM_TIME_FORMAT=standard",
)
#: `scontrol` knows `--json` from 23.02 on.
_JSON_SINCE = 39
#: sacct's letters of states, in the order in which it is asked for them.
_LETTERS = {
    "F": "FAILED", "NF": "NODE_FAIL", "TO": "TIMEOUT", "OOM": "OUT_OF_MEMORY",
    "BF": "BOOT_FAIL", "DL": "DEADLINE",
}  # fmt: skip


@dataclass(frozen=True, kw_only=True, slots=True)
class Said:
    """How a command ended."""

    rc: int = 0
    out: str = ""
    err: str = ""


class NotSimulatedError(Exception):
    """No such command is answered here."""


def run(cluster: Cluster, argv: Sequence[str], *, user: str) -> Said:
    """Answer a command line of Slurm's; raises NotSimulatedError for any other."""
    words = list(argv)
    for known, answer in _TABLE:
        if words[: len(known)] == list(known):
            return answer(_Asked(cluster=cluster, rest=words[len(known) :], user=user))
    raise NotSimulatedError


@dataclass(frozen=True, kw_only=True, slots=True)
class _Asked:
    cluster: Cluster
    #: the words behind those of the table
    rest: list[str]
    user: str

    def one(self) -> str:
        """Return the only word that is left; the forms of the commands are not bent."""
        if len(self.rest) != 1:
            raise NotSimulatedError
        return self.rest[0]


def _version(asked: _Asked) -> Said:
    return Said(out=f"slurm {spelled(asked.cluster.version)}\n")


def _jobs(asked: _Asked) -> list[Job]:
    if not asked.rest:
        return list(asked.cluster.jobs.values())
    return [asked.cluster.job(asked.one())]


def _jobs_as_text(asked: _Asked) -> Said:
    try:
        lines = [texts.job_line(job, asked.cluster) for job in _jobs(asked)]
    except RefusedError as error:
        return Said(rc=1, err=f"slurm_load_jobs error: {error}\n")
    return Said(out=_lines(lines) or "No jobs in the system\n")


def _jobs_as_json(asked: _Asked) -> Said:
    cluster = asked.cluster
    if cluster.version < _JSON_SINCE:
        return Said(rc=1, err="scontrol: unrecognized option '--json'\n")
    try:
        jobs = _jobs(asked)
    except RefusedError as error:
        return Said(rc=1, err=f"slurm_load_jobs error: {error}\n")
    return _json("jobs", [shapes.job_row(job, cluster, cluster.version) for job in jobs])


def _nodes(asked: _Asked) -> tuple[list[str], Said]:
    """Return the nodes that are asked for, and what is said of one that is not there."""
    if not asked.rest:
        return list(asked.cluster.nodes), Said()
    names = [str(name) for name in NodeSet(asked.one(), resolver=None)]
    missing = [name for name in names if name not in asked.cluster.nodes]
    return names, Said(rc=1, out=f"Node {missing[0]} not found\n") if missing else Said()


def _nodes_as_text(asked: _Asked) -> Said:
    names, missing = _nodes(asked)
    cluster = asked.cluster
    lines = (texts.node_line(cluster.nodes[name], cluster) for name in names)
    return missing if missing.rc else Said(out=_lines(lines))


def _nodes_as_json(asked: _Asked) -> Said:
    cluster = asked.cluster
    if cluster.version < _JSON_SINCE:
        return Said(rc=1, err="scontrol: unrecognized option '--json'\n")
    names, missing = _nodes(asked)
    rows = (shapes.node_row(cluster.nodes[name], cluster, cluster.version) for name in names)
    return missing if missing.rc else _json("nodes", list(rows))


def _steps(asked: _Asked) -> Said:
    number = asked.one()
    job = asked.cluster.jobs.get(int(number)) if number.isdecimal() else None
    lines = texts.step_lines(job) if job else ()
    return Said(out=_lines(lines)) if lines else Said(rc=1, out=f"Job step {number}. not found\n")


def _script(asked: _Asked) -> Said:
    number, where = (*asked.rest, "", "")[:2]
    if where != "-" or len(asked.rest) > 2:  # noqa: PLR2004 - ID and `-`
        raise NotSimulatedError
    job = asked.cluster.jobs.get(int(number)) if number.isdecimal() else None
    if job is None:
        return Said(err="job script retrieval failed: Invalid job id specified\n")
    return Said(out=job.script)


def _config(asked: _Asked) -> Said:
    cluster = asked.cluster
    kind = "slurmdbd" if cluster.accounting else "none"
    rows = {
        "AccountingStorageType": f"accounting_storage/{kind}",
        "ClusterName": cluster.name,
        "JobCompType": "jobcomp/none",
        "MinJobAge": f"{cluster.min_job_age} sec",
        "NEXT_JOB_ID": str(cluster.next_number),
        "SLURM_VERSION": spelled(cluster.version),
    }
    lines = (f"{name:<23} = {value}" for name, value in rows.items())
    return Said(out=f"Configuration data as of {texts.moment(_now())}\n{_lines(lines)}")


def _update(asked: _Asked) -> Said:
    """Drain or resume one node."""
    fields = dict(word.split("=", 1) for word in asked.rest if "=" in word)
    if len(fields) != len(asked.rest) or not {"nodename", "state"} <= set(fields):
        raise NotSimulatedError
    name, state, reason = fields["nodename"], fields["state"], fields.get("reason", "")
    if state == "drain" and not reason:
        said = "You must specify a reason when DOWNING or DRAINING a node. Request denied\n"
        return Said(rc=1, err=said)
    try:
        if state == "drain":
            asked.cluster.drain(name, reason, by=asked.user)
        elif state == "resume":
            asked.cluster.resume(name, by=asked.user)
        else:
            raise NotSimulatedError
    except RefusedError as error:
        return Said(rc=1, err=f"slurm_update error: {error}\n")
    return Said()


def _hold(asked: _Asked) -> Said:
    number = asked.one()
    try:
        asked.cluster.hold(number, by=asked.user)
    except RefusedError as error:
        return Said(rc=1, err=f"{error} for job {number}\nslurm_suspend error: {error}\n")
    return Said()


def _requeue(asked: _Asked) -> Said:
    number = asked.one()
    try:
        asked.cluster.requeue(number, by=asked.user)
    except RefusedError as error:
        return Said(rc=1, err=f"{error} for job {number}\n")
    return Said()


def _cancel(asked: _Asked) -> Said:
    number = asked.one()
    said = f"scancel: Terminating job {number}\n"
    try:
        asked.cluster.cancel(number, by=asked.user)
    except RefusedError as error:
        # it ends with 0 all the same
        said += f"scancel: error: Kill job error on job id {number}: {error}\n"
    return Said(err=said)


def _accounting(asked: _Asked) -> Said:
    """Answer `sacct -P`: one job with its steps, or failed jobs since a time, without."""
    if not asked.cluster.accounting:
        return Said(rc=1, err="Slurm accounting storage is disabled\n")
    rest = asked.rest
    if len(rest) == 4 and (rest[0], rest[2]) == ("-j", "-o"):  # noqa: PLR2004
        jobs = [job for job in asked.cluster.jobs.values() if str(job.number) == rest[1]]
        return _table(jobs, ("", "batch", "0"), rest[3])
    forms = ["-a", "-X", "-S", None, "-E", None, "-s", None, "-o", None]
    if len(rest) != len(forms) or any(f and f != w for f, w in zip(forms, rest, strict=True)):
        raise NotSimulatedError
    since = datetime.fromisoformat(rest[3]).replace(tzinfo=UTC)
    states = {_LETTERS[letter] for letter in rest[7].split(",")}
    jobs = [
        job
        for job in asked.cluster.jobs.values()
        if job.state in states and job.ended and job.ended >= since
    ]
    return _table(jobs, ("",), rest[9])


def _table(jobs: Sequence[Job], steps: Sequence[str], columns: str) -> Said:
    names = columns.split(",")
    if unknown := [name for name in names if name not in texts.COLUMNS]:
        return Said(rc=1, err=f'sacct: fatal: Invalid field requested: "{unknown[0]}"\n')
    lines = (
        texts.sacct_line(job, step, names)
        for job in jobs
        for step in steps
        if not step or (job.nodes and (job.state in ENDED or job.runs))
    )
    return Said(out=_lines(["|".join(names), *lines]))


def _completed(asked: _Asked) -> Said:
    del asked
    return Said(rc=1, err="Slurm job completion is not enabled\n")


_TABLE: tuple[tuple[tuple[str, ...], Callable[[_Asked], Said]], ...] = (
    (("scontrol", "--version"), _version),
    (("scontrol", "-o", "show", "job"), _jobs_as_text),
    (("scontrol", "--json", "show", "job"), _jobs_as_json),
    (("scontrol", "-o", "show", "node"), _nodes_as_text),
    (("scontrol", "--json", "show", "node"), _nodes_as_json),
    (("scontrol", "-o", "show", "step"), _steps),
    (("scontrol", "write", "batch_script"), _script),
    (("scontrol", "show", "config"), _config),
    (("scontrol", "update"), _update),
    (("scontrol", "hold"), _hold),
    (("scontrol", "requeue"), _requeue),
    (("scancel", "--verbose"), _cancel),
    (("sacct", "-c"), _completed),
    (("sacct", "-P"), _accounting),
)


def _lines(lines: Iterable[str]) -> str:
    return "".join(f"{line}\n" for line in lines)


def _json(key: str, rows: list[shapes.Json]) -> Said:
    return Said(out=json.dumps({key: rows, "errors": [], "warnings": []}) + "\n")


def _now() -> datetime:
    return datetime.now(UTC)
