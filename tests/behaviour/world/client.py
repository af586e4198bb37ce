"""The product's adapters, made from nothing but the settings that the simulated fleet gives."""

from __future__ import annotations

import tomllib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from typing import Any

from bot.clouds.crusoe.account import project_id
from bot.clouds.crusoe.cloud import CrusoeCloud, open_session
from bot.clouds.crusoe.credentials import Credentials
from bot.clouds.crusoe.endpoint import endpoint
from bot.clouds.model import Vm
from bot.hosts import findings
from bot.hosts.grants import REPAIR_PATH
from bot.hosts.model import Judgement
from bot.hosts.port import Target
from bot.hosts.probes import Question
from bot.hosts.ssh.hosts import SshHosts, ssh_hosts
from bot.hosts.ssh.options import Jump, Keys, Limits, SshOptions
from bot.hosts.words import Address, HostName, Port, Proof
from bot.schedulers.slurm.adapter import SlurmScheduler
from bot.schedulers.slurm.login import LoginWay
from bot.schedulers.slurm.rest import RestWay
from bot.schedulers.slurm.ssh_runner import SshRunner
from playground.fleet.simulated import SimulatedFleet

#: Long enough for a busy test machine, short enough to wait for.
LIMITS = Limits(connect=timedelta(seconds=2), login=timedelta(seconds=2))


@dataclass(frozen=True, kw_only=True)
class Client:
    """One client of one fleet."""

    cloud: CrusoeCloud
    rest: RestWay
    login: LoginWay
    hosts: SshHosts
    #: by the account that repairs
    repairs: SshHosts

    @property
    def slurm(self) -> SlurmScheduler:
        """Return the cluster, by slurmrestd where it can and else by the login node."""
        return SlurmScheduler("demo", [self.rest, self.login])

    async def vm(self, name: str) -> Vm:
        """Return the VM of exactly this name."""
        (vm,) = [vm for vm in await self.cloud.list(names=[name]) if vm.name == name]
        return vm

    async def judge(self, name: str, peer: str, store: str = "node-0") -> Judgement:
        """Probe a machine and a peer at the addresses that the cloud gives, and judge."""
        mine, theirs, first = [await self.vm(one) for one in (name, peer, store)]
        question = Question(
            names=(HostName(store), HostName(f"{store}.us-east1-a.compute.internal")),
            address=Address(first.private_ips[0]),
            port=Port(29500),
        )
        seen = [await self.hosts.probe(target(vm), question) for vm in (mine, theirs)]
        return findings.judge(seen[0], seen[1], question)


def target(vm: Vm) -> Target:
    """Return where a VM's machine is, and how it proves itself."""
    return Target(vm_id=vm.id, name=vm.name, address=Address(vm.private_ips[0]), proof=Proof(vm.id))


def options(told: dict[str, Any]) -> SshOptions:
    """Return how machines are reached by the settings."""
    return SshOptions(
        user=told["user"],
        keys=Keys(files=tuple(Path(key) for key in told["keys"])),
        known_hosts=Path(told["known_hosts"]),
        jumps=tuple(Jump(**jump) for jump in told["jumps"]),
        limits=LIMITS,
    )


def repairing(told: dict[str, Any]) -> SshOptions:
    """Return how machines are reached by the account that repairs."""
    account = told["repair"]
    keys = Keys(files=tuple(Path(key) for key in account["keys"]))
    looks = options(told)
    return replace(looks, user=account["user"], keys=keys, sudo=True, helper=REPAIR_PATH)


@asynccontextmanager
async def client_of(fleet: SimulatedFleet) -> AsyncIterator[Client]:
    """Open the adapters."""
    told = tomllib.loads(fleet.settings_toml())
    cloud, cluster = told["cloud"], told["clusters"]["demo"]
    credentials = Credentials(access_key_id=cloud["access_key_id"], secret_key=cloud["secret_key"])
    login = Jump(**cluster["login"])
    rest = RestWay(
        cluster="demo",
        base_url=cluster["rest"]["url"],
        user=cluster["rest"]["user"],
        token=lambda: str(cluster["rest"]["token"]),
        version=cluster["rest"]["version"],
    )
    runner = SshRunner(login, options(told["ssh"]))
    try:
        async with (
            open_session(endpoint(cloud["base_url"]), credentials) as session,
            ssh_hosts(options(told["ssh"])) as hosts,
            ssh_hosts(repairing(told["ssh"])) as repairs,
        ):
            project = await project_id(session, cloud["project"])
            yield Client(
                cloud=CrusoeCloud(session, project=project),
                rest=rest,
                login=LoginWay(cluster="demo", runner=runner),
                hosts=hosts,
                repairs=repairs,
            )
    finally:
        await rest.aclose()
        await runner.aclose()
