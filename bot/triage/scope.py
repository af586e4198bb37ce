"""Which machines settings let anybody touch, by name alone."""

from __future__ import annotations

from bot.fleet.placement import same_host
from bot.triage.services import Services


def untouchable(services: Services, cluster: str | None, vm_name: str, host: str = "") -> str:
    """Say why settings keep a machine out of reach; empty where they do not.

    `host` is the machine as the scheduler names it: without it the cluster's nodes are not asked,
    since a VM may have another name than its node.
    """
    names = tuple(filter(None, (host, vm_name)))
    if any(same_host(name, one) for one in services.protected for name in names):
        return f"{host or vm_name} is on the list of protected machines."
    if not host:
        return ""
    watched = services.clusters.get(cluster or "")
    if watched is None:
        return f"{host} is of no cluster in the settings."
    if host not in watched.nodes:
        return (
            f"{host} is not among the nodes of cluster {watched.name} that may be touched "
            f"(clusters.{watched.name}.nodes)."
        )
    return ""
