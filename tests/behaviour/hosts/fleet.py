"""A fleet under test, reached in memory or over SSH, together with the hand that breaks it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path

import asyncssh

from bot.hosts import findings
from bot.hosts.errors import LoginHangsError, SilentError
from bot.hosts.grants import REPAIR_PATH
from bot.hosts.memory import MemoryHosts
from bot.hosts.model import Judgement, ProbeResult, Row
from bot.hosts.port import Hosts, Repairs, Target
from bot.hosts.probes import Question
from bot.hosts.ssh.hosts import ssh_hosts
from bot.hosts.ssh.options import Jump, Keys, Limits, SshOptions
from bot.hosts.words import Address, HostName, Port, Proof
from playground.fleet.answers import answer
from playground.fleet.build import make
from playground.fleet.machine import Machine, Network
from playground.fleet.server import FleetServer, serving

#: Long enough for a busy test machine, short enough to wait for.
LIMITS = Limits(connect=timedelta(seconds=2), login=timedelta(seconds=2))


@dataclass(kw_only=True)
class Fleet:
    """Machines, and a way to look at them."""

    network: Network
    hosts: Hosts
    #: the same machines by the account that repairs
    repairs: Repairs
    #: None in memory
    server: FleetServer | None = None

    def target(self, name: str) -> Target:
        """Return what the cloud would say of a machine."""
        machine = self.network.named(name)
        return Target(
            vm_id=machine.product_uuid,
            name=name,
            address=Address(machine.address),
            proof=Proof(machine.product_uuid),
        )

    def question(self) -> Question:
        """Return what a log of this fleet's job asks about: node-0 by both names, and its port."""
        full = f"node-0.{self.network.domain}"
        address = self.network.named("node-0").address
        return Question(
            names=(HostName("node-0"), HostName(full), HostName(f"node-2.{self.network.domain}")),
            address=Address(address),
            port=Port(29500),
        )

    async def judge(self, name: str, peer: str | None) -> Judgement:
        """Probe a machine and a peer, and judge."""
        question = self.question()
        mine = await self.hosts.probe(self.target(name), question)
        theirs = await self.hosts.probe(self.target(peer), question) if peer else None
        return findings.judge(mine, theirs, question)


def in_memory(network: Network) -> Fleet:
    """Return a fleet whose machines are asked in process."""
    hosts = MemoryHosts()
    for machine in network.machines.values():
        hosts.put(machine.address, _Answering(machine, network))
    return Fleet(network=network, hosts=hosts, repairs=hosts)


@dataclass(frozen=True)
class _Answering:
    machine: Machine
    network: Network

    def __call__(self, rows: Sequence[Row]) -> Iterator[ProbeResult]:
        if self.machine.silent:
            raise SilentError(f"Nothing answers at {self.machine.address}.")
        if self.machine.login_hangs:
            raise LoginHangsError(f"{self.machine.name} lets nobody in.")
        return answer(self.machine, self.network, rows)


@asynccontextmanager
async def over_ssh(network: Network, folder: Path) -> AsyncIterator[Fleet]:
    """Serve the fleet on loopback and reach it through its jump host."""
    key = asyncssh.generate_private_key("ssh-ed25519")
    key.write_private_key(folder / "id")
    async with serving(network, key) as server:
        (folder / "known_hosts").write_text(server.known_hosts(), encoding="utf-8")
        looks = options(folder, server)
        acts = replace(looks, user="repair", sudo=True, helper=REPAIR_PATH)
        async with ssh_hosts(looks) as hosts, ssh_hosts(acts) as repairs:
            yield Fleet(network=network, hosts=hosts, repairs=repairs, server=server)


def options(folder: Path, server: FleetServer) -> SshOptions:
    """Return how the fleet of this folder is reached."""
    return SshOptions(
        user="probe",
        keys=Keys(files=(folder / "id",)),
        known_hosts=folder / "known_hosts",
        jumps=(Jump(host="127.0.0.1", user="jump", port=server.port),),
        limits=LIMITS,
    )


def small() -> Network:
    """Return four machines."""
    return make(4, ranks=2)
