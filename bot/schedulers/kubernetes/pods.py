"""Read pods: where each runs, which of several has an index now, and how it ended. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from bot.fleet.kubernetes import INDEXES, REPLICAS, Pod
from bot.schedulers.kubernetes.shapes import (
    Raw,
    annotated,
    condition,
    flag,
    is_name,
    labels,
    listed,
    name,
    one_line,
    owner,
    part,
    table,
    text,
    uid,
    value,
    when,
    whole,
    words,
)

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_JOB_INDEX = "jobset.sigs.k8s.io/job-global-index"
#: Which step of a TrainJob a pod does; `trainer` runs the ranks.
_STEP = "trainer.kubeflow.org/trainjob-ancestor-step"
_DEFAULT_CONTAINER = "kubectl.kubernetes.io/default-container"
#: Resources that are one accelerator each.
GPUS = ("nvidia.com/gpu", "amd.com/gpu")
#: Names that the controllers demand of the container with the ranks.
_RANK_CONTAINERS = frozenset({"pytorch", "node"})


@dataclass(frozen=True, kw_only=True, slots=True)
class Ended:
    """How a container of a pod ended."""

    pod: str
    container: str
    exit_code: int
    #: the API's word: `Error`, `OOMKilled`, `Completed`
    reason: str
    at: datetime

    @property
    def sentence(self) -> str:
        """Say it to a person."""
        why = f" ({self.reason})" if self.reason and self.reason != "Error" else ""
        return f"pod {self.pod} was the first to end, with exit code {self.exit_code}{why}"


def pod_of(raw: Raw) -> Pod:
    """Return a pod as placement takes it."""
    node = text(raw, "spec", "nodeName")
    return Pod(
        name=name(raw),
        node=node if is_name(node) else None,
        labels=labels(raw),
        annotations=annotated(raw),
    )


def owned(pods: Iterable[Raw], owners: frozenset[str]) -> list[Raw]:
    """Return the pods that belong to one of these uids: anybody can put any label on a pod."""
    return [pod for pod in pods if name(pod) and text(owner(pod), "uid") in owners]


def with_ranks(pods: Iterable[Raw]) -> list[Raw]:
    """Return the pods that run ranks: those of a TrainJob's other steps do not."""
    return [pod for pod in pods if labels(pod).get(_STEP, "trainer") == "trainer"]


def newest(pods: Iterable[Raw]) -> list[Raw]:
    """Return the pod that has each index now: a Job makes another one for a pod that failed."""
    found: dict[tuple[str, ...], Raw] = {}
    for pod in sorted(pods, key=_age):
        found[_index(pod)] = pod
    return sorted(found.values(), key=name)


def _age(pod: Raw) -> tuple[datetime, bool, str]:
    """Return what sorts pods; of those made in one second, one that is over was first."""
    ended = text(pod, "status", "phase") in {"Succeeded", "Failed"}
    staying = not ended and not text(pod, "metadata", "deletionTimestamp")
    return when(pod, "metadata", "creationTimestamp") or _EPOCH, staying, name(pod)


def _index(pod: Raw) -> tuple[str, ...]:
    told = {**annotated(pod), **labels(pod)}
    for row in REPLICAS:
        if row.index in told:
            return row.index, told.get(row.role, "").lower(), told[row.index]
    for _, label in INDEXES:
        if label in told:
            return label, told.get(_JOB_INDEX, ""), told[label]
    return name(pod), uid(pod)


def rank_containers(pod: Raw) -> list[Raw]:
    """Return the containers that run ranks, without sidecars where that can be told."""
    found = [one for one in listed(pod, "spec", "containers") if is_name(text(one, "name"))]
    if len(found) < 2:  # noqa: PLR2004 - nothing to choose from
        return found
    wanted = annotated(pod).get(_DEFAULT_CONTAINER, "")
    choices = (
        [one for one in found if text(one, "name") in _RANK_CONTAINERS],
        [one for one in found if gpus(one)],
        [one for one in found if text(one, "name") == wanted],
    )
    return next((choice for choice in choices if choice), found)


def gpus(container: Raw) -> int:
    """Return how many accelerators a container has."""
    limits = part(container, "resources", "limits")
    return sum(_quantity(value(limits, one)) for one in GPUS)


def _quantity(told: object) -> int:
    digits = str(told)
    return int(digits) if digits.isascii() and digits.isdigit() and len(digits) < 6 else 0  # noqa: PLR2004


def statuses(pod: Raw) -> dict[str, Raw]:
    """Return container name → its status."""
    return {text(one, "name"): one for one in listed(pod, "status", "containerStatuses")}


def restarts(pod: Raw) -> int:
    """Return how often any container of a pod was started again."""
    return max((whole(one, "restartCount") or 0 for one in statuses(pod).values()), default=0)


def first_failure(pods: Iterable[Raw]) -> Ended | None:
    """Return the container with ranks that failed before all others; None where none did."""
    failed = [one for pod in pods for one in _ends(pod) if one.exit_code]
    return min(failed, key=lambda one: one.at, default=None)


def _ends(pod: Raw) -> list[Ended]:
    told = statuses(pod)
    found = []
    for container in rank_containers(pod):
        status = told.get(text(container, "name"), {})
        for state in ("state", "lastState"):
            end = part(status, state, "terminated")
            code, at = whole(end, "exitCode"), when(end, "finishedAt")
            if code is not None and at is not None:
                found.append(
                    Ended(
                        pod=name(pod),
                        container=text(container, "name"),
                        exit_code=code,
                        reason=words(end, "reason"),
                        at=at,
                    )
                )
    return found


def waits_because(pods: Sequence[Raw]) -> str:
    """Say why pods do not run: what the scheduler or the kubelet says of the first that waits."""
    for pod in pods:
        for one in listed(pod, "status", "conditions"):
            if text(one, "type") == "PodScheduled" and text(one, "status") == "False":
                return words(one, "message") or words(one, "reason")
        for status in statuses(pod).values():
            if why := words(status, "state", "waiting", "reason"):
                more = words(status, "state", "waiting", "message")
                return one_line(f"{why}: {more}" if more else why)
    return ""


def asks_cluster_dns(pod: Raw) -> bool:
    """Tell whether a pod asks the cluster's DNS for names.

    `ClusterFirst` means the node's resolver where the pod has the node's network
    (pkg/kubelet/network/dns/dns.go of kubernetes).
    """
    policy = text(pod, "spec", "dnsPolicy") or "ClusterFirst"
    if policy == "ClusterFirst":
        return not flag(pod, "spec", "hostNetwork")
    return policy == "ClusterFirstWithHostNet"


def host_name(pod: Raw) -> str:
    """Return the name by which a pod of a headless Service is known there."""
    return text(pod, "spec", "hostname") or name(pod)


def lost(pod: Raw) -> bool:
    """Tell whether a pod ended because its node went away."""
    reasons = {text(pod, "status", "reason"), text(condition(pod, "DisruptionTarget"), "reason")}
    return bool(reasons & {"NodeLost", "NodeShutdown", "DeletionByTaintManager"})


def environment(container: Raw) -> dict[str, str]:
    """Return the variables that a container is given as plain text."""
    rows = [table(one) for one in listed(container, "env")]
    return {row["name"]: row["value"] for row in rows if {"name", "value"} <= row.keys()}
