"""Read the logs of a job's pods: a few at a time, searched as they come, in bounded memory."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from functools import cache

from bot.diagnosis.scan import Literals
from bot.diagnosis.signatures import literals
from bot.errors import PlacementError
from bot.fleet.placement import Known
from bot.schedulers.errors import RequestRefusedError
from bot.schedulers.kubernetes.calls import POD_LOG
from bot.schedulers.kubernetes.errors import NotThereError
from bot.schedulers.kubernetes.gathering import Gathering
from bot.schedulers.kubernetes.pods import rank_containers, statuses
from bot.schedulers.kubernetes.server import ApiServer
from bot.schedulers.kubernetes.shapes import Raw, name, namespace, part, text, uid, whole
from bot.schedulers.model import Job, Limits, LogFile, Reading, Stream
from bot.schedulers.placing import placement

#: Logs read at once: each is a connection to the server and one from there to a kubelet.
_AT_ONCE = 8


@dataclass(frozen=True, kw_only=True, slots=True)
class Wanted:
    """One log of one container."""

    namespace: str
    pod: str
    pod_uid: str
    container: str
    #: how often the container was started again before this log
    restart: int
    #: the log of the run before the one that is there now
    previous: bool = False

    @property
    def key(self) -> tuple[str, str, int]:
        """Return what tells it from every other log, also of a later pod of that name."""
        return self.pod_uid, self.container, self.restart


def wanted(pods: Sequence[Raw]) -> list[Wanted]:
    """Return the logs that the pods of a job have: of what runs or ran, and of the run before."""
    found: list[Wanted] = []
    for pod in pods:
        told = statuses(pod)
        for container in rank_containers(pod):
            called = text(container, "name")
            restart = max(whole(told.get(called, {}), "restartCount") or 0, 0)
            one = Wanted(
                namespace=namespace(pod),
                pod=name(pod),
                pod_uid=uid(pod),
                container=called,
                restart=restart,
            )
            if restart:
                found.append(replace(one, restart=restart - 1, previous=True))
            found.append(one)
    return found


def ended(pod: Raw) -> bool:
    """Tell whether a pod's containers have ended or are about to be ended."""
    if text(pod, "metadata", "deletionTimestamp"):
        return True
    told = statuses(pod).values()
    return bool(told) and all(part(one, "state", "terminated") for one in told)


def ranks_by_pod(job: Job) -> Mapping[str, tuple[int, ...]]:
    """Return pod → its ranks, where the launch leaves no other place for them."""
    try:
        placed = placement(job)
    except PlacementError:
        return {}
    found: dict[str, list[int]] = {}
    for one in placed.ranks:
        if one.pod and one.known is not Known.GUESS:
            found.setdefault(one.pod, []).append(one.rank)
    return {pod: tuple(ranks) for pod, ranks in found.items()}


async def read_all(
    server: ApiServer, logs: Sequence[Wanted], job: Job, limits: Limits
) -> list[LogFile]:
    """Read these logs; what cannot be read is in the answer with the reason."""
    ranks = ranks_by_pod(job)
    nodes = {pod.name: pod.node or "" for pod in job.pods}
    room = asyncio.Semaphore(_AT_ONCE)

    async def one(log: Wanted) -> list[LogFile]:
        async with room:
            return await _read(server, _empty(log, ranks, nodes), log, limits)

    read = await asyncio.gather(*(one(log) for log in logs))
    return [file for files in read for file in files]


def _empty(log: Wanted, ranks: Mapping[str, tuple[int, ...]], nodes: Mapping[str, str]) -> LogFile:
    own = ranks.get(log.pod, ())
    rank = f".rank{own[0]}" if len(own) == 1 else ""
    before = f".run{log.restart}" if log.previous else ""
    return LogFile(
        path=f"{log.namespace}/{log.pod}/{log.container}{rank}{before}.log",
        stream=Stream.POD,
        reading=Reading.MISSING,
        host=nodes.get(log.pod, ""),
        pod=log.pod,
        container=log.container,
        ranks=own,
    )


async def _read(server: ApiServer, empty: LogFile, log: Wanted, limits: Limits) -> list[LogFile]:
    try:
        file = await _searched(server, empty, log, limits, {})
        if file.size_bytes < limits.stream_bytes:
            return [file]
        last = await _searched(
            server, empty, log, limits, {"tailLines": str(limits.tail_lines)}, every_line=True
        )
    except (NotThereError, RequestRefusedError) as error:
        return [replace(empty, because=str(error))]
    # lines of the end have no numbers in the whole: nobody counted up to them
    shown = empty.path.removesuffix(".log")
    return [replace(file, cut=True), replace(last, path=f"{shown}.last-lines.log", cut=True)]


async def _searched(
    server: ApiServer,
    empty: LogFile,
    log: Wanted,
    limits: Limits,
    query: Mapping[str, str],
    *,
    every_line: bool = False,
) -> LogFile:
    kept = replace(limits, head_bytes=limits.file_bytes) if every_line else limits
    gathering = Gathering(literals=_literals(), limits=kept)
    async with aclosing(_bytes(server, log, limits, query)) as pieces:
        async for piece in pieces:
            gathering.feed(piece)
    found = gathering.done()
    return replace(
        empty,
        reading=Reading.READ,
        size_bytes=found.size_bytes,
        line_count=found.line_count,
        text=found.text,
        numbers=found.numbers,
        cut=found.cut,
    )


async def _bytes(
    server: ApiServer, log: Wanted, limits: Limits, query: Mapping[str, str]
) -> AsyncGenerator[bytes]:
    """Yield a log up to the limit, which the server keeps and we do, too."""
    asked = {
        "container": log.container,
        "limitBytes": str(limits.stream_bytes),
        **({"previous": "true"} if log.previous else {}),
        **query,
    }
    room = limits.stream_bytes
    stream = server.log(POD_LOG, namespace=log.namespace, name=log.pod, query=asked)
    async with asyncio.timeout(limits.timeout.total_seconds()), aclosing(stream) as pieces:
        async for piece in pieces:
            yield piece[:room]
            room -= len(piece)
            if room <= 0:
                return


@cache
def _literals() -> Literals:
    return Literals(literals())
