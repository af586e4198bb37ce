"""What the API says of the cluster's DNS and of the Services that ranks ask for. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from bot.hosts.view import ClusterDns
from bot.schedulers.kubernetes.pods import asks_cluster_dns, host_name
from bot.schedulers.kubernetes.shapes import (
    Raw,
    is_name,
    labels,
    listed,
    name,
    part,
    text,
    value,
)

#: What CoreDNS, its Service and its pods are labelled with, whatever they are called.
DNS_LABEL = ("k8s-app", "kube-dns")
#: Which Service an EndpointSlice belongs to.
SERVICE_NAME = "kubernetes.io/service-name"


def cluster_dns(
    *,
    dns_services: Sequence[Raw],
    dns_slices: Sequence[Raw],
    dns_pods: Sequence[Raw],
    services: Sequence[Raw],
    slices: Sequence[Raw],
    pods: Sequence[Raw],
) -> ClusterDns:
    """Return the state of the cluster's DNS as ranks in these pods meet it.

    Where no pod asks it, only the machines that it runs on are told: it cannot be their trouble.
    """
    hosts = frozenset(
        node for pod in dns_pods if _runs(pod) and is_name(node := text(pod, "spec", "nodeName"))
    )
    asking = [pod for pod in pods if asks_cluster_dns(pod)]
    if pods and not asking:
        return ClusterDns(hosts=hosts)
    named = {name(service) for service in dns_services}
    own = [one for one in dns_slices if labels(one).get(SERVICE_NAME) in named]
    return ClusterDns(
        without_endpoints=bool(named) and not any(_ready(one) for one in own),
        hosts=hosts,
        services_not_ready=_not_ready(services, slices, asking),
    )


def _runs(pod: Raw) -> bool:
    return text(pod, "status", "phase") == "Running"


def _ready(slice_: Raw) -> list[Raw]:
    """Return the endpoints that are ready; where nothing is said of one, it is."""
    return [
        endpoint
        for endpoint in listed(slice_, "endpoints")
        if value(endpoint, "conditions", "ready") in {None, True}
    ]


def _not_ready(
    services: Sequence[Raw], slices: Sequence[Raw], pods: Sequence[Raw]
) -> frozenset[str]:
    """Return the names that have no record yet: Services, and pods of a headless Service."""
    waiting: set[str] = set()
    for service in services:
        if not _serves(service, pods):
            continue
        own = [one for one in slices if labels(one).get(SERVICE_NAME) == name(service)]
        ready = [endpoint for one in own for endpoint in _ready(one)]
        if not ready:
            waiting.add(name(service))
        known = {text(endpoint, "hostname") for endpoint in ready}
        waiting.update(
            f"{host_name(pod)}.{name(service)}"
            for pod in pods
            if text(pod, "spec", "subdomain") == name(service) and host_name(pod) not in known
        )
    return frozenset(waiting)


def _serves(service: Raw, pods: Sequence[Raw]) -> bool:
    """Tell whether a Service selects any of these pods."""
    wanted = part(service, "spec", "selector")
    return bool(wanted) and any(
        all(labels(pod).get(key) == said for key, said in wanted.items()) for pod in pods
    )
