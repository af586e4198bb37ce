"""Make a fleet: as many machines as asked for, each with a job's ranks on it."""

from __future__ import annotations

import ipaddress
import uuid

from playground.fleet.faults import RENDEZVOUS_PORT
from playground.fleet.machine import Held, Machine, Network, Resolver, Share, Work

_TIB = 2**40
#: A rank's shard of the simulated checkpoint.
_SHARD = 12 * 10**9


#: Address of the first machine.
_FIRST = ipaddress.IPv4Address("10.20.1.10")


def make(
    count: int = 32, *, ranks: int = 8, prefix: str = "node-", domain: str = "fleet.internal",
    owner: str = "alice",
) -> Network:  # fmt: skip
    """Return a network of `node-0` … with `ranks` processes each; node-0 holds the rendezvous.

    `owner`: whose checkpoint lies on each machine's own drive.
    """
    network = Network(domain=domain)
    for number in range(count):
        machine = network.add(
            _machine(network, f"{prefix}{number}", str(_FIRST + number), number, ranks)
        )
        held = range(ranks * number, ranks * (number + 1))
        machine.held = _held(machine.name, held, owner)
    next(iter(network.machines.values())).listens.add(RENDEZVOUS_PORT)
    return network


def _machine(network: Network, name: str, address: str, number: int, ranks: int) -> Machine:
    return Machine(
        name=name,
        address=address,
        # The same ids in every run, so that a demo's output can be compared.
        product_uuid=str(uuid.uuid5(uuid.NAMESPACE_DNS, f"{name}.{network.domain}")),
        resolver=Resolver(servers=sorted(network.hosts), search=[network.domain]),
        mounts=[
            Share(
                mount="/", kind="ext4", source="/dev/vda1",
                size_bytes=_TIB // 8, free_bytes=_TIB // 16,
            ),
            Share(
                mount="/nvme", kind="ext4", source="/dev/nvme0n1",
                size_bytes=3 * _TIB, free_bytes=2 * _TIB,
            ),
            Share(mount="/home", kind="nfs4", source="10.20.0.5:/home"),
        ],
        processes=[
            Work(pid=20000 + 100 * number + rank, name="python", gpu_mib=612)
            for rank in range(ranks)
        ],
    )  # fmt: skip


def _held(name: str, ranks: range, owner: str) -> list[Held]:
    """Return what the machine's own drive holds: its shards of a checkpoint, and others' files."""
    step = f"/nvme/{owner}/run-7/global_step400"
    shards = [
        Held(
            path=f"{step}/__{rank}_0.distcp", item=step, what="checkpoint", owner=owner,
            size_bytes=_SHARD, seed=f"{name}/{rank}", rank=rank,
        )
        for rank in ranks
    ]  # fmt: skip
    log = Held(
        path=f"/nvme/{owner}/run-7/train.log", item=f"/nvme/{owner}", what="folder", owner=owner,
        size_bytes=_SHARD // 1000, seed=f"{name}/log",
    )  # fmt: skip
    others = Held(
        path="/nvme/bob/secret-plans.parquet", item="/nvme/bob", what="folder", owner="bob",
        size_bytes=2 * _SHARD, seed=f"{name}/bob",
    )  # fmt: skip
    return [*shards, log, others]
