"""Run one pre-flight as the product does, and print as JSON what it came to.

Arguments: the folder of the machines (`vms.running`), their port, how many there are.
"""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path

from bot.hosts.matrix import Matrix, Observer, observed
from bot.hosts.port import Target
from bot.hosts.probes import PREFLIGHT, Question
from bot.hosts.remarks import headline, remarks
from bot.hosts.ssh.hosts import SshHosts, ssh_hosts
from bot.hosts.ssh.options import Keys, SshOptions
from bot.hosts.words import Address, HostName, Proof
from tests.benchmarks.vms import Vms


def question(vms: Vms) -> Question:
    """Return what every machine is asked: both names of every machine."""
    return Question(names=tuple(map(HostName, vms.names)))


async def look(vms: Vms, proof: str) -> Matrix:
    """Ask every machine; the keys of all are pinned."""
    pins = vms.folder / "pins"
    pins.write_text(
        "".join(f"{vms.name(at)} {vms.host_key}\n" for at in range(vms.count)), encoding="utf-8"
    )
    options = SshOptions(user="root", keys=Keys(files=(vms.key,)), known_hosts=pins, port=vms.port)
    asked = question(vms)
    async with ssh_hosts(options) as hosts:
        rows = await asyncio.gather(
            *(_one(hosts, vms, at, asked, proof) for at in range(vms.count))
        )
    return Matrix(names=asked.names, observers=tuple(rows))


async def _one(hosts: SshHosts, vms: Vms, at: int, asked: Question, proof: str) -> Observer:
    target = Target(
        vm_id=vms.name(at),
        name=vms.name(at),
        address=Address(vms.address(at)),
        proof_kind="host_name",
        proof=Proof(proof),
    )
    return observed(await hosts.probe(target, asked, PREFLIGHT), asked.names)


def main() -> None:
    """Look and tell."""
    folder, port, count, proof = sys.argv[1:]
    vms = Vms(folder=Path(folder), port=int(port), count=int(count))
    found = asyncio.run(look(vms, proof))
    said = {
        "wrong": found.wrong,
        "headline": headline(found),
        "remarks": [one.text for one in remarks(found)],
        "tally": {str(seen): count for seen, count in found.tally.items()},
    }
    print(json.dumps(said))


if __name__ == "__main__":
    main()
