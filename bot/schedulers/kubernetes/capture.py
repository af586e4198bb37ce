"""Keep the logs of pods while they live: what ran in a pod is gone with it."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Set as AbstractSet
from contextlib import aclosing

from bot.schedulers.kubernetes import calls
from bot.schedulers.kubernetes.errors import ExpiredError
from bot.schedulers.kubernetes.logs import ended, read_all, wanted
from bot.schedulers.kubernetes.lookup import Found, Lookup
from bot.schedulers.kubernetes.pods import owned
from bot.schedulers.kubernetes.server import ApiServer
from bot.schedulers.kubernetes.shapes import Raw, name, text
from bot.schedulers.kubernetes.states import job_of
from bot.schedulers.model import Limits, LogFile, Reading

_Key = tuple[str, str, int]
#: Jobs whose logs are kept, and logs of each.
_MOST_JOBS = 32
_MOST_LOGS = 512
#: How long one watch lasts before it is made anew; the server may end it sooner.
_SECONDS = 300
_PAUSE = 1.0


class Kept:
    """Logs that were read, by job; the oldest job is forgotten first."""

    def __init__(self) -> None:
        self._jobs: OrderedDict[str, dict[_Key, LogFile]] = OrderedDict()

    def put(self, job: str, key: _Key, file: LogFile) -> None:
        """Keep a log in place of what was read of it before."""
        logs = self._jobs.setdefault(job, {})
        self._jobs.move_to_end(job)
        if key in logs or len(logs) < _MOST_LOGS:
            logs[key] = file
        while len(self._jobs) > _MOST_JOBS:
            self._jobs.popitem(last=False)

    def beside(self, job: str, keys: AbstractSet[_Key]) -> tuple[LogFile, ...]:
        """Return the kept logs of a job other than these."""
        return tuple(file for key, file in self._jobs.get(job, {}).items() if key not in keys)


async def followed(
    server: ApiServer, lookup: Lookup, found: Found, kept: Kept, limits: Limits
) -> None:
    """Keep the log of each container that ends, until the job is over or gone."""
    while True:
        for pod in found.pods:
            if ended(pod):
                await _keep(server, found, pod, kept, limits)
        if job_of(found.kind, found.raw, found.pods, "", inner=found.inner).has_ended:
            return
        if not await _watched(server, found, kept, limits):
            # a proxy may end every watch at once
            await asyncio.sleep(_PAUSE)
        found = await lookup.find(found.kind, found.namespace, name(found.raw))


async def _watched(server: ApiServer, found: Found, kept: Kept, limits: Limits) -> bool:
    """Watch the pods until one of them is over or gone; tell whether there was anything to see."""
    pods, version = await server.listed_at(
        calls.PODS, namespace=found.namespace, labels=found.selector
    )
    # it may have ended between the look at the job and this list
    done = [pod for pod in owned(pods, found.owners) if ended(pod)]
    if {name(pod) for pod in done} - {name(pod) for pod in found.pods if ended(pod)}:
        return True
    stream = server.watch(
        calls.PODS,
        namespace=found.namespace,
        labels=found.selector,
        version=version,
        seconds=_SECONDS,
    )
    try:
        async with aclosing(stream) as events:
            async for kind, pod in events:
                if kind == "BOOKMARK":
                    continue
                if owned([pod], found.owners) and ended(pod) and kind != "DELETED":
                    await _keep(server, found, pod, kept, limits)
                if _over(kind, pod) or not owned([pod], found.owners):
                    return True
    except ExpiredError:
        return False
    return False


def _over(kind: str, pod: Raw) -> bool:
    return kind == "DELETED" or text(pod, "status", "phase") in {"Succeeded", "Failed"}


async def _keep(server: ApiServer, found: Found, pod: Raw, kept: Kept, limits: Limits) -> None:
    job = job_of(found.kind, found.raw, (*found.pods, pod), "", inner=found.inner)
    for log in wanted([pod]):
        for file in await read_all(server, [log], job, limits):
            if file.reading is Reading.READ:
                kept.put(found.shown, log.key, file)
