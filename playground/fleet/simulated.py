"""A fleet as one thing: what was started, how it is broken, and what a client needs of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path

from playground.crusoe.judge import Key
from playground.crusoe.server import CrusoeServer
from playground.crusoe.world import Machine as Vm
from playground.fleet import faults, jobs, settings
from playground.fleet.cases import UnknownFaultError, case
from playground.fleet.jobs import Desk
from playground.fleet.machine import Machine, Network
from playground.fleet.server import BACKER, REPAIRER, FleetServer
from playground.slurm.model import Cluster, folded, utc_now
from playground.slurm.rest import RestServer

#: Good for this cloud alone, which knows no other key.
KEY = Key(access_key_id="PLAYGROUNDKEY001", secret_key="cGxheWdyb3VuZC1vbmx5LWtleQ")  # noqa: S106
PROJECT, CLUSTER, LOCATION = "demo", "demo", "us-east1-a"
#: Accounts of the product: with slurmrestd, and on the login node and the machines.
BOT, PROBE = "bot", "probe"
#: Files of the state folder.
CLIENT_KEY, REPAIR_KEY = "id_ed25519", "id_ed25519_repair"
BACKUP_KEY = "id_ed25519_backup"
KNOWN_HOSTS, SETTINGS = "known_hosts", "nccl-dns.toml"
#: The machine that a fault hits when nobody says which.
_USUAL = "node-8"


@dataclass(kw_only=True)
class SimulatedFleet:
    """A fleet, running."""

    network: Network
    cloud: CrusoeServer
    cluster: Cluster
    rest: RestServer
    ssh: FleetServer
    desk: Desk
    state_dir: Path
    ranks: int
    #: the fault that is on and the machine that it hits; empty where there is none
    fault: str = ""
    hit: str = ""
    #: the job that the faults hit
    job: int = field(default=jobs.HIT, init=False)

    def break_(self, fault: str, on: str = "", *, age: timedelta = jobs.AGE) -> None:
        """Break a machine, in place of what was broken before, and let the jobs run into it.

        The job began `age` ago: with less than 30 minutes it still waits. Raises UnknownFaultError
        for an unknown fault or machine.
        """
        wanted = case(fault)
        hit = self._machine(on or self._usual(on_master=wanted.on_master))
        self.heal()
        for machine in self.network.machines.values():
            machine.resolver.journal.clear()
        faults.break_(self.network, wanted.then or wanted.now, hit.name)
        self._submit(hit.name, age)
        if wanted.then:
            faults.heal(self.network)
            faults.break_(self.network, wanted.now, hit.name)
        self._date(hit, after=bool(wanted.then))
        if wanted.vm_state:
            self.vm(hit.name).state = wanted.vm_state
        self.fault, self.hit = fault, hit.name

    def run_well(self, *, age: timedelta = jobs.AGE) -> None:
        """Undo every fault and let the job run without one."""
        self.heal()
        self._submit("", age)

    def advance(self, now: datetime | None = None) -> None:
        """Let the jobs go on until now.

        A job that waits in its look-ups comes up once everybody finds everybody, or gives up; the
        logs grow.
        """
        for job in self.cluster.jobs.values():
            jobs.advance(self.network, job, now or utc_now())
        jobs.populate(self.network, self.cluster.jobs.values())

    def heal(self) -> None:
        """Undo every fault; what the jobs ran into stays, as do their logs and the journals."""
        faults.heal(self.network)
        for vm in self.cloud.world.machines.values():
            vm.state = "STATE_RUNNING"
        self.fault = self.hit = ""

    def vm(self, name: str) -> Vm:
        """Return the cloud's record of a machine."""
        return self.cloud.world.machines[self._machine(name).product_uuid]

    def settings_toml(self) -> str:
        """Return what a client needs, as the product reads it."""
        return settings.as_toml(self._tables())

    def write_settings(self) -> Path:
        """Write the settings, which hold secrets, for their owner alone; return the file."""
        path = self.state_dir / SETTINGS
        settings.keep(path, self.settings_toml())
        return path

    def _tables(self) -> Mapping[str, Mapping[str, object]]:
        here = {"host": "127.0.0.1", "port": self.ssh.port, "user": PROBE}
        slurm = {"url": self.rest.url, "user": BOT, "token": self.rest.token(BOT)}
        folder = self.state_dir
        return {
            "": {"state_dir": str(folder)},
            "store": {"url": f"sqlite:///{folder / 'bot.db'}"},
            "cloud": {
                "kind": "crusoe",
                "base_url": self.cloud.base_url,
                "project": PROJECT,
                "access_key_id": KEY.access_key_id,
                "secret_key": KEY.secret_key,
            },
            "ssh": {
                "user": PROBE,
                "keys": [str(folder / CLIENT_KEY)],
                "known_hosts": str(folder / KNOWN_HOSTS),
                "jumps": [here],
            },
            "ssh.repair": {"user": REPAIRER, "keys": [str(folder / REPAIR_KEY)]},
            "ssh.backup": {"user": BACKER, "keys": [str(folder / BACKUP_KEY)]},
            f"clusters.{CLUSTER}": {
                "kind": "slurm",
                "project": PROJECT,
                "nodes": [folded(list(self.cluster.nodes))],
                "domain": self.network.domain,
            },
            f"clusters.{CLUSTER}.rest": {**slurm, "version": self.cluster.version},
            f"clusters.{CLUSTER}.login": here,
        }

    def _machine(self, name: str) -> Machine:
        for machine in self.network.machines.values():
            if machine.name == name:
                return machine
        names = ", ".join(machine.name for machine in self.network.machines.values())
        raise UnknownFaultError(f"There is no machine {name!r}; there are {names}.")

    def _usual(self, *, on_master: bool) -> str:
        names = [machine.name for machine in self.network.machines.values()]
        return names[0] if on_master else _USUAL if _USUAL in names else names[-1]

    def _date(self, hit: Machine, *, after: bool) -> None:
        """Let the journal tell of the fault before the job began, or of its end while it ran."""
        began = self.cluster.jobs[self.job].started
        if began is None:
            return
        at = began + timedelta(minutes=3) if after else began - timedelta(minutes=2)
        hit.resolver.journal = [(at, text) for _, text in hit.resolver.journal]

    def _submit(self, hit: str, age: timedelta) -> None:
        self.cluster.put(jobs.submitted(self.desk, self.network, self.ranks, hit=hit, age=age))
