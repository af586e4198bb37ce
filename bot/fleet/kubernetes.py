"""Where the ranks of a Kubernetes job run, from the labels that its controller puts on pods."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from bot.errors import PlacementError
from bot.fleet.nodes import MOST_NODES
from bot.fleet.placement import Known, Placed, Placement

_COMPLETION = "batch.kubernetes.io/job-completion-index"
_GLOBAL_JOB = "jobset.sigs.k8s.io/job-global-index"


@dataclass(frozen=True, kw_only=True, slots=True)
class Pod:
    """What is known of one pod of a job."""

    name: str
    #: node it is bound to, None while it waits
    node: str | None
    labels: Mapping[str, str] = field(default_factory=dict)
    annotations: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True, slots=True)
class Replicas:
    """How one kind of controller numbers its pods."""

    #: what it is called to a person
    name: str
    #: label with the pod's number among those of its role
    index: str
    #: label with the role: the master comes before the workers
    role: str


#: Controllers with roles. Sources: kubeflow/training-operator `pkg/controller.v1/pytorch` (RANK is
#: the replica index, plus one for workers beside a master) and volcano `pytorch` plugin.
REPLICAS = (
    Replicas(
        name="PyTorchJob",
        index="training.kubeflow.org/replica-index",
        role="training.kubeflow.org/replica-type",
    ),
    Replicas(name="PyTorchJob", index="pytorch-replica-index", role="pytorch-replica-type"),
    Replicas(name="PyTorchJob", index="replica-index", role="replica-type"),
    Replicas(name="Volcano job", index="volcano.sh/task-index", role="volcano.sh/task-spec"),
)
#: Labels of controllers whose pods have one number each, strongest first.
INDEXES = (
    ("indexed job", _COMPLETION),
    ("StatefulSet", "apps.kubernetes.io/pod-index"),
)
_ORDINAL = re.compile(r"-(\d+)$", re.ASCII)


@dataclass(frozen=True, kw_only=True, slots=True)
class _Numbered:
    pod: Pod
    #: sorts the pods into the order of their node ranks
    key: tuple[int, ...]
    how: str
    known: Known


def place_pods(
    pods: Sequence[Pod], ranks_per_pod: int | None, *, elastic: bool = False
) -> Placement:
    """Return where the ranks of a job run when each pod has `ranks_per_pod` consecutive ones.

    A pod's number is its controller's label (by the *launch*) or the number its name ends with (a
    *guess*). Pods that are gone leave a gap and shift nobody. `elastic` says that the pods meet in
    a c10d or etcd rendezvous, whose order is not the pods'. Ranks of pods without a node are left
    out. Raises PlacementError where two pods have one number, or nothing says how many ranks a pod
    has.
    """
    if not ranks_per_pod or ranks_per_pod < 1:
        raise PlacementError("nothing says how many ranks each pod has.")
    numbered = sorted(_numbered(pods), key=lambda one: one.key)
    for one, after in pairwise(numbered):
        if one.key == after.key:
            message = f"pods {one.pod.name} and {after.pod.name} have the same number."
            raise PlacementError(message)
    doubt = _doubt(numbered, elastic=elastic)
    one_job = len({one.key[0] for one in numbered}) == 1
    ranks: list[Placed] = []
    hosts: list[str] = []
    for position, one in enumerate(numbered):
        node_rank = one.key[1] if one_job else position
        if node_rank > MOST_NODES:
            raise PlacementError(f"pod {one.pod.name} has the number {node_rank}.")
        hosts += [""] * (node_rank - len(hosts)) + [one.pod.node or ""]
        if one.pod.node is None:
            continue
        known = Known.GUESS if doubt else one.known
        ranks += (
            Placed(
                rank=node_rank * ranks_per_pod + local,
                host=one.pod.node,
                known=known,
                node_rank=node_rank,
                local_rank=local,
                pod=one.pod.name,
                because=doubt or one.how,
            )
            for local in range(ranks_per_pod)
        )
    waiting = [one.pod.name for one in numbered if one.pod.node is None]
    notes = [doubt] if doubt else []
    if waiting:
        notes.append(f"no node yet for {len(waiting)} pods, such as {waiting[0]}")
    return Placement(ranks=tuple(ranks), hosts=tuple(hosts), notes=tuple(notes))


def names_of(pods: Sequence[Pod]) -> dict[str, str]:
    """Return pod name → node, for logs that name their pods."""
    return {pod.name.lower(): pod.node for pod in pods if pod.node}


def _numbered(pods: Sequence[Pod]) -> list[_Numbered]:
    with_master = any(_role(pod) == "master" for pod in pods)
    return [_number(pod, with_master=with_master) for pod in pods]


def _role(pod: Pod) -> str | None:
    found = (pod.labels.get(row.role) for row in REPLICAS if row.index in pod.labels)
    return next((role.lower() for role in found if role), None)


def _number(pod: Pod, *, with_master: bool) -> _Numbered:
    for row in REPLICAS:
        index = _whole(pod.labels.get(row.index))
        if index is not None:
            role = (pod.labels.get(row.role) or "").lower()
            after_master = with_master and role != "master"
            how = f"{row.name} replica index"
            return _Numbered(pod=pod, key=(0, index + after_master), how=how, known=Known.LAUNCH)
    told = {**pod.annotations, **pod.labels}
    for name, label in INDEXES:
        index = _whole(told.get(label))
        if index is not None:
            job = _whole(told.get(_GLOBAL_JOB)) or 0
            return _Numbered(pod=pod, key=(job, index), how=f"{name} index", known=Known.LAUNCH)
    ordinal = _ORDINAL.search(pod.name)
    if ordinal is None:
        message = f"pod {pod.name} has no index label, and its name does not end with a number."
        raise PlacementError(message)
    how = "the number at the end of the pod's name"
    return _Numbered(pod=pod, key=(0, int(ordinal[1])), how=how, known=Known.GUESS)


def _whole(text: str | None) -> int | None:
    return int(text) if text is not None and text.isascii() and text.isdigit() else None


def _doubt(numbered: Sequence[_Numbered], *, elastic: bool) -> str:
    """Say why the pods' numbers are not the ranks' order, or nothing where they are."""
    if elastic and len(numbered) > 1:
        return "an elastic rendezvous numbers the pods in an order of its own"
    if len({one.key[0] for one in numbered}) > 1:
        return "a set of several jobs: how its pods are numbered is up to its author"
    roles = {_role(one.pod) for one in numbered}
    if "worker" in roles and "master" not in roles:
        return "no master pod is in sight, so the first worker may be rank 0 or come after it"
    return ""
