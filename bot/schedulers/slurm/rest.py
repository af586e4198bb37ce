"""Slurm by slurmrestd, v0.0.38 (22.05) to v0.0.43 (25.05), with a JSON web token.

Paths and methods are those of the openapi plugins. v0.0.38 reads and cancels; from v0.0.39 on a
node can be updated and a job be held; no version can requeue or show a running step.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta

import httpx

from bot.network.telling import why
from bot.schedulers.about import About
from bot.schedulers.errors import (
    AccessError,
    RequestRefusedError,
    SchedulerError,
    SchedulerUnavailableError,
    UnknownNodeError,
    UnreadableAnswerError,
)
from bot.schedulers.model import FAILED_STATES, Job, Node
from bot.schedulers.port import Operation
from bot.schedulers.slurm import shapes, telling
from bot.schedulers.slurm.way import History, Way, checked_node

#: Versions whose shapes were compared with Slurm's sources, the oldest first.
VERSIONS = tuple(range(38, 44))
_CHANGES_SINCE = 39
_READS = frozenset(
    {Operation.JOB, Operation.HISTORY, Operation.FAILURES, Operation.NODES, Operation.CANCEL}
)
_CHANGES = frozenset({Operation.DRAIN, Operation.RESUME, Operation.HOLD})

#: Slurm's error numbers (`slurm_errno.h`).
_INVALID_JOB_ID = re.compile(r"\(2017\)|Invalid job id", re.IGNORECASE)
_INVALID_NODE = re.compile(r"\(2018\)|Invalid node name|Node .* not found", re.IGNORECASE)
#: 22.05 says no more than "Unspecified error (-1)" for a token that is expired or forged.
_AUTHENTICATION = re.compile(
    r"authentication|permission denied|Unauthorized|Unspecified error.*\(-1\)",
    re.IGNORECASE,
)
_AWAY = re.compile(r"Unable to contact|Connection refused|Zero Bytes|timed? ?out", re.IGNORECASE)
_UNAUTHORIZED = frozenset({401, 403})
_NOT_FOUND = 404


@dataclass(kw_only=True)
class RestWay(Way):
    """One slurmrestd, asked in one version of its interface."""

    #: such as `http://ctl:6820`
    base_url: str
    user: str
    #: gives the token for each request: they are short-lived
    token: Callable[[], str]
    #: 38 to 43; see `newest_version()`
    version: int = VERSIONS[0]
    timeout: timedelta = timedelta(seconds=20)
    #: how it is reached
    transport: httpx.AsyncBaseTransport | None = None
    _client: httpx.AsyncClient = field(init=False, repr=False)

    def __post_init__(self) -> None:
        """Name the way and make its client, which connects when it is first asked."""
        self.name = f"slurmrestd v0.0.{self.version}"
        self._client = httpx.AsyncClient(
            base_url=self.base_url,
            timeout=self.timeout.total_seconds(),
            transport=self.transport,
            follow_redirects=False,
            # a proxy is chosen by the transport; unencrypted, the token goes through none
            trust_env=False,
        )

    async def aclose(self) -> None:
        """Close the connections."""
        await self._client.aclose()

    @property
    def can(self) -> frozenset[Operation]:
        """Return what this version can do."""
        return _READS | _CHANGES if self.version >= _CHANGES_SINCE else _READS

    async def live(self, number: int) -> tuple[Job, ...]:
        """Return what the controller remembers of a number."""
        answer = await self._ask("GET", self._slurm(f"job/{number}"))
        if answer.failed(_INVALID_JOB_ID):
            return ()
        rows = answer.rows("jobs", f"job {number} was not read")
        return tuple(shapes.job_of(row, self.cluster) for row in rows)

    async def history(self, number: int) -> History:
        """Ask the accounting database; slurmrestd has no path to it where there is none."""
        answer = await self._ask("GET", f"/slurmdb/v0.0.{self.version}/job/{number}")
        if answer.status == _NOT_FOUND and not shapes.rows(answer.body.get("errors")):
            return History(accounting=False)
        if answer.status == _NOT_FOUND or answer.failed(_INVALID_JOB_ID):
            return History(accounting=True)
        rows = answer.rows("jobs", f"job {number} was not looked up in accounting")
        jobs = tuple(shapes.accounted_job_of(row, self.cluster) for row in rows)
        return History(jobs=jobs, accounting=True)

    async def failures(self, since: datetime) -> tuple[Job, ...]:
        """Return the failed jobs that the controller still remembers."""
        return tuple(
            job
            for job in await self.all_jobs()
            if job.state in FAILED_STATES and job.ended_at and job.ended_at >= since
        )

    async def all_jobs(self) -> tuple[Job, ...]:
        """Return every job that the controller remembers."""
        answer = await self._ask("GET", self._slurm("jobs/"))
        rows = answer.rows("jobs", "the jobs were not read")
        return tuple(shapes.job_of(row, self.cluster) for row in rows)

    async def about(self) -> About:
        """Ping the controller through the service; it tells no rights and no MinJobAge."""
        answer = await self._ask("GET", self._slurm("ping/"))
        if answer.status == _NOT_FOUND:
            newest = await self.newest_version()
            message = (
                f"slurmrestd at {self.base_url} does not serve v0.0.{self.version}. Set "
                f"clusters.{self.cluster}.rest.version to {newest}."
            )
            raise UnreadableAnswerError(message)
        answer.check("nothing is known of the cluster")
        if not telling.is_up(answer.body):
            message = f"slurmrestd at {self.base_url} answers, but no controller answers it."
            raise SchedulerUnavailableError(message)
        kept = await self._ask("GET", f"/slurmdb/v0.0.{self.version}/diag/")
        absent = kept.status == _NOT_FOUND and not shapes.rows(kept.body.get("errors"))
        return telling.of_ping(
            self.name,
            answer.body,
            accounting=False if absent else None if shapes.errors(kept.body) else True,
            rights=self._rights(),
        )

    def _rights(self) -> tuple[bool | None, str]:
        if Operation.DRAIN not in self.can:
            return False, f"v0.0.{self.version} can neither drain nor requeue."
        return None, "slurmrestd does not tell what a user may do; a drain would show it."

    async def all_nodes(self) -> tuple[Node, ...]:
        """Return every node."""
        answer = await self._ask("GET", self._slurm("nodes/"))
        rows = answer.rows("nodes", "nodes were not read")
        return tuple(shapes.node_of(row, self.cluster) for row in rows)

    async def some_nodes(self, names: tuple[str, ...]) -> tuple[Node, ...]:
        """Return these nodes: one by its own path, more out of the whole list."""
        if len(names) > 1:
            wanted = set(names)
            return tuple(node for node in await self.all_nodes() if node.name in wanted)
        (name,) = names
        answer = await self._ask("GET", self._slurm(f"node/{checked_node(name)}"))
        if answer.failed(_INVALID_NODE):
            raise UnknownNodeError(f"Cluster {self.cluster} has no node {name}.")
        rows = answer.rows("nodes", f"node {name} was not read")
        return tuple(shapes.node_of(row, self.cluster) for row in rows)

    async def drain(self, node: str, reason: str) -> None:
        """Drain a node."""
        if Operation.DRAIN not in self.can:
            raise self.lacks(Operation.DRAIN, node)
        body = {"state": ["DRAIN"], "reason": reason}
        path = self._slurm(f"node/{checked_node(node)}")
        (await self._ask("POST", path, body)).check(f"node {node} was not drained")

    async def resume(self, node: str) -> None:
        """Take a node's drain away."""
        if Operation.RESUME not in self.can:
            raise self.lacks(Operation.RESUME, node)
        path = self._slurm(f"node/{checked_node(node)}")
        answer = await self._ask("POST", path, {"state": ["RESUME"]})
        answer.check(f"node {node} was not resumed")

    async def hold(self, job: str) -> None:
        """Keep a waiting job from starting."""
        if Operation.HOLD not in self.can:
            raise self.lacks(Operation.HOLD, job)
        answer = await self._ask("POST", self._slurm(f"job/{job}"), {"hold": True})
        answer.check(f"job {job} was not held")

    async def cancel(self, job: str) -> None:
        """End a job."""
        answer = await self._ask("DELETE", self._slurm(f"job/{job}"))
        answer.check(f"job {job} was not cancelled")

    async def newest_version(self) -> int:
        """Return the newest version that this slurmrestd serves and we know."""
        for path in ("/openapi/v3", "/openapi"):
            response = await _send(self._client, "GET", path, self.user, self.token())
            if response.status_code in _UNAUTHORIZED:
                raise AccessError(f"slurmrestd refuses the token of user {self.user}.")
            served = {int(found) for found in re.findall(r"slurm\\?/v0\.0\.(\d+)", response.text)}
            if known := served & set(VERSIONS):
                return max(known)
        message = (
            f"slurmrestd at {self.base_url} serves none of v0.0.{VERSIONS[0]} to "
            f"v0.0.{VERSIONS[-1]}. "
            "Start it with one of them, or configure a login node."
        )
        raise UnreadableAnswerError(message)

    def _slurm(self, path: str) -> str:
        return f"/slurm/v0.0.{self.version}/{path}"

    async def _ask(
        self, method: str, path: str, body: Mapping[str, object] | None = None
    ) -> _Answer:
        response = await _send(self._client, method, path, self.user, self.token(), body)
        if response.status_code in _UNAUTHORIZED:
            message = (
                f"slurmrestd refuses the token of user {self.user} ({response.status_code}). Make "
                "a new one with `scontrol token`, and check the user's name."
            )
            raise AccessError(message)
        return _Answer(
            status=response.status_code, body=_body(response), cluster=self.cluster,
            version=self.version,
        )  # fmt: skip


@dataclass(frozen=True, kw_only=True, slots=True)
class _Answer:
    """One answer, read."""

    status: int
    body: shapes.Json
    cluster: str
    version: int

    def failed(self, pattern: re.Pattern[str]) -> bool:
        """Tell whether the answer says this went wrong."""
        return any(pattern.search(error) for error in shapes.errors(self.body))

    def check(self, undone: str) -> None:
        """Raise what went wrong, if something did; `undone` is what was not done then."""
        said = "; ".join(shapes.errors(self.body))
        if self.status == _NOT_FOUND and not self.body:
            # Slurm's own answers are JSON: this one is of whoever routes paths
            raise UnreadableAnswerError(
                f"slurmrestd of {self.cluster} does not serve v0.0.{self.version} (HTTP status "
                f"404), so {undone}: set clusters.{self.cluster}.rest.version to one that it "
                "serves; `nccl-dns doctor` says which."
            )
        if said or self.status >= httpx.codes.BAD_REQUEST:
            raise _error(said or f"HTTP status {self.status}", undone)

    def rows(self, key: str, undone: str) -> tuple[shapes.Json, ...]:
        """Return the objects of a list that the answer has to hold."""
        self.check(undone)
        if key not in self.body:
            message = f"slurmrestd of {self.cluster} answered without {key!r}, so {undone}."
            raise UnreadableAnswerError(message)
        return shapes.rows(self.body[key])


def _error(said: str, undone: str) -> SchedulerError:
    if _AUTHENTICATION.search(said):
        return AccessError(f"Slurm refuses our user or token, so {undone}: {said[:300]}.")
    if _AWAY.search(said):
        return SchedulerUnavailableError(
            f"slurmrestd cannot reach Slurm's controller, so {undone}: {said[:300]}."
        )
    return RequestRefusedError(f"Slurm refused, so {undone}: {said[:300]}.")


async def _send(
    client: httpx.AsyncClient,
    method: str,
    path: str,
    user: str,
    token: str,
    body: Mapping[str, object] | None = None,
) -> httpx.Response:
    try:
        return await client.request(
            method,
            path,
            json=body,
            headers={"X-SLURM-USER-NAME": user, "X-SLURM-USER-TOKEN": token},
        )
    except httpx.TimeoutException as error:
        message = f"slurmrestd at {client.base_url} gave no answer to {method} {path} in time."
        raise SchedulerUnavailableError(message) from error
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        said = why(error) or str(error) or type(error).__name__
        message = f"slurmrestd at {client.base_url} cannot be reached: {said}."
        raise SchedulerUnavailableError(message) from error


def _body(response: httpx.Response) -> shapes.Json:
    """Return the JSON object of an answer; a plain-text 404 has none."""
    if response.status_code == _NOT_FOUND and "json" not in response.headers.get(
        "content-type", ""
    ):
        return {}
    try:
        found = response.json()
    except ValueError as error:
        message = (
            f"slurmrestd answered {response.status_code} with something that is no JSON: "
            f"{response.text[:80]!r}. Is the base URL that of slurmrestd?"
        )
        raise UnreadableAnswerError(message) from error
    return shapes.mapping(found)
