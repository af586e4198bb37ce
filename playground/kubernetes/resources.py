"""The kinds that are served, and what `kubectl get` shows of each: rows of a table."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

Object = dict[str, Any]
Column = tuple[str, Callable[[Object], object]]


@dataclass(frozen=True, kw_only=True, slots=True)
class Kind:
    """One kind of object."""

    group: str = ""
    version: str = "v1"
    plural: str
    kind: str
    namespaced: bool = True
    short: tuple[str, ...] = ()
    #: whether a definition by somebody else made it; such kinds know no strategic merge
    custom: bool = False
    #: fields by which it can be selected, beside name and namespace
    fields: Mapping[str, tuple[str, ...]] | None = None
    columns: tuple[Column, ...] = ()

    @property
    def api_version(self) -> str:
        """Return `apiVersion` of its objects."""
        return f"{self.group}/{self.version}" if self.group else self.version

    @property
    def qualified(self) -> str:
        """Return it as error messages name it: `pods`, `jobs.batch`."""
        return f"{self.plural}.{self.group}" if self.group else self.plural

    @property
    def key(self) -> tuple[str, str]:
        """Return what tells it from the others."""
        return self.group, self.plural


def _ready(pod: Object) -> str:
    told = pod.get("status", {}).get("containerStatuses", [])
    return f"{sum(bool(one.get('ready')) for one in told)}/{len(pod['spec']['containers'])}"


def _pod_status(pod: Object) -> str:
    if pod["metadata"].get("deletionTimestamp"):
        return "Terminating"
    for one in pod.get("status", {}).get("containerStatuses", []):
        for state in one.get("state", {}).values():
            if state.get("reason"):
                return str(state["reason"])
    return str(pod.get("status", {}).get("phase", "Unknown"))


def _restarts(pod: Object) -> int:
    return sum(
        int(one.get("restartCount", 0))
        for one in pod.get("status", {}).get("containerStatuses", [])
    )


def _node_status(node: Object) -> str:
    ready = [one for one in node["status"]["conditions"] if one["type"] == "Ready"]
    said = "Ready" if ready and ready[0]["status"] == "True" else "NotReady"
    return f"{said},SchedulingDisabled" if node["spec"].get("unschedulable") else said


def _condition(raw: Object) -> str:
    holding = [
        one for one in raw.get("status", {}).get("conditions", []) if one["status"] == "True"
    ]
    return str(holding[-1]["type"]) if holding else ""


_STATE: tuple[Column, ...] = (("State", _condition),)

KINDS = (
    Kind(
        plural="pods", kind="Pod", short=("po",),
        fields={"spec.nodeName": ("spec", "nodeName"), "status.phase": ("status", "phase")},
        columns=(("Ready", _ready), ("Status", _pod_status), ("Restarts", _restarts)),
    ),
    Kind(
        plural="nodes", kind="Node", namespaced=False, short=("no",),
        fields={"spec.unschedulable": ("spec", "unschedulable")},
        columns=(("Status", _node_status),),
    ),
    Kind(plural="services", kind="Service", short=("svc",)),
    Kind(plural="namespaces", kind="Namespace", namespaced=False, short=("ns",)),
    Kind(group="discovery.k8s.io", plural="endpointslices", kind="EndpointSlice"),
    Kind(group="batch", plural="jobs", kind="Job", columns=_STATE),
    Kind(
        group="jobset.x-k8s.io", version="v1alpha2", plural="jobsets", kind="JobSet",
        custom=True, columns=_STATE,
    ),
    Kind(
        group="trainer.kubeflow.org", version="v1alpha1", plural="trainjobs", kind="TrainJob",
        custom=True, columns=_STATE,
    ),
    Kind(
        group="kubeflow.org", plural="pytorchjobs", kind="PyTorchJob", custom=True, columns=_STATE,
    ),
    Kind(
        group="batch.volcano.sh", version="v1alpha1", plural="jobs", kind="Job",
        short=("vcjob", "vj"), custom=True,
    ),
)  # fmt: skip
BY_KEY = {kind.key: kind for kind in KINDS}


def kind(plural: str, group: str = "") -> Kind:
    """Return a kind by its plural and group."""
    return BY_KEY[group, plural]
