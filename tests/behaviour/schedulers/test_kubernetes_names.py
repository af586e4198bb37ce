"""Prove what is said of the cluster's own names: its DNS, headless Services, Slurm in pods."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from bot.schedulers.errors import (
    UnknownNodeError,
)
from playground.kubernetes import build
from playground.kubernetes.workloads import PODS
from tests.behaviour.schedulers.kubernetes_world import (
    KubernetesWorld,
    k8s_id,
    kubernetes_world,
)

pytestmark = pytest.mark.anyio

FOUR = ("np-0", "np-1", "np-2", "np-3")


@pytest.fixture
async def world(anyio_backend: str) -> AsyncIterator[KubernetesWorld]:
    """Give a cluster of four nodes."""
    del anyio_backend
    async with kubernetes_world(nodes=FOUR) as one:
        yield one


async def test_the_clusters_dns_is_looked_at(world: KubernetesWorld) -> None:
    """Where CoreDNS runs, whether it has an endpoint, and which Services have no record yet."""
    store = world.server.store
    build.add_dns(store, "np-1", "np-2")
    number = world.running()
    job = await world.scheduler.job(world.id(number))

    fine = await world.scheduler.cluster_dns(job)
    for pod in store.of(PODS):
        if pod["metadata"]["namespace"] == "kube-system":
            world.server.controllers.unready(pod)
    world.server.controllers.unready(world.pods(number)[0])
    bad = await world.scheduler.cluster_dns(job)

    assert (fine.without_endpoints, fine.services_not_ready) == (False, frozenset())
    assert fine.hosts == {"np-1", "np-2"}
    assert bad.without_endpoints
    assert bad.services_not_ready == {"pretrain-1-master-0"}


async def test_a_pod_of_a_headless_service_that_is_not_ready_has_no_record(
    world: KubernetesWorld,
) -> None:
    """In a JobSet the name that ranks ask for is the pod's own, below the Service."""
    pod = build.template(build.container("main"))
    spec = build.jobset("w", build.indexed_job(2, pod))
    build.submit(world.server.store, "jobset", "train", spec)
    first = next(
        one for one in world.server.store.of(PODS) if one["spec"]["hostname"] == "train-w-0-0"
    )
    world.server.controllers.unready(first)

    dns = await world.scheduler.cluster_dns(await world.scheduler.job(k8s_id("jobset", "train")))

    assert dns.services_not_ready == {"train-w-0-0.train"}


async def test_pods_on_the_nodes_network_do_not_ask_the_clusters_dns(
    world: KubernetesWorld,
) -> None:
    """With the node's network, ClusterFirst means the node's resolver: CoreDNS is not at fault."""
    build.add_dns(world.server.store, "np-1")
    pod = build.template(build.container("pytorch"), hostNetwork=True)
    build.submit(world.server.store, "pytorchjob", "host", build.pytorchjob(1, pod))
    for one in world.server.store.of(PODS):
        world.server.controllers.unready(one)

    job = await world.scheduler.job(k8s_id("pytorchjob", "host"))
    dns = await world.scheduler.cluster_dns(job)

    assert "do not ask the cluster's DNS (dnsPolicy ClusterFirst, host network)" in job.notes[0]
    assert (dns.without_endpoints, dns.services_not_ready) == (False, frozenset())
    assert dns.hosts == {"np-1"}


async def test_slurm_nodes_that_are_pods(world: KubernetesWorld) -> None:
    """A Slurm node is a pod, which runs on a node, which is a VM."""
    for index, label in enumerate(("cluster-h200-0", None)):
        world.server.store.create(
            PODS,
            {
                "metadata": {
                    "name": f"slurm-worker-h200-{index}",
                    "namespace": "slurm",
                    "labels": {"nodeset.slinky.slurm.net/pod-hostname": label} if label else {},
                },
                "spec": {
                    "hostname": f"cluster-h200-{index}",
                    "nodeName": f"np-{index + 1}",
                    "containers": [{"name": "slurmd"}, {"name": "logfile"}],
                },
                "status": {"phase": "Running"},
            },
        )

    seats = await world.scheduler.seats(["cluster-h200-1", "cluster-h200-0"])
    nodes = await world.scheduler.named_nodes(tuple(seat.node for seat in seats))

    assert [(seat.slurm_node, seat.pod, seat.node) for seat in seats] == [
        ("cluster-h200-1", "slurm-worker-h200-1", "np-2"),
        ("cluster-h200-0", "slurm-worker-h200-0", "np-1"),
    ]
    assert [node.host.provider_id for node in nodes] == [
        f"crusoe://{build.vm_id('np-2')}",
        f"crusoe://{build.vm_id('np-1')}",
    ]
    with pytest.raises(UnknownNodeError, match=r"should be one pod with slurmd .* none"):
        await world.scheduler.seats(["cluster-h200-7"])
