"""Start a fleet: cloud API, scheduler, login node, log files and machines, in one process.

Everything is spoken to as the real parts are: the cloud and Slurm over HTTP, the login node and the
machines over SSH. A fault changes what all of them say, together.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from pathlib import Path

import asyncssh

from playground.crusoe import server as crusoe
from playground.crusoe.server import CrusoeServer
from playground.crusoe.world import Machine as Vm
from playground.fleet import jobs
from playground.fleet.build import make
from playground.fleet.cases import case
from playground.fleet.jobs import PlaygroundError
from playground.fleet.machine import Machine, Network
from playground.fleet.server import serving
from playground.fleet.settings import keep
from playground.fleet.simulated import (
    BACKUP_KEY,
    BOT,
    CLIENT_KEY,
    CLUSTER,
    KEY,
    KNOWN_HOSTS,
    LOCATION,
    PROBE,
    PROJECT,
    REPAIR_KEY,
    SimulatedFleet,
)
from playground.slurm import rest
from playground.slurm.login import Login
from playground.slurm.model import Cluster, Node


@asynccontextmanager
async def running(
    *,
    state_dir: Path,
    vms: int = 32,
    ranks: int = 8,
    fault: str = "resolver-failed",
    on: str = "",
    version: int = 40,
    accounting: bool = True,
    age: timedelta = jobs.AGE,
) -> AsyncIterator[SimulatedFleet]:
    """Start a fleet with a fault on one of its machines; an empty `fault` starts a healthy one.

    The job began `age` ago: with less than 30 minutes it still waits in its look-ups.
    `version` is that of slurmrestd's interface and of the commands (38 is 22.05, 40 is 23.11).
    Raises UnknownFaultError before anything is started, and PlaygroundError where it cannot run.
    """
    if fault:
        case(fault)
    state_dir = _folder(state_dir)
    desk = jobs.desk(state_dir / "disk")
    domain = f"{LOCATION}.compute.internal"
    network = make(vms, ranks=ranks, domain=domain, owner=desk.user)
    looks, repairs, saves = (
        _client_key(state_dir / name) for name in (CLIENT_KEY, REPAIR_KEY, BACKUP_KEY)
    )
    cluster = Cluster(name=CLUSTER, version=version, accounting=accounting)
    cluster.nodes = {node.name: node for node in _nodes(network)}
    cluster.operators |= {BOT, PROBE}
    login = Login(cluster=cluster, folder=desk.disk)
    async with (
        crusoe.running(keys=[KEY]) as cloud,
        rest.running(cluster) as slurmrestd,
        serving(network, looks, repairer=repairs, backer=saves, login=login.serve) as ssh,
    ):
        _rent(cloud, network)
        cloud.world.on_effect = lambda vm, action: _take_effect(network, vm, action)
        keep(state_dir / KNOWN_HOSTS, ssh.known_hosts())
        fleet = SimulatedFleet(
            network=network,
            cloud=cloud,
            cluster=cluster,
            rest=slurmrestd,
            ssh=ssh,
            desk=desk,
            state_dir=state_dir,
            ranks=ranks,
        )
        if fault:
            fleet.break_(fault, on, age=age)
        else:
            fleet.run_well(age=age)
        yield fleet


async def going_on(fleet: SimulatedFleet, every: timedelta = timedelta(seconds=2)) -> None:
    """Let a fleet's jobs go on in real time, until cancelled."""
    while True:
        fleet.advance()
        await asyncio.sleep(every.total_seconds())


def _folder(path: Path) -> Path:
    """Make the state folder and return its real path."""
    try:
        path.mkdir(parents=True, exist_ok=True, mode=0o700)
        return path.resolve()
    except OSError as error:
        message = f"{path} cannot be made: {error.strerror}. Choose another folder."
        raise PlaygroundError(message) from error


def _client_key(path: Path) -> asyncssh.SSHKey:
    """Return a fresh key for the product, and write it for its owner alone."""
    key = asyncssh.generate_private_key("ssh-ed25519")
    keep(path, key.export_private_key().decode())
    return key


def _nodes(network: Network) -> Iterable[Node]:
    for machine in network.machines.values():
        yield Node(
            name=machine.name,
            address=machine.address,
            responds=_Slurmd(machine),
            booted=partial(getattr, machine, "booted"),
        )


@dataclass(frozen=True)
class _Slurmd:
    """Slurm's daemon on a machine: it is as stuck as everything else there."""

    machine: Machine

    def __call__(self) -> bool:
        return not (self.machine.silent or self.machine.login_hangs)


def _rent(cloud: CrusoeServer, network: Network) -> None:
    """Give each machine a VM, by whose id it knows itself."""
    project = cloud.world.add_project(PROJECT)
    for machine in network.machines.values():
        vm = cloud.world.add_vm(
            machine.name, project=project, private_ip=machine.address, location=LOCATION
        )
        machine.product_uuid = vm.id


def _take_effect(network: Network, vm: Vm, action: str) -> None:
    """Let the machine feel what the cloud has done to its VM."""
    machine = network.machines[vm.private_ip]
    if action == "STOP":
        machine.silent = True
        machine.processes.clear()
        return
    machine.silent = machine.login_hangs = False
    machine.reboot()
    if action == "START":
        machine.held.clear()
        for share in machine.mounts:
            if "nvme" in share.source:
                share.free_bytes = share.size_bytes
