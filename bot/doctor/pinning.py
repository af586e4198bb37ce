"""The check that machines can be told from impostors: each has a pinned host key."""

from __future__ import annotations

from collections.abc import Sequence

from bot.doctor.look import Look
from bot.doctor.model import Answer, fail, ok, skip, warn
from bot.fleet.folding import folded
from bot.hosts.errors import HostSetupError
from bot.hosts.ssh.pins import Pins
from bot.triage.services import Watched


async def host_keys(look: Look) -> Sequence[Answer]:
    """Say for how many machines a host key is pinned."""
    ssh = look.settings.ssh
    if ssh is None:
        return ()
    mend = "Collect the keys over a path that you trust: `nccl-dns init --print known-hosts`."
    try:
        pins = Pins(ssh.known_hosts, trust_on_first_use=ssh.trust_on_first_use)
    except HostSetupError as error:
        return (fail(str(error), mend),)
    if ssh.trust_on_first_use:
        said = "The first key that a machine shows is taken (trust_on_first_use), without proof."
        return (warn(said, mend),)
    found = []
    for cluster in look.clusters or (None,):
        about = cluster.name if cluster else ""
        names = await _aliases(look, cluster)
        bare = [name for alias, name in names.items() if not any(pins.trusted(alias)[:2])]
        if not names:
            found.append(skip("No machine is known yet.", about))
        elif bare:
            say = fail if len(bare) == len(names) else warn
            said = f"{len(bare)} of {len(names)} machines have no pinned key: {folded(bare)}."
            found.append(say(said, mend, about))
        else:
            found.append(ok(f"All {len(names)} machines have a pinned key or authority.", about))
    return found


async def _aliases(look: Look, cluster: Watched | None) -> dict[str, str]:
    """Return what host keys are pinned to, and the machines' names."""
    matches = await look.matches(cluster) if cluster else None
    if matches is not None:
        return {match.vm.id: name for name, match in matches.found.items()}
    vms = await look.vms(cluster)
    if vms is not None:
        return {vm.id: vm.name for vm in vms}
    nodes = await look.nodes(cluster) if cluster else None
    return {node.name: node.name for node in nodes or ()}
