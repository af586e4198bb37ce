"""Make nodes, the cluster's DNS and jobs as people submit them."""

from __future__ import annotations

import uuid
from typing import Any

from playground.kubernetes.controllers import NODES
from playground.kubernetes.resources import Object, kind
from playground.kubernetes.store import Store
from playground.kubernetes.workloads import (
    JOBS,
    JOBSETS,
    PODS,
    PYTORCHJOBS,
    SERVICES,
    TRAINJOBS,
    VCJOBS,
)

NAMESPACES = kind("namespaces")
_DNS = {"k8s-app": "kube-dns"}
#: How long the node's kubelet says that it has been fine.
_KUBELET = [{"type": "Ready", "status": "True", "reason": "KubeletReady"}]


def add_node(
    store: Store, name: str, *, gpus: int = 8, pool: str = "gpu", address: str = ""
) -> Object:
    """Add a node as Crusoe's cloud controller makes one: its providerID and UUID are the VM's."""
    vm = vm_id(name)
    raw: Object = {
        "metadata": {
            "name": name,
            "labels": {"kubernetes.io/hostname": name, "crusoe.ai/nodepool.id": pool},
        },
        "spec": {"providerID": f"crusoe://{vm}"},
        "status": {
            "conditions": _KUBELET,
            "addresses": [
                {"type": "InternalIP", "address": address or "10.20.1.10"},
                {"type": "Hostname", "address": name},
            ],
            "allocatable": {"cpu": "176", "nvidia.com/gpu": str(gpus)},
            "nodeInfo": {
                "systemUUID": vm.upper(),
                "bootID": str(uuid.uuid5(uuid.NAMESPACE_DNS, f"boot.{name}")),
            },
        },
    }
    return store.create(NODES, raw, manager="kubelet")


def add_namespace(store: Store, name: str) -> Object:
    """Add a namespace."""
    return store.create(NAMESPACES, {"metadata": {"name": name}})


def vm_id(name: str) -> str:
    """Return the ID of the VM that a node is; the same in every run."""
    return str(uuid.uuid5(uuid.NAMESPACE_DNS, f"{name}.fleet.internal"))


def add_dns(store: Store, *nodes: str) -> None:
    """Add the Service of the cluster's DNS, and a pod of it on each of these nodes."""
    store.create(
        SERVICES,
        {
            "metadata": {"name": "kube-dns", "namespace": "kube-system", "labels": dict(_DNS)},
            "spec": {"clusterIP": "10.96.0.10", "selector": dict(_DNS)},
        },
    )
    for index, node in enumerate(nodes):
        store.create(
            PODS,
            {
                "metadata": {
                    "name": f"coredns-{index}",
                    "namespace": "kube-system",
                    "labels": dict(_DNS),
                },
                "spec": {
                    "containers": [{"name": "coredns"}],
                    "dnsPolicy": "Default",
                    "nodeName": node,
                },
                "status": {
                    "phase": "Running",
                    "podIP": f"10.244.9.{10 + index}",
                    "conditions": [{"type": "Ready", "status": "True"}],
                    "containerStatuses": [{"name": "coredns", "ready": True, "restartCount": 0}],
                },
            },
        )


def container(
    name: str,
    command: list[str] | None = None,
    *,
    gpus: int = 2,
    **more: Any,  # noqa: ANN401
) -> Object:
    """Return a container that runs ranks."""
    return {
        "name": name,
        "image": "registry.example/train:1",
        "command": command if command is not None else ["torchrun", "train.py"],
        "resources": {"limits": {"nvidia.com/gpu": str(gpus)} if gpus else {}},
        **more,
    }


def template(*containers: Object, **spec: object) -> Object:
    """Return a template of pods."""
    return {"spec": {"containers": list(containers), **spec}}


def submit(store: Store, of: str, name: str, spec: Object, *, namespace: str = "ml") -> Object:
    """Submit an object that runs ranks; its controller acts at once."""
    kinds = {
        "pytorchjob": PYTORCHJOBS,
        "job": JOBS,
        "jobset": JOBSETS,
        "trainjob": TRAINJOBS,
        "vcjob": VCJOBS,
    }
    raw: Object = {"metadata": {"name": name, "namespace": namespace}, "spec": spec}
    if ("", namespace) not in store.objects.get(NAMESPACES.key, {}):
        add_namespace(store, namespace)
    return store.create(kinds[of], raw)


def pytorchjob(workers: int, pod: Object, *, nproc: object = 2, **more: object) -> Object:
    """Return the spec of a PyTorchJob with a master and workers."""
    return {
        "nprocPerNode": str(nproc),
        "pytorchReplicaSpecs": {
            "Master": {"replicas": 1, "template": pod},
            "Worker": {"replicas": workers, "template": pod},
        },
        **more,
    }


def jobset(name: str, job: Object) -> Object:
    """Return the spec of a JobSet of one Job."""
    return {"replicatedJobs": [{"name": name, "template": {"spec": job}}]}


def indexed_job(pods: int, pod: Object, **more: object) -> Object:
    """Return the spec of an indexed Job."""
    return {
        "completionMode": "Indexed",
        "completions": pods,
        "parallelism": pods,
        "template": pod,
        **more,
    }
