"""What slurmrestd answers on each path that the product uses, in v0.0.38 to v0.0.43."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass

from playground.crusoe.http1 import Reply
from playground.slurm import shapes
from playground.slurm.model import RELEASES, Cluster, Job, RefusedError

_PREFIX = r"/(?P<part>slurm|slurmdb)/v0\.0\.(?P<version>\d+)"
#: From here on nodes and jobs can be changed.
CHANGES_SINCE = 39
#: Members of a job's and of a node's update that the real one takes; others are refused.
_JOB_MEMBERS = frozenset({"hold", "priority", "comment", "name", "time_limit", "partition"})
_NODE_MEMBERS = frozenset({"state", "reason", "comment", "extra", "weight", "reason_uid"})


@dataclass(frozen=True, kw_only=True, slots=True)
class Asked:
    """A request, taken apart."""

    version: int
    #: the last part of the path: a job, a node, a partition
    name: str
    #: what the body's JSON holds; None where it is none
    body: object
    user: str


@dataclass(frozen=True, kw_only=True)
class Api:
    """Answer requests whose token was good."""

    cluster: Cluster

    def jobs(self, asked: Asked) -> Reply:
        """Return all jobs."""
        return self._rows(asked, "jobs", [self._job(job, asked) for job in self._all_jobs()])

    def job(self, asked: Asked) -> Reply:
        """Return one job."""
        if not asked.name.isdecimal():
            return self.error(asked, 400, 9002, "Jobs description entry not found", {})
        try:
            job = self.cluster.job(asked.name)
        except RefusedError as error:
            return self._refused(asked, error, {"jobs": []})
        return self._rows(asked, "jobs", [self._job(job, asked)])

    def change_job(self, asked: Asked) -> Reply:
        """Hold a job."""
        body = asked.body
        if not isinstance(body, dict) or not set(body) <= _JOB_MEMBERS or body != {"hold": True}:
            return self.error(asked, 400, 9202, "Unexpected request body", {})
        return self._changed(asked, lambda: self.cluster.hold(asked.name, by=asked.user))

    def cancel(self, asked: Asked) -> Reply:
        """End a job; one that is over is not told from one that was ended."""
        try:
            self.cluster.cancel(asked.name, by=asked.user)
        except RefusedError as error:
            if error.number != _DONE:
                return self._refused(asked, error, {})
        return json_reply(200, self._whole(asked, {}))

    def nodes(self, asked: Asked) -> Reply:
        """Return all nodes."""
        rows = [
            shapes.node_row(node, self.cluster, asked.version)
            for node in self.cluster.nodes.values()
        ]
        return self._rows(asked, "nodes", rows)

    def node(self, asked: Asked) -> Reply:
        """Return one node."""
        try:
            node = self.cluster.node(asked.name)
        except RefusedError as error:
            return self._refused(asked, error, {"nodes": []})
        return self._rows(asked, "nodes", [shapes.node_row(node, self.cluster, asked.version)])

    def change_node(self, asked: Asked) -> Reply:
        """Drain or resume a node."""
        body = asked.body
        if not isinstance(body, dict) or not set(body) <= _NODE_MEMBERS:
            return self.error(asked, 400, 9202, "Unexpected request body", {})
        reason = body.get("reason")
        if body.get("state") == ["DRAIN"] and isinstance(reason, str) and reason:
            cluster, by = self.cluster, asked.user
            return self._changed(asked, lambda: cluster.drain(asked.name, reason, by=by))
        if body.get("state") == ["RESUME"]:
            return self._changed(asked, lambda: self.cluster.resume(asked.name, by=asked.user))
        return self.error(asked, 500, 2028, "Invalid node state specified", {})

    def accounted(self, asked: Asked) -> Reply:
        """Return what accounting has of a job; nothing is no error."""
        rows = [
            shapes.accounted_row(job, self.cluster, asked.version)
            for job in self._all_jobs()
            if str(job.number) == asked.name
        ]
        return self._rows(asked, "jobs", rows)

    def partitions(self, asked: Asked) -> Reply:
        """Return the partitions, or one of them."""
        if asked.name not in {"", "gpu"}:
            return self.error(asked, 500, 2000, "Invalid partition name specified", {})
        row = shapes.partition_row(self.cluster, asked.version)
        return self._rows(asked, "partitions", [row])

    def ping(self, asked: Asked) -> Reply:
        """Say that the controller is up."""
        up: shapes.Json = {"hostname": "ctl", "mode": "primary"}
        old = {"ping": "UP", "status": 0} if asked.version < CHANGES_SINCE else {"pinged": "UP"}
        return self._rows(asked, "pings", [up | old])

    def diag(self, asked: Asked) -> Reply:
        """Return the controller's counters of jobs."""
        states = [job.state for job in self._all_jobs()]
        numbers: shapes.Json = {
            "jobs_submitted": len(states),
            "jobs_pending": states.count("PENDING"),
            "jobs_running": states.count("RUNNING"),
            "jobs_failed": states.count("FAILED"),
        }
        return json_reply(200, self._whole(asked, {"statistics": numbers}))

    def _all_jobs(self) -> list[Job]:
        return list(self.cluster.jobs.values())

    def _job(self, job: Job, asked: Asked) -> shapes.Json:
        return shapes.job_row(job, self.cluster, asked.version)

    def _changed(self, asked: Asked, change: Callable[[], None]) -> Reply:
        try:
            change()
        except RefusedError as error:
            return self._refused(asked, error, {})
        return json_reply(200, self._whole(asked, {}))

    def _rows(self, asked: Asked, key: str, rows: list[shapes.Json]) -> Reply:
        return json_reply(200, self._whole(asked, {key: rows}))

    def _refused(self, asked: Asked, error: RefusedError, more: shapes.Json) -> Reply:
        return self.error(asked, 500, error.number, error.words, more)

    def error(self, asked: Asked, status: int, number: int, words: str, more: shapes.Json) -> Reply:
        """Return an error with its number, beside the empty lists that come with it."""
        error: shapes.Json = {"error": words, "error_number": number, "description": words}
        return json_reply(status, self._whole(asked, more) | {"errors": [error]})

    def _whole(self, asked: Asked, more: shapes.Json) -> shapes.Json:
        major, minor, micro = RELEASES[asked.version]
        version = {"major": major, "minor": minor, "micro": micro}
        named = f"v0.0.{asked.version}"
        meta = {"plugin": {"type": f"openapi/{named}", "name": f"Slurm OpenAPI {named}"}}
        whole: shapes.Json = {"meta": {**meta, "Slurm": {"version": version}}, "errors": []}
        if asked.version >= CHANGES_SINCE:
            whole["warnings"] = []
        return whole | more

    def described(self) -> shapes.Json:
        """Return the paths as `/openapi/v3` lists them."""
        names = ["slurm/{}/ping/", "slurm/{}/diag/", "slurm/{}/jobs/", "slurm/{}/nodes/"]
        if self.cluster.accounting:
            names.append("slurmdb/{}/jobs/")
        paths: shapes.Json = {
            f"/{name.format(f'v0.0.{version}')}": {} for version in RELEASES for name in names
        }
        return {"openapi": "3.0.3", "paths": paths}


_DONE = 2021
Answers = dict[str, Callable[[Api, Asked], Reply]]
#: Path below the version → what answers each method. The real one takes a slash at the end.
_ROUTES: tuple[tuple[str, str, Answers], ...] = (
    ("slurm", r"ping", {"GET": Api.ping}),
    ("slurm", r"diag", {"GET": Api.diag}),
    ("slurm", r"jobs", {"GET": Api.jobs}),
    (
        *("slurm", r"job/(?P<name>[^/]+)"),
        {"GET": Api.job, "POST": Api.change_job, "DELETE": Api.cancel},
    ),
    ("slurm", r"nodes", {"GET": Api.nodes}),
    (
        *("slurm", r"node/(?P<name>[^/]+)"),
        {"GET": Api.node, "POST": Api.change_node},
    ),
    ("slurm", r"partitions", {"GET": Api.partitions}),
    ("slurm", r"partition/(?P<name>[^/]+)", {"GET": Api.partitions}),
    ("slurmdb", r"job/(?P<name>[^/]+)", {"GET": Api.accounted}),
)


def route(cluster: Cluster, path: str) -> tuple[re.Match[str], Answers] | None:
    """Return the parts of a known path and what answers its methods."""
    for part, below, answers in _ROUTES:
        found = re.fullmatch(f"{_PREFIX}/{below}/?", path)
        if found is None or found["part"] != part or int(found["version"]) not in RELEASES:
            continue
        # without accounting its paths are not there
        return None if part == "slurmdb" and not cluster.accounting else (found, answers)
    return None


def plain(status: int, text: str) -> Reply:
    """Return a refusal in plain text."""
    return Reply(status=status, body=text.encode(), headers=(("Content-Type", "text/plain"),))


def json_reply(status: int, body: shapes.Json) -> Reply:
    """Return an answer in JSON."""
    return Reply(
        status=status,
        body=json.dumps(body).encode(),
        headers=(("Content-Type", "application/json"),),
    )
