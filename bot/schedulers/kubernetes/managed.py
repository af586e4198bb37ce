"""Slurm that runs in pods: which pod and which machine a Slurm node is. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from bot.schedulers.errors import UnknownNodeError
from bot.schedulers.kubernetes.pods import host_name
from bot.schedulers.kubernetes.shapes import Raw, is_name, labels, listed, name, namespace, text

#: The Slurm node's name on the pods of a NodeSet (SlinkyProject/slurm-operator); before there was
#: one, a pod's host name is the Slurm node's.
_NODE_LABEL = "nodeset.slinky.slurm.net/pod-hostname"
_CONTAINER = "slurmd"


@dataclass(frozen=True, kw_only=True, slots=True)
class Seat:
    """Where a Slurm node runs."""

    slurm_node: str
    namespace: str
    pod: str
    #: node of Kubernetes, whose providerID and UUID say which VM it is
    node: str


def workers(pods: Iterable[Raw]) -> list[Raw]:
    """Return the pods that run slurmd."""
    return [
        pod
        for pod in pods
        if name(pod)
        and any(text(one, "name") == _CONTAINER for one in listed(pod, "spec", "containers"))
    ]


def seat_of(slurm_node: str, pods: Sequence[Raw], cluster: str) -> Seat:
    """Return where a Slurm node runs; raises UnknownNodeError for none, and for more than one."""
    own = [pod for pod in pods if slurm_node in _names(pod)]
    # a pod that is replaced may still be there
    staying = [pod for pod in own if not text(pod, "metadata", "deletionTimestamp")] or own
    if len(staying) != 1:
        named = ", ".join(name(pod) for pod in staying[:5]) or "none"
        raise UnknownNodeError(
            f"The Slurm node {slurm_node[:80]!a} should be one pod with slurmd in cluster "
            f"{cluster}, and is: {named}."
        )
    pod = staying[0]
    node = text(pod, "spec", "nodeName")
    if not is_name(node):
        raise UnknownNodeError(
            f"The Slurm node {slurm_node} is pod {name(pod)}, which has no node yet."
        )
    return Seat(slurm_node=slurm_node, namespace=namespace(pod), pod=name(pod), node=node)


def _names(pod: Raw) -> set[str]:
    told = labels(pod).get(_NODE_LABEL)
    return {told} if told else {host_name(pod)}
