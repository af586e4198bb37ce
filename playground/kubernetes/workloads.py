"""What the controllers of each kind make of an object: pods, Jobs, a JobSet, Services. Pure."""

from __future__ import annotations

import copy
import random
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from playground.kubernetes.resources import Kind, Object, kind

PODS, SERVICES = kind("pods"), kind("services")
JOBS, JOBSETS = kind("jobs", "batch"), kind("jobsets", "jobset.x-k8s.io")
TRAINJOBS = kind("trainjobs", "trainer.kubeflow.org")
PYTORCHJOBS = kind("pytorchjobs", "kubeflow.org")
VCJOBS = kind("jobs", "batch.volcano.sh")

_KUBEFLOW = "training.kubeflow.org/"
_JOBSET = "jobset.sigs.k8s.io/"
_BATCH = "batch.kubernetes.io/"
_STEP = "trainer.kubeflow.org/trainjob-ancestor-step"
_PORT = 29500


@dataclass(frozen=True, kw_only=True, slots=True)
class Child:
    """An object that a controller makes."""

    kind: Kind
    raw: Object


def suspended(of: Kind, raw: Object) -> bool:
    """Tell whether an object's own switch holds it."""
    inside = raw["spec"].get("runPolicy", {}) if of is PYTORCHJOBS else raw["spec"]
    return of is not VCJOBS and bool(inside.get("suspend"))


def children(of: Kind, raw: Object) -> list[Child]:
    """Return what the controller of an object makes of it."""
    makers = {
        PYTORCHJOBS.key: _pytorch,
        JOBS.key: _job,
        JOBSETS.key: _jobset,
        TRAINJOBS.key: _trainjob,
        VCJOBS.key: _volcano,
    }
    return list(makers[of.key](raw))


def _child(owner_kind: Kind, owner: Object, name: str, **metadata: Any) -> Object:  # noqa: ANN401
    return {
        "metadata": {
            "name": name,
            "namespace": owner["metadata"]["namespace"],
            "ownerReferences": [
                {
                    "apiVersion": owner_kind.api_version,
                    "kind": owner_kind.kind,
                    "name": owner["metadata"]["name"],
                    "uid": owner["metadata"]["uid"],
                    "controller": True,
                    "blockOwnerDeletion": True,
                }
            ],
            **metadata,
        },
    }


def _pod(
    owner_kind: Kind,
    owner: Object,
    name: str,
    template: Object,
    *,
    labels: dict[str, str],
    annotations: dict[str, str] | None = None,
    env: dict[str, str] | None = None,
    **spec: object,
) -> Child:
    own = template.get("metadata", {})
    raw = _child(
        owner_kind,
        owner,
        name,
        labels={**own.get("labels", {}), **labels},
        annotations={**own.get("annotations", {}), **(annotations or {})},
    )
    raw["spec"] = {"dnsPolicy": "ClusterFirst", "restartPolicy": "Never"}
    raw["spec"] |= copy.deepcopy(template["spec"]) | spec
    for container in raw["spec"]["containers"] if env else ():
        container.setdefault("env", [])
        container["env"] += [{"name": key, "value": said} for key, said in (env or {}).items()]
    return Child(kind=PODS, raw=raw)


def _service(owner_kind: Kind, owner: Object, name: str, selector: dict[str, str]) -> Child:
    raw = _child(owner_kind, owner, name, labels=dict(selector))
    raw["spec"] = {"clusterIP": "None", "selector": selector, "type": "ClusterIP"}
    return Child(kind=SERVICES, raw=raw)


def _pytorch(raw: Object) -> Iterator[Child]:
    name, spec = raw["metadata"]["name"], raw["spec"]
    roles = {role: spec["pytorchReplicaSpecs"].get(role) for role in ("Master", "Worker")}
    counts = {role: told.get("replicas", 1) if told else 0 for role, told in roles.items()}
    world = sum(counts.values())
    each = str(spec.get("nprocPerNode", "auto"))
    for role, told in roles.items():
        for index in range(counts[role]):
            called = f"{name}-{role.lower()}-{index}"
            rank = index + (counts["Master"] if role == "Worker" else 0)
            labels = {
                f"{_KUBEFLOW}job-name": name,
                f"{_KUBEFLOW}operator-name": "pytorchjob-controller",
                f"{_KUBEFLOW}replica-index": str(index),
                f"{_KUBEFLOW}replica-type": role.lower(),
            }
            env = {
                "MASTER_ADDR": f"{name}-master-0",
                "MASTER_PORT": str(_PORT),
                "WORLD_SIZE": str(world),
                "RANK": str(rank),
                "PET_NPROC_PER_NODE": each,
                "PET_NNODES": str(world),
                "PET_NODE_RANK": str(rank),
            }
            if "elasticPolicy" in spec:
                env |= {"PET_RDZV_BACKEND": "c10d", "PET_RDZV_ENDPOINT": f"{name}-worker-0:{_PORT}"}
            yield _pod(PYTORCHJOBS, raw, called, told["template"], labels=labels, env=env)
            yield _service(PYTORCHJOBS, raw, called, labels)


def _job(raw: Object) -> Iterator[Child]:
    metadata, spec = raw["metadata"], raw["spec"]
    indexed = spec.get("completionMode") == "Indexed"
    for index in range(spec.get("parallelism", 1)):
        yield job_pod(raw, index if indexed else None, metadata["uid"])


def job_pod(raw: Object, index: int | None, uid: str) -> Child:
    """Return a pod of a Job, of an index where it is an indexed one."""
    name, spec = raw["metadata"]["name"], raw["spec"]
    labels = {
        "job-name": name,
        "controller-uid": uid,
        f"{_BATCH}job-name": name,
        f"{_BATCH}controller-uid": uid,
    }
    told: dict[str, str] = {}
    more: dict[str, Any] = {}
    if index is not None:
        told = {f"{_BATCH}job-completion-index": str(index)}
        more = {"hostname": f"{name}-{index}"}
    ending = "".join(random.choices("bcdfghjklmnpqrstvwxz2456789", k=5))  # noqa: S311
    called = f"{name}-{index}-{ending}" if index is not None else f"{name}-{ending}"
    template = spec["template"]
    return _pod(JOBS, raw, called, template, labels={**labels, **told}, annotations=told, **more)


def _jobset(raw: Object) -> Iterator[Child]:
    metadata, total = raw["metadata"], 0
    name = metadata["name"]
    yield _service(JOBSETS, raw, name, {f"{_JOBSET}jobset-name": name})
    for replicated in raw["spec"]["replicatedJobs"]:
        for index in range(replicated.get("replicas", 1)):
            labels = {
                f"{_JOBSET}jobset-name": name,
                f"{_JOBSET}jobset-uid": metadata["uid"],
                f"{_JOBSET}replicatedjob-name": replicated["name"],
                f"{_JOBSET}job-index": str(index),
                f"{_JOBSET}job-global-index": str(total),
                f"{_JOBSET}restart-attempt": "0",
                **replicated["template"].get("metadata", {}).get("labels", {}),
            }
            total += 1
            job = _child(JOBSETS, raw, f"{name}-{replicated['name']}-{index}", labels=labels)
            job["spec"] = copy.deepcopy(replicated["template"]["spec"])
            job["spec"].update(completionMode="Indexed", suspend=suspended(JOBSETS, raw))
            pod = job["spec"]["template"]
            pod.setdefault("metadata", {}).setdefault("labels", {}).update(labels)
            pod["spec"]["subdomain"] = name
            yield Child(kind=JOBS, raw=job)


def _trainjob(raw: Object) -> Iterator[Child]:
    name, trainer = raw["metadata"]["name"], raw["spec"]["trainer"]
    nodes = trainer.get("numNodes", 1)
    env = [
        {"name": "PET_NNODES", "value": str(nodes)},
        {"name": "PET_NPROC_PER_NODE", "value": str(trainer.get("numProcPerNode", "auto"))},
        {
            "name": "PET_NODE_RANK",
            "valueFrom": {
                "fieldRef": {"fieldPath": f"metadata.annotations['{_BATCH}job-completion-index']"}
            },
        },
        {"name": "PET_MASTER_ADDR", "value": f"{name}-node-0-0.{name}"},
        {"name": "PET_MASTER_PORT", "value": str(_PORT)},
    ]
    container = {
        "name": "node",
        "image": trainer.get("image", "trainer"),
        "command": trainer.get("command", ["torchrun", "train.py"]),
        "env": env,
        "resources": {"limits": trainer.get("resourcesPerNode", {}).get("limits", {})},
    }
    jobset = _child(TRAINJOBS, raw, name)
    jobset["spec"] = {
        "suspend": suspended(TRAINJOBS, raw),
        "replicatedJobs": [
            _step("dataset-initializer", {"name": "dataset-initializer", "image": "init"}, 1),
            _step("node", container, nodes, step="trainer"),
        ],
    }
    yield Child(kind=JOBSETS, raw=jobset)


def _step(name: str, container: Object, pods: int, step: str = "") -> Object:
    return {
        "name": name,
        "template": {
            "metadata": {"labels": {_STEP: step or name}},
            "spec": {
                "parallelism": pods,
                "completions": pods,
                "template": {
                    "metadata": {"labels": {_STEP: step or name}},
                    "spec": {"containers": [container]},
                },
            },
        },
    }


def _volcano(raw: Object) -> Iterator[Child]:
    metadata = raw["metadata"]
    name = metadata["name"]
    yield _service(VCJOBS, raw, name, {"volcano.sh/job-name": name})
    for task in raw["spec"]["tasks"]:
        for index in range(task.get("replicas", 1)):
            labels = {
                "volcano.sh/job-name": name,
                "volcano.sh/job-namespace": metadata["namespace"],
                "volcano.sh/queue-name": raw["spec"].get("queue", "default"),
                "volcano.sh/task-index": str(index),
                "volcano.sh/task-spec": task["name"],
            }
            called = f"{name}-{task['name']}-{index}"
            yield _pod(
                VCJOBS,
                raw,
                called,
                task["template"],
                labels=labels,
                hostname=called,
                subdomain=name,
            )
