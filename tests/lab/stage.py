"""The bot among the lab's machines: a cloud that has their power switches, and its settings."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

from playground.crusoe.judge import Key
from playground.crusoe.server import CrusoeServer
from playground.crusoe.server import running as cloud_running
from playground.crusoe.world import Machine as Vm
from playground.fleet.settings import as_toml, keep
from tests.lab.lab import Lab
from tests.lab.machine import Machine
from tests.lab.network import CTL_IP, DOMAIN
from tests.lab.slurm import REST_PORT

_PROJECT = "training"
_KEY = Key(access_key_id="LABKEY", secret_key="bGFiLWtleS1vZi0zMi1ieXRlcy1sb25nISE")  # noqa: S106
#: How long an operation of the cloud takes.
_TAKES = timedelta(seconds=3)


@dataclass(kw_only=True)
class Powered:
    """The cloud, and what it did to which machine."""

    server: CrusoeServer
    lab: Lab
    #: (name, action), in order
    did: list[tuple[str, str]] = field(default_factory=list)
    _vms: dict[str, Vm] = field(default_factory=dict)
    #: switches are thrown one after the other, beside the loop
    _switches: ThreadPoolExecutor = field(default_factory=lambda: ThreadPoolExecutor(1))

    def __post_init__(self) -> None:
        """Add a VM for each machine, and connect its power."""
        world = self.server.world
        project = world.add_project(_PROJECT)
        for one in self.lab.machines:
            vm = world.add_vm(one.name, project=project, private_ip=one.address)
            self._vms[one.name] = vm
        world.takes = _TAKES
        world.on_effect = self._switch

    def vm(self, machine: Machine) -> Vm:
        """Return a machine as the cloud lists it."""
        return self._vms[machine.name]

    def _switch(self, vm: Vm, action: str) -> None:
        machine = next(one for one in self.lab.machines if one.name == vm.name)
        self.did.append((machine.name, action))
        self._switches.submit(_switched, machine, action)

    def close(self) -> None:
        """Wait until the last switch is thrown."""
        self._switches.shutdown(wait=True)

    def settings(self, folder: Path) -> Path:
        """Write the bot's settings as its user would, and return the file."""
        known = folder / "known_hosts"
        login = self.lab.machines[0]
        names = {self.vm(one).id: one for one in self.lab.machines} | {login.address: login}
        keep(known, "".join(f"{name} {one.host_key}\n" for name, one in names.items()))
        token = folder / "slurm-token"
        keep(token, self.lab.slurm.token())
        last = len(self.lab.machines) - 1
        tables: dict[str, dict[str, object]] = {
            "": {"state_dir": str(folder / "state")},
            "cloud": {
                "kind": "crusoe", "base_url": self.server.base_url, "project": _PROJECT,
                "access_key_id": _KEY.access_key_id, "secret_key": _KEY.secret_key,
            },
            "ssh": {
                "user": "nccl-probe", "keys": [str(self.lab.folder / "probe-key")],
                "known_hosts": str(known), "proof": "host_name", "sudo": True,
                "helper": "/usr/local/libexec/nccl-dns-probe",
            },
            "ssh.repair": {"user": "nccl-repair", "keys": [str(self.lab.folder / "repair-key")]},
            "ssh.backup": {"user": "nccl-backup", "keys": [str(self.lab.folder / "backup-key")]},
            "clusters.lab": {
                "kind": "slurm", "project": _PROJECT, "nodes": [f"node-[0-{last}]"],
                "domain": DOMAIN,
            },
            "clusters.lab.rest": {
                "url": f"http://{CTL_IP}:{REST_PORT}", "user": "root", "token_file": str(token),
                "version": 38,
            },
            "clusters.lab.login": {"host": login.address, "user": "nccl-probe"},
        }  # fmt: skip
        path = folder / "nccl-dns.toml"
        keep(path, as_toml(tables))
        return path


def _switched(machine: Machine, action: str) -> None:
    if action in {"STOP", "RESET"}:
        machine.stop()
    if action in {"START", "RESET"}:
        machine.start()


@asynccontextmanager
async def powered(lab: Lab) -> AsyncIterator[Powered]:
    """Run the cloud's API with the lab's machines behind it."""
    async with cloud_running(keys=[_KEY]) as server:
        switches = Powered(server=server, lab=lab)
        try:
            yield switches
        finally:
            await asyncio.to_thread(switches.close)
