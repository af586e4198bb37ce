"""What is changed in a cluster: a node's cordon, and the switch that suspends a job."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from datetime import datetime, timedelta

from bot.schedulers.claims import refusal_to_drain, refusal_to_resume
from bot.schedulers.errors import (
    NeedsWayError,
    NodeHeldError,
    NotOursError,
    RequestRefusedError,
    SchedulerUnavailableError,
)
from bot.schedulers.kubernetes import calls
from bot.schedulers.kubernetes.errors import ConflictError
from bot.schedulers.kubernetes.kinds import KUEUE_QUEUE
from bot.schedulers.kubernetes.lookup import Found
from bot.schedulers.kubernetes.nodes import DRAIN, MANAGER, node_of, note
from bot.schedulers.kubernetes.server import ApiServer
from bot.schedulers.kubernetes.shapes import Raw, annotated, labels, one_line, part, text
from bot.schedulers.kubernetes.states import CANCELLED, REQUEUED, job_of, suspended
from bot.schedulers.model import Job, JobState, Node

_SECONDS_BETWEEN = 0.5
#: Kubelets write to their nodes now and then; who reads again sees whether it was only that.
_TRIES = 4


async def cordon(act: ApiServer, look: ApiServer, node: Node, reason: str, at: datetime) -> None:
    """Cordon a node with our note on it, unless somebody has a claim on it by now."""

    def change(raw: Raw) -> Raw:
        # cordons and marks do not hang on what runs there
        if refusal := refusal_to_drain(node_of(raw, (), node.cluster)):
            raise NodeHeldError(f"{refusal} It was left alone; ask whoever set that.")
        return _cordoned(note(reason, at, raw, node.raw_state), on=True)

    await _change_node(act, look, node.name, change)


async def uncordon(act: ApiServer, look: ApiServer, node: Node) -> None:
    """Take our cordon and our note away, unless somebody has taken the node over since."""

    def change(raw: Raw) -> Raw:
        if refusal := refusal_to_resume(node_of(raw, (), node.cluster), node.reason):
            raise NotOursError(f"{refusal} It was left as it is.")
        return _cordoned(None, on=None)

    await _change_node(act, look, node.name, change)


def _cordoned(told: str | None, *, on: bool | None) -> Raw:
    return {"metadata": {"annotations": {DRAIN: told}}, "spec": {"unschedulable": on}}


async def _change_node(
    act: ApiServer, look: ApiServer, called: str, change: Callable[[Raw], Raw]
) -> None:
    """Change a node that nobody else has changed since it was read and judged."""
    for left in reversed(range(_TRIES)):
        raw = await look.get(calls.NODES, name=called)
        body = change(raw)
        # with the version in it, the server refuses where the node is another one by now
        version = text(raw, "metadata", "resourceVersion")
        metadata = {**part(body, "metadata"), "resourceVersion": version}
        try:
            await act.patch(
                calls.NODES, name=called, body={**body, "metadata": metadata}, manager=MANAGER
            )
        except ConflictError as error:
            if not left:
                message = f"Node {called} was left as it is: it changes all the time ({error})."
                raise NodeHeldError(message) from error
        else:
            return


async def hold(act: ApiServer, cluster: str, found: Found) -> None:
    """Suspend a job that waits."""
    job = _switchable(found, cluster, "held")
    if job.state is not JobState.PENDING:
        raise RequestRefusedError(
            f"Job {job.label} is {job.raw_state}; it cannot be held, only cancelled or requeued."
        )
    if not suspended(found.kind, found.raw):
        await _switch(act, found, on=True)


async def cancel(act: ApiServer, cluster: str, found: Found, at: datetime) -> None:
    """Suspend a job and note that it is for good."""
    job = _switchable(found, cluster, "cancelled")
    if not job.has_ended:
        await _switch(act, found, on=True, told={CANCELLED: at.isoformat()})


async def requeue(
    act: ApiServer,
    cluster: str,
    found: Found,
    gone: Callable[[], Awaitable[bool]],
    settling: timedelta,
) -> None:
    """Suspend a job, wait until its pods are gone, and let it go on; the restart is counted."""
    job = _switchable(found, cluster, "requeued")
    if job.has_ended and job.state is not JobState.CANCELLED:
        raise NeedsWayError(
            f"requeue of {job.label} was not done: a {found.kind.shown} that is {job.raw_state} "
            "never starts again. Make it anew from its manifest, with kubectl replace --force."
        )
    if not suspended(found.kind, found.raw):
        await _switch(act, found, on=True)
    try:
        async with asyncio.timeout(settling.total_seconds()):
            while not await gone():  # noqa: ASYNC110 - it happens elsewhere
                await asyncio.sleep(_SECONDS_BETWEEN)
    except TimeoutError:
        raise SchedulerUnavailableError(
            f"Job {job.label} is suspended, but its pods are not gone after {settling}: it was not "
            "started again. Look for a pod that hangs in Terminating, then requeue it once more."
        ) from None
    count = annotated(found.raw).get(REQUEUED, "0")
    again = int(count) + 1 if count.isascii() and count.isdigit() else 1
    await _switch(act, found, on=False, told={CANCELLED: None, REQUEUED: str(again)})


def _switchable(found: Found, cluster: str, done: str) -> Job:
    """Return the job where its switch is ours to use; raises NeedsWayError."""
    if not found.kind.suspend:
        raise NeedsWayError(
            f"{found.shown} was not {done}: a {found.kind.shown} has no switch for it; "
            f"{found.kind.otherwise}."
        )
    if queue := labels(found.raw).get(KUEUE_QUEUE):
        raise NeedsWayError(
            f"{found.shown} was not {done}: the Kueue queue {one_line(queue)} starts and stops it, "
            "and would undo that. Stop its Workload, or the queue."
        )
    return job_of(found.kind, found.raw, found.pods, cluster, inner=found.inner)


async def _switch(
    act: ApiServer, found: Found, *, on: bool, told: Mapping[str, str | None] | None = None
) -> None:
    body: dict[str, object] = {}
    inner = body
    for key in found.kind.suspend[:-1]:
        inner = inner.setdefault(key, {})  # type: ignore[assignment]
    inner[found.kind.suspend[-1]] = on
    if told:
        body["metadata"] = {"annotations": dict(told)}
    await act.patch(
        found.kind.resource,
        namespace=found.namespace,
        name=found.shown.rsplit("/", 1)[-1],
        body=body,
        manager=MANAGER,
    )
