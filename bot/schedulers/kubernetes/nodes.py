"""Read nodes: their state, and who cordoned them, reserved them or wants to reboot them. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from bot.schedulers.claims import OWNER
from bot.schedulers.kubernetes.pods import GPUS, gpus
from bot.schedulers.kubernetes.shapes import (
    Raw,
    annotated,
    labels,
    listed,
    name,
    one_line,
    owner,
    part,
    strings,
    text,
    value,
    when,
    words,
)
from bot.schedulers.model import Node, NodeFlag

#: Our note on a node that we cordoned: reason, time, state before, reasons that were there.
DRAIN = "nccl-dns/drain"
#: Under which name the API server records what we change.
MANAGER = "nccl-dns"

#: Labels whose value is the pool that a node is in.
POOLS = (
    "crusoe.ai/nodepool.id",
    "cloud.google.com/gke-nodepool",
    "eks.amazonaws.com/nodegroup",
    "kubernetes.azure.com/agentpool",
    "node.kubernetes.io/instance-group",
)
#: Annotations in which people and tools say why a node is cordoned: `…/node-cordon-reason` of
#: Slinky's slurm-operator, and everybody's own.
_REASON = re.compile(
    r"(?:.*/)?[a-z.-]*(?:cordon|drain|maintenance|remediation|repair|triage)[a-z.-]*reason",
    re.ASCII | re.IGNORECASE,
)
_LONGEST_REASON = 200


@dataclass(frozen=True, kw_only=True, slots=True)
class Mark:
    """A mark by which a tool says that it has plans for a node."""

    #: `taint`, `annotation` or `label`
    where: str
    key: str
    #: the plan holds unless the value is one of these
    unless: frozenset[str] = frozenset()
    flag: NodeFlag


_NO = frozenset({"", "false", "False"})
#: Sources: kubernetes/autoscaler deletetaint, kubernetes-sigs/karpenter apis/v1 taints.go,
#: kubereboot/kured cmd/kured, flatcar update-operator constants, NVIDIA gpu-operator upgrade.
MARKS = (
    Mark(where="taint", key="ToBeDeletedByClusterAutoscaler", flag=NodeFlag.MAINTENANCE),
    Mark(where="taint", key="karpenter.sh/disrupted", flag=NodeFlag.MAINTENANCE),
    Mark(where="taint", key="karpenter.sh/disruption", flag=NodeFlag.MAINTENANCE),
    Mark(where="taint", key="node.kubernetes.io/out-of-service", flag=NodeFlag.MAINTENANCE),
    Mark(where="taint", key="medik8s.io/drain", flag=NodeFlag.MAINTENANCE),
    Mark(where="taint", key="medik8s.io/remediation", flag=NodeFlag.MAINTENANCE),
    Mark(where="annotation", key="weave.works/kured-reboot-in-progress", flag=NodeFlag.REBOOT),
    Mark(
        where="annotation",
        key="flatcar-linux-update.v1.flatcar-linux.net/reboot-in-progress",
        unless=_NO,
        flag=NodeFlag.REBOOT,
    ),
    Mark(
        where="label",
        key="nvidia.com/gpu-driver-upgrade-state",
        unless=_NO | {"upgrade-done", "upgrade-required", "unknown"},
        flag=NodeFlag.MAINTENANCE,
    ),
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Drain:
    """Our note on a node."""

    reason: str
    at: datetime | None
    #: reasons of others that were there before
    beside: frozenset[str]


def note(reason: str, at: datetime, raw: Raw, was: str) -> str:
    """Return our note for a node that is about to be cordoned."""
    told = {"reason": reason, "at": at.isoformat(), "was": was, "beside": sorted(_reasons(raw))}
    return json.dumps(told)


def node_of(raw: Raw, pods: Sequence[Raw], cluster: str) -> Node:
    """Return a node; `pods` are those that are bound to it, of every namespace."""
    marks = [(mark, said) for mark in MARKS if (said := _says(raw, mark)) is not None]
    flags = {mark.flag for mark, _ in marks}
    state = _state(raw, pods)
    if value(raw, "spec", "unschedulable") is True:
        flags.add(NodeFlag.DRAIN)
    if state == "DOWN":
        flags.add(NodeFlag.NOT_RESPONDING)
    reason, by, at = _claim(raw) if NodeFlag.DRAIN in flags else ("", "", None)
    reserved = [said for mark, said in marks if mark.flag is NodeFlag.MAINTENANCE]
    if not reason and NodeFlag.REBOOT in flags:
        reason = next(said for mark, said in marks if mark.flag is NodeFlag.REBOOT)
    return Node(
        name=name(raw),
        cluster=cluster,
        state=state,
        flags=frozenset(flags),
        raw_state="+".join([state, *sorted(flag.name for flag in flags)]),
        reason=reason,
        reason_by=by,
        reason_at=at,
        reservation=reserved[0] if reserved else "",
        address=_address(raw, "InternalIP"),
        hostname=_address(raw, "Hostname"),
        partitions=tuple(one_line(found) for key in POOLS if (found := labels(raw).get(key))),
        provider_id=words(raw, "spec", "providerID"),
        system_uuid=words(raw, "status", "nodeInfo", "systemUUID"),
        boot_id=words(raw, "status", "nodeInfo", "bootID"),
    )


def _says(raw: Raw, mark: Mark) -> str | None:
    """Return a mark that is on a node as a person reads it; None where it is not there."""
    if mark.where == "taint":
        found = [taint for taint in listed(raw, "spec", "taints") if text(taint, "key") == mark.key]
        said = words(found[0], "value") if found else None
    else:
        source = annotated(raw) if mark.where == "annotation" else labels(raw)
        said = source.get(mark.key)
    if said is None or said in mark.unless:
        return None
    return one_line(f"{mark.key}={said}" if said else mark.key)


def _claim(raw: Raw) -> tuple[str, str, datetime | None]:
    """Return why a node is cordoned, by whom and since when."""
    holder, since = _holder(raw)
    foreign = _reasons(raw)
    ours = _ours(raw)
    if ours is not None and holder in {"", MANAGER} and set(foreign) <= ours.beside:
        return ours.reason, OWNER, ours.at
    if ours is not None:
        foreign = [one for one in foreign if one not in ours.beside] or foreign
    return (foreign[0] if foreign else ""), holder or "somebody", since


def _reasons(raw: Raw) -> list[str]:
    told = sorted(annotated(raw).items())
    found = [one_line(said)[:_LONGEST_REASON] for key, said in told if _REASON.fullmatch(key)]
    return [said for said in found if said]


def _ours(raw: Raw) -> Drain | None:
    try:
        told = json.loads(annotated(raw).get(DRAIN, ""))
    except (ValueError, RecursionError):
        return None
    reason = words(told, "reason")
    if not reason:
        return None
    return Drain(reason=reason, at=when(told, "at"), beside=frozenset(strings(told, "beside")))


def _holder(raw: Raw) -> tuple[str, datetime | None]:
    """Return who last set `unschedulable` and when, as the API server has recorded it."""
    entries = [
        entry
        for entry in listed(raw, "metadata", "managedFields")
        if "f:unschedulable" in part(entry, "fieldsV1", "f:spec")
    ]
    latest = max(entries, key=lambda entry: text(entry, "time"), default=None)
    if latest is None:
        return "", None
    return words(latest, "manager"), when(latest, "time")


def _state(raw: Raw, pods: Sequence[Raw]) -> str:
    ready = [one for one in listed(raw, "status", "conditions") if text(one, "type") == "Ready"]
    if not ready or text(ready[0], "status") != "True":
        return "DOWN"
    at_work = [pod for pod in pods if _works(pod)]
    has = sum(_count(value(raw, "status", "allocatable", one)) for one in GPUS)
    if not has:
        return "MIXED" if at_work else "IDLE"
    taken = sum(gpus(one) for pod in at_work for one in listed(pod, "spec", "containers"))
    return "IDLE" if not taken else "ALLOCATED" if taken >= has else "MIXED"


def _works(pod: Raw) -> bool:
    """Tell whether a pod is somebody's work: not over, and no part of the node itself."""
    ended = text(pod, "status", "phase") in {"Succeeded", "Failed"}
    return not ended and text(owner(pod), "kind") not in {"DaemonSet", "Node"}


def _count(told: object) -> int:
    said = str(told)
    return int(said) if said.isascii() and said.isdigit() and len(said) < 6 else 0  # noqa: PLR2004


def _address(raw: Raw, kind: str) -> str:
    found = (one for one in listed(raw, "status", "addresses") if text(one, "type") == kind)
    return next((words(one, "address") for one in found), "")


def by_node(pods: Iterable[Raw]) -> Mapping[str, list[Raw]]:
    """Return node name → the pods that are bound to it."""
    found: dict[str, list[Raw]] = {}
    for pod in pods:
        found.setdefault(text(pod, "spec", "nodeName"), []).append(pod)
    return found
