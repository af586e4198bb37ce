"""What goes on in a cluster by itself: controllers, a scheduler, kubelets, and EndpointSlices."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from playground.kubernetes.podlogs import Logs
from playground.kubernetes.resources import Kind, Object, kind
from playground.kubernetes.store import Event, Store
from playground.kubernetes.workloads import (
    JOBS,
    JOBSETS,
    PODS,
    PYTORCHJOBS,
    SERVICES,
    TRAINJOBS,
    VCJOBS,
    children,
    job_pod,
    suspended,
)

NODES, SLICES = kind("nodes"), kind("endpointslices", "discovery.k8s.io")
RUNNERS = (JOBS, JOBSETS, TRAINJOBS, PYTORCHJOBS, VCJOBS)
#: Its name for a job that failed, and for one that is done.
_FAILED = {
    PYTORCHJOBS.key: ("Failed", "PyTorchJobFailed"),
    JOBS.key: ("Failed", "BackoffLimitExceeded"),
}
_UNSCHEDULABLE = "node.kubernetes.io/unschedulable"


@dataclass(kw_only=True)
class Controllers:
    """Act on changes of objects, at once where the real ones take a moment."""

    store: Store
    logs: Logs
    #: seconds for which a pod that is ended stays in Terminating
    grace: float = 0.05
    _later: list[tuple[asyncio.TimerHandle, Object]] = field(default_factory=list)

    def __post_init__(self) -> None:
        """Listen."""
        self.store.listeners.append(self._seen)

    def stop(self) -> None:
        """Do nothing more."""
        self.store.listeners.clear()
        for handle, _ in self._later:
            handle.cancel()

    def _seen(self, event: Event) -> None:
        if event.what == "DELETED":
            return
        one = self.store.objects[event.kind.key].get(_key(event.new))
        if one is None:
            return
        if event.kind is NODES:
            self._taint(one)
        elif event.kind in RUNNERS:
            self._reconcile(event.kind, one)

    def _taint(self, node: Object) -> None:
        taints = node["spec"].get("taints", [])
        has = any(one["key"] == _UNSCHEDULABLE for one in taints)
        wants = bool(node["spec"].get("unschedulable"))
        if has == wants:
            return

        def edit(new: Object) -> None:
            kept = [one for one in taints if one["key"] != _UNSCHEDULABLE]
            new["spec"]["taints"] = kept + [
                {"key": _UNSCHEDULABLE, "effect": "NoSchedule"} for _ in range(wants)
            ]

        self.store.change(NODES, node, edit, manager="kube-controller-manager")

    def _reconcile(self, of: Kind, raw: Object) -> None:
        held = suspended(of, raw)
        for child in (JOBSETS, JOBS):
            for one in self.owned(child, raw):
                self._hold(child, one, on=held)
        if held:
            for pod in self.owned(PODS, raw):
                self.end_softly(pod)
            if not _holds(raw, "Suspended"):
                self._condition(of, raw, "Suspended", "Suspended")
            return
        if _holds(raw, "Suspended"):
            self._condition(of, raw, "Suspended", "Resumed", status="False")
            return
        if any(_holds(raw, word) for word in ("Failed", "Complete", "Completed", "Succeeded")):
            return
        present = {
            one["metadata"]["name"]
            for made in (PODS, JOBS, JOBSETS, SERVICES)
            for one in self.owned(made, raw)
        }
        if present and (of is JOBS or self.owned(PODS, raw) or of in (JOBSETS, TRAINJOBS)):
            return
        for made in children(of, raw):
            if made.raw["metadata"]["name"] not in present or made.kind is PODS:
                self._make(made.kind, made.raw)
        self._serve()

    def _hold(self, of: Kind, one: Object, *, on: bool) -> None:
        if suspended(of, one) != on:
            self.store.change(
                of, one, lambda new: new["spec"].update(suspend=on), manager="controller"
            )

    def _make(self, of: Kind, raw: Object) -> None:
        made = self.store.create(of, raw, manager="controller")
        if of is PODS:
            self._bind(made)

    def owned(self, of: Kind, owner: Object) -> list[Object]:
        """Return the objects of a kind that an object's controller made."""
        uid = owner["metadata"]["uid"]
        return [
            one
            for one in self.store.of(of)
            if any(ref["uid"] == uid for ref in one["metadata"].get("ownerReferences", ()))
        ]

    def _bind(self, pod: Object) -> None:
        """Give a pod a node that it fits on, in turn, or say that there is none."""
        wanted = pod["spec"].get("nodeSelector", {})
        nodes = self.store.of(NODES)
        fits = [one for one in nodes if _fits(one, wanted)]
        if not fits:
            self._waits(pod, len(nodes))
            return
        siblings = [
            one
            for one in self.store.of(PODS)
            if one["metadata"].get("ownerReferences") == pod["metadata"].get("ownerReferences")
        ]
        node = fits[(len(siblings) - 1) % len(fits)]["metadata"]["name"]

        def edit(new: Object) -> None:
            new["spec"]["nodeName"] = node
            started = self.store.time()
            new["status"] = {
                "phase": "Running",
                "startTime": started,
                "podIP": f"10.244.0.{1 + self.store.version % 250}",
                "conditions": [
                    {"type": "PodScheduled", "status": "True"},
                    {"type": "Ready", "status": "True"},
                ],
                "containerStatuses": [
                    {
                        "name": one["name"],
                        "ready": True,
                        "restartCount": 0,
                        "state": {"running": {"startedAt": started}},
                        "lastState": {},
                    }
                    for one in new["spec"]["containers"]
                ],
            }

        self.store.change(PODS, pod, edit, manager="kubelet")
        self._serve()

    def _waits(self, pod: Object, count: int) -> None:
        message = (
            f"0/{count} nodes are available: {count} node(s) didn't match Pod's node "
            "affinity/selector."
        )
        told = {
            "type": "PodScheduled",
            "status": "False",
            "reason": "Unschedulable",
            "message": message,
        }
        self.store.change(
            PODS,
            pod,
            lambda new: new.update(status={"phase": "Pending", "conditions": [told]}),
            manager="kube-scheduler",
        )

    def end_softly(self, pod: Object) -> None:
        """Ask a pod to end; it is gone after the grace time."""
        if pod["metadata"].get("deletionTimestamp"):
            return
        marked = self.store.change(
            PODS,
            pod,
            lambda new: new["metadata"].update(deletionTimestamp=self.store.time()),
            manager="controller",
        )
        handle = asyncio.get_running_loop().call_later(self.grace, self._gone, marked)
        self._later.append((handle, marked))

    def let_go(self) -> None:
        """Let every pod in Terminating be gone now."""
        for handle, pod in self._later:
            handle.cancel()
            self._gone(pod)

    def _gone(self, pod: Object) -> None:
        if _key(pod) in self.store.objects[PODS.key]:
            self.store.delete(PODS, pod)
            self._serve()

    def end(
        self, pod: Object, code: int, *, reason: str = "", log: bytes = b"", job_fails: bool = True
    ) -> None:
        """Let the containers of a pod end, and the job with them where one failed."""
        uid = pod["metadata"]["uid"]
        for container in pod["spec"]["containers"]:
            self.logs.now[uid, container["name"]] = log
        over = {
            "exitCode": code,
            "reason": reason or ("Error" if code else "Completed"),
            "finishedAt": self.store.time(),
        }

        def edit(new: Object) -> None:
            new["status"]["phase"] = "Failed" if code else "Succeeded"
            for one in new["status"]["containerStatuses"]:
                one.update(ready=False, state={"terminated": over})

        self.store.change(PODS, pod, edit, manager="kubelet")
        self._serve()
        if code and job_fails:
            self.fail_owner(pod)

    def unready(self, pod: Object) -> None:
        """Let a pod run without being ready."""

        def edit(new: Object) -> None:
            for one in new["status"]["conditions"]:
                if one["type"] == "Ready":
                    one["status"] = "False"

        self.store.change(PODS, pod, edit, manager="kubelet")
        self._serve()

    def restart(self, pod: Object, log: bytes) -> None:
        """Let the kubelet start the containers of a pod again after they ended with this log."""
        uid = pod["metadata"]["uid"]
        over = {"exitCode": 1, "reason": "Error", "finishedAt": self.store.time()}
        for container in pod["spec"]["containers"]:
            self.logs.before[uid, container["name"]] = log
            self.logs.now[uid, container["name"]] = b""

        def edit(new: Object) -> None:
            for one in new["status"]["containerStatuses"]:
                one["restartCount"] += 1
                one["lastState"] = {"terminated": over}

        self.store.change(PODS, pod, edit, manager="kubelet")

    def replace(self, pod: Object) -> Object:
        """Let a Job make another pod for the index of one that failed, and return it."""
        owner = self._owner(pod)[1]
        told = pod["metadata"]["annotations"].get("batch.kubernetes.io/job-completion-index")
        made = job_pod(owner, None if told is None else int(told), owner["metadata"]["uid"])
        self._make(PODS, made.raw)
        return self.store.get(PODS, made.raw["metadata"]["namespace"], made.raw["metadata"]["name"])

    def fail_owner(self, pod: Object) -> None:
        """Let the object that a pod runs for fail, and whatever that belongs to."""
        of, raw = self._owner(pod)
        while True:
            self._fail(of, raw, pod["metadata"]["name"])
            if not raw["metadata"].get("ownerReferences"):
                return
            of, raw = self._owner(raw)

    def _fail(self, of: Kind, raw: Object, pod: str) -> None:
        if of is VCJOBS:
            told = {"phase": "Failed", "reason": "PodFailed", "message": f"{pod} failed",
                    "lastTransitionTime": self.store.time()}  # fmt: skip
            self.store.change(
                of, raw, lambda new: new.update(status={"state": told}), manager="vc-controller"
            )
            return
        word, reason = _FAILED.get(of.key, ("Failed", "FailedJobs"))
        self._condition(of, raw, word, reason, message=f"pod {pod} failed")

    def _owner(self, one: Object) -> tuple[Kind, Object]:
        reference = one["metadata"]["ownerReferences"][0]
        of = next(
            kind
            for kind in RUNNERS
            if (kind.api_version, kind.kind) == (reference["apiVersion"], reference["kind"])
        )
        return of, self.store.get(of, one["metadata"]["namespace"], reference["name"])

    def _condition(
        self,
        of: Kind,
        raw: Object,
        word: str,
        reason: str,
        *,
        status: str = "True",
        message: str = "",
    ) -> None:
        told = {
            "type": word,
            "status": status,
            "reason": reason,
            "message": message,
            "lastTransitionTime": self.store.time(),
        }

        def edit(new: Object) -> None:
            kept = new.setdefault("status", {}).setdefault("conditions", [])
            new["status"]["conditions"] = [one for one in kept if one["type"] != word] + [told]

        self.store.change(of, raw, edit, manager=f"{of.kind.lower()}-controller")

    def _serve(self) -> None:
        """Write an EndpointSlice for each Service: which of its pods are ready."""
        for service in self.store.of(SERVICES):
            pods = [one for one in self.store.of(PODS) if _selected(service, one)]
            self._slice(
                service,
                [_endpoint(service, one) for one in pods if "podIP" in one.get("status", {})],
            )

    def _slice(self, service: Object, endpoints: list[dict[str, Any]]) -> None:
        metadata = service["metadata"]
        name = f"{metadata['name']}-slice"
        raw: Object = {
            "metadata": {
                "name": name,
                "namespace": metadata["namespace"],
                "labels": {"kubernetes.io/service-name": metadata["name"]},
            },
            "addressType": "IPv4",
            "endpoints": endpoints,
        }
        old = self.store.objects.get(SLICES.key, {}).get((metadata["namespace"], name))
        if old is None:
            self.store.create(SLICES, raw, manager="endpointslice-controller")
            return
        edit: Callable[[Object], None] = lambda new: new.update(endpoints=endpoints)  # noqa: E731
        self.store.change(SLICES, old, edit, manager="endpointslice-controller")


def _key(one: Object) -> tuple[str, str]:
    return one["metadata"].get("namespace", ""), one["metadata"]["name"]


def _holds(raw: Object, word: str) -> bool:
    found = raw.get("status", {}).get("conditions", [])
    return any(one["type"] == word and one["status"] == "True" for one in found)


def _fits(node: Object, wanted: dict[str, str]) -> bool:
    labels = node["metadata"].get("labels", {})
    return not node["spec"].get("unschedulable") and all(
        labels.get(key) == said for key, said in wanted.items()
    )


def _selected(service: Object, pod: Object) -> bool:
    labels = pod["metadata"].get("labels", {})
    same = service["metadata"].get("namespace") == pod["metadata"].get("namespace")
    wanted = service["spec"].get("selector") or {}
    return same and bool(wanted) and all(labels.get(key) == said for key, said in wanted.items())


def _endpoint(service: Object, pod: Object) -> dict[str, Any]:
    running = pod["status"]["phase"] == "Running"
    ready = running and not pod["metadata"].get("deletionTimestamp") and _holds(pod, "Ready")
    named = pod["spec"].get("subdomain") == service["metadata"]["name"]
    return {
        "addresses": [pod["status"]["podIP"]],
        "conditions": {"ready": ready},
        "nodeName": pod["spec"].get("nodeName"),
        **({"hostname": pod["spec"].get("hostname")} if named else {}),
    }
