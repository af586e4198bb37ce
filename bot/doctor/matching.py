"""The check that each node of a scheduler is exactly one VM of the cloud."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from bot.clouds.model import Vm
from bot.doctor.look import Look
from bot.doctor.model import Answer, fail, ok, skip, warn
from bot.fleet.folding import folded
from bot.fleet.placement import short_name
from bot.fleet.vms import Matches
from bot.triage.services import Watched

_MOST_SHOWN = 5
_PROJECT = "Check project in [cloud] and [clusters.NAME]: its VMs are not those of the cluster."


async def nodes_and_vms(look: Look) -> Sequence[Answer]:
    """Say how many nodes and VMs there are, and which do not fit together."""
    return [answer for cluster in look.clusters for answer in await _one(look, cluster)]


async def _one(look: Look, cluster: Watched) -> Sequence[Answer]:
    nodes = await look.nodes(cluster)
    if nodes is None:
        return (skip("There is no scheduler to ask.", cluster.name),)
    stray = sorted(cluster.nodes - {node.name for node in nodes})
    found = []
    if stray:
        said = f"The scheduler does not list {folded(stray)}, which `nodes` names."
        found.append(warn(said, f"Correct [clusters.{cluster.name}] nodes.", cluster.name))
    matches, vms = await look.matches(cluster), await look.vms(cluster)
    if matches is None or vms is None:
        return [*found, ok(f"{len(nodes)} nodes; no cloud is asked for VMs.", cluster.name)]
    if not nodes:
        return [*found, warn("The scheduler lists no node.", _PROJECT, cluster.name)]
    return [*found, *_fit(cluster.name, len(nodes), matches, vms)]


def _fit(about: str, nodes: int, matches: Matches[Vm], vms: Sequence[Vm]) -> Iterator[Answer]:
    if not matches.found:
        said = f"None of the {nodes} nodes is one VM of the project, which has {len(vms)}."
        yield fail(f"{said} {next(iter(matches.errors.values()))}", _PROJECT, about)
        return
    counted = Counter(short_name(vm.name) for vm in vms)
    twice = [name for name in matches.errors if counted[short_name(name)] > 1]
    missing = [name for name in matches.errors if not counted[short_name(name)]]
    if twice:
        said = f"More than one VM has the name of {folded(twice)}; none is ever picked."
        yield warn(said, "Rename or delete the VM that is not the node's.", about)
    if missing:
        mend = "Name the project in the settings that they are in, or take them from the scheduler."
        said = f"No VM has the name of {folded(missing)}, of {nodes} nodes."
        yield warn(said, mend, about)
    others = [name for name in matches.errors if name not in {*twice, *missing}]
    for name in others[:_MOST_SHOWN]:
        yield warn(matches.errors[name], "Look which VM it is, by its id.", f"{about}: {name}")
    spare = len(vms) - len({match.vm.id for match in matches.found.values()})
    beside = f"; VMs that are no node: {spare}" if spare else ""
    said = f"{len(matches.found)} of {nodes} nodes are each one VM{beside}."
    yield ok(said, about)
