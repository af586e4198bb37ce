"""Make a fleet: as many machines as asked for, each with a job's ranks on it."""

from __future__ import annotations

import ipaddress
import uuid

from playground.fleet.faults import RENDEZVOUS_PORT
from playground.fleet.machine import Machine, Network, Resolver, Share, Work

_TIB = 2**40


#: Address of the first machine.
_FIRST = ipaddress.IPv4Address("10.20.1.10")


def make(
    count: int = 32, *, ranks: int = 8, prefix: str = "node-", domain: str = "fleet.internal"
) -> Network:
    """Return a network of `node-0` … with `ranks` processes each; node-0 holds the rendezvous."""
    network = Network(domain=domain)
    for number in range(count):
        network.add(_machine(network, f"{prefix}{number}", str(_FIRST + number), number, ranks))
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
