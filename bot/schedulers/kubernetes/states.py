"""Read one object that runs ranks, with its pods, as a job. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from bot.errors import PlacementError
from bot.fleet.kubernetes import Pod, place_pods
from bot.schedulers.kubernetes.kinds import KUEUE_QUEUE, PHASES, Kind
from bot.schedulers.kubernetes.pods import (
    Ended,
    asks_cluster_dns,
    first_failure,
    lost,
    newest,
    pod_of,
    restarts,
    waits_because,
    with_ranks,
)
from bot.schedulers.kubernetes.ranks import ranks_of
from bot.schedulers.kubernetes.shapes import (
    Raw,
    annotated,
    condition,
    flag,
    labels,
    listed,
    name,
    namespace,
    one_line,
    part,
    text,
    value,
    when,
    whole,
    words,
)
from bot.schedulers.model import FAILED_STATES, Job, JobState

#: What we write on a job: when it was cancelled, and how often it was put back.
CANCELLED = "nccl-dns/cancelled-at"
REQUEUED = "nccl-dns/requeued"

_SIGNAL = 128
#: Reasons of a failure, and of a container's end, that have a state of their own.
_BY_REASON = {"DeadlineExceeded": JobState.TIMEOUT, "OOMKilled": JobState.OUT_OF_MEMORY}


@dataclass(frozen=True, kw_only=True, slots=True)
class _State:
    state: JobState
    #: the object's own words
    raw: str
    reason: str = ""
    at: datetime | None = None


def suspended(kind: Kind, raw: Raw) -> bool:
    """Tell whether an object is held by its own switch."""
    return bool(kind.suspend) and flag(raw, *kind.suspend)


def job_of(
    kind: Kind, raw: Raw, pods: Sequence[Raw], cluster: str, *, inner: Raw | None = None
) -> Job:
    """Return an object of a kind and the pods that belong to it as a job.

    `inner` is the JobSet that a TrainJob made.
    """
    ranked = newest(with_ranks(pods))
    placed = tuple(pod_of(pod) for pod in ranked)
    told = ranks_of(raw, ranked)
    failure = first_failure(with_ranks(pods))
    state = _refined(_state(kind, raw, ranked), failure, pods)
    count = _expected(inner or raw) or len(placed) or None
    code = failure.exit_code if failure else None
    return Job(
        id=f"{namespace(raw)}/{kind.word}/{name(raw)}",
        cluster=cluster,
        state=state.state,
        raw_state=state.raw,
        reason=state.reason,
        name=name(raw),
        partition=labels(raw).get(KUEUE_QUEUE) or words(raw, "spec", "queue"),
        nodes=_nodes(placed, told.per_pod),
        ntasks=count * told.per_pod if count and told.per_pod else None,
        ntasks_per_node=told.per_pod if _one_each(placed) else None,
        batch=True,
        exit_code=None if code is None or code > _SIGNAL else code,
        exit_signal=code - _SIGNAL if code is not None and code > _SIGNAL else None,
        submitted_at=when(raw, "metadata", "creationTimestamp"),
        started_at=_started(raw, ranked),
        ended_at=state.at if state.state in FAILED_STATES | {_DONE, _CANCELLED} else None,
        restarts=_restarts(inner or raw, raw, ranked),
        pods=placed,
        ranks_per_pod=told.per_pod,
        elastic=told.elastic,
        ranks_doubt=told.doubt,
        notes=_notes(ranked),
    )


_DONE, _CANCELLED = JobState.COMPLETED, JobState.CANCELLED


def _state(kind: Kind, raw: Raw, pods: Sequence[Raw]) -> _State:
    if ended := _ended(kind, raw):
        return ended
    if suspended(kind, raw):
        return _held(raw)
    if text(raw, "metadata", "deletionTimestamp"):
        return _State(state=JobState.COMPLETING, raw="Terminating", reason="it is being deleted")
    return _by_pods(pods)


def _by_pods(pods: Sequence[Raw]) -> _State:
    phases = [text(pod, "status", "phase") for pod in pods]
    if not pods:
        return _State(state=JobState.PENDING, raw="Pending", reason="it has no pods")
    if "Running" in phases or any(phase in {"Failed", "Succeeded"} for phase in phases):
        return _State(state=JobState.RUNNING, raw="Running")
    bound = any(text(pod, "spec", "nodeName") for pod in pods)
    state = JobState.CONFIGURING if bound else JobState.PENDING
    return _State(state=state, raw="Pending", reason=waits_because(pods))


def _ended(kind: Kind, raw: Raw) -> _State | None:
    phase = text(raw, "status", "state", "phase")
    if phase in PHASES and PHASES[phase] not in {JobState.PENDING, JobState.RUNNING}:
        told = part(raw, "status", "state")
        return _State(
            state=PHASES[phase],
            raw=phase,
            reason=_why(told),
            at=when(told, "lastTransitionTime"),
        )
    for word, state in kind.conditions.items():
        told = condition(raw, word)
        if told and state is not JobState.RUNNING:
            at = when(raw, "status", "completionTime") or when(told, "lastTransitionTime")
            return _State(state=state, raw=word, reason=_why(told), at=at)
    return None


def _why(told: Raw) -> str:
    reason, message = words(told, "reason"), words(told, "message")
    return one_line(f"{reason}: {message}" if reason and message else reason or message)


def _refined(state: _State, failure: Ended | None, pods: Sequence[Raw]) -> _State:
    """Say more of a failure: the first pod that ended, no memory, a deadline, a lost node."""
    if state.state is not JobState.FAILED:
        return state
    known = _BY_REASON.get(state.reason.partition(":")[0])
    if known is None and failure is not None:
        known = _BY_REASON.get(failure.reason)
    if known is None and failure is None and any(lost(pod) for pod in pods):
        known = JobState.NODE_FAIL
    said = "; ".join(part for part in (state.reason, failure.sentence if failure else "") if part)
    return replace(state, state=known or state.state, reason=said)


def _held(raw: Raw) -> _State:
    """Return the state of a suspended object: cancelled where we did that, else it waits."""
    if at := annotated(raw).get(CANCELLED):
        asked = when({"at": at}, "at")
        return _State(state=_CANCELLED, raw="Suspended", reason="by nccl-dns", at=asked)
    queue = labels(raw).get(KUEUE_QUEUE)
    why = f"it waits in the Kueue queue {one_line(queue)}" if queue else "suspended"
    return _State(state=JobState.PENDING, raw="Suspended", reason=why)


def _expected(raw: Raw) -> int | None:
    """Return how many pods with ranks an object asks for; None where it does not say."""
    roles = part(raw, "spec", "pytorchReplicaSpecs")
    if roles:
        return sum(_count(role, "replicas") for role in roles.values())
    if tasks := listed(raw, "spec", "tasks"):
        return sum(_count(task, "replicas") for task in tasks)
    if jobs := listed(raw, "spec", "replicatedJobs"):
        trainers = [job for job in jobs if _is_trainer(job)]
        return sum(
            _count(job, "replicas") * _count(job, "template", "spec", "parallelism")
            for job in trainers
        )
    return whole(raw, "spec", "completions") or whole(raw, "spec", "parallelism")


def _is_trainer(job: Raw) -> bool:
    step = "trainer.kubeflow.org/trainjob-ancestor-step"
    found = labels(value(job, "template")).get(step, "trainer")
    return found == "trainer"


def _count(raw: object, *path: str) -> int:
    found = whole(raw, *path)
    return 1 if found is None else max(found, 0)


def _nodes(pods: Sequence[Pod], ranks_per_pod: int | None) -> tuple[str, ...]:
    """Return the nodes in the order of the pods' numbers, each once."""
    try:
        hosts: Sequence[str] = place_pods(pods, ranks_per_pod or 1).hosts
    except PlacementError:
        hosts = [pod.node or "" for pod in pods]
    return tuple(dict.fromkeys(host for host in hosts if host))


def _one_each(pods: Sequence[Pod]) -> bool:
    nodes = [pod.node for pod in pods]
    return bool(nodes) and None not in nodes and len(set(nodes)) == len(nodes)


def _started(raw: Raw, pods: Sequence[Raw]) -> datetime | None:
    if told := when(raw, "status", "startTime"):
        return told
    return min(
        (at for pod in pods if (at := when(pod, "status", "startTime")) is not None), default=None
    )


def _restarts(counted: Raw, raw: Raw, pods: Sequence[Raw]) -> int:
    ours = annotated(raw).get(REQUEUED, "")
    again = int(ours) if ours.isascii() and ours.isdigit() and len(ours) < 4 else 0  # noqa: PLR2004
    told = (whole(counted, "status", "restarts"), whole(raw, "status", "retryCount"))
    own = max((count for count in told if count is not None), default=0)
    return again + max([own, *(restarts(pod) for pod in pods)])


def _notes(pods: Sequence[Raw]) -> tuple[str, ...]:
    elsewhere = [pod for pod in pods if not asks_cluster_dns(pod)]
    if not elsewhere:
        return ()
    policies = sorted({words(pod, "spec", "dnsPolicy") or "ClusterFirst" for pod in elsewhere})
    network = ", host network" if flag(elsewhere[0], "spec", "hostNetwork") else ""
    said = (
        f"{len(elsewhere)} of {len(pods)} pods, such as {name(elsewhere[0])}, do not ask the "
        f"cluster's DNS (dnsPolicy {', '.join(policies)}{network}): "
        "names of Services and pods do not resolve there."
    )
    return (said,)
