"""The model of one machine and of the network around it; faults change it, probes read it."""

from __future__ import annotations

import uuid
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

STUB_LINK = "/run/systemd/resolve/stub-resolv.conf"
STUB = "127.0.0.53"


@dataclass(kw_only=True)
class Resolver:
    """systemd-resolved on one machine."""

    #: as systemd has it: `active`, `failed`, `inactive`
    active: str = "active"
    result: str = "success"
    restarts: int = 0
    exit_status: int = 0
    pid: int = 412
    #: the process is stopped and answers nothing
    hung: bool = False
    servers: list[str] = field(default_factory=list)
    search: list[str] = field(default_factory=list)
    #: time and text of its journal
    journal: list[tuple[datetime, str]] = field(default_factory=list)

    @property
    def exists(self) -> bool:
        """Tell whether there is a process."""
        return self.active == "active"


@dataclass(kw_only=True)
class Work:
    """A process of a person or of a job."""

    pid: int
    name: str
    user: str = "alice"
    uid: int = 1001
    step: bool = True
    gpu_mib: int = 0


@dataclass(kw_only=True)
class Share:
    """A mounted file system."""

    mount: str
    kind: str
    source: str
    size_bytes: int = 0
    free_bytes: int = 0


@dataclass(kw_only=True)
class Held:
    """A file on a disk that goes with the VM."""

    path: str
    #: the folder that it is chosen with, and what that is: `checkpoint`, `folder`
    item: str
    what: str
    owner: str
    size_bytes: int
    #: stands for its content
    seed: str
    on: str = "nvme0n1"
    rank: int | None = None


@dataclass(kw_only=True)
class Machine:
    """One VM from the inside."""

    name: str
    address: str
    product_uuid: str
    resolver: Resolver
    #: None for the link to the stub; otherwise the name servers of a plain file
    plain_conf: list[str] | None = None
    #: the search domains of a plain file
    plain_search: list[str] = field(default_factory=list)
    nss: str = "files resolve [!UNAVAIL=return] dns"
    mounts: list[Share] = field(default_factory=list)
    held: list[Held] = field(default_factory=list)
    #: how long a backup takes here
    copying_s: float = 0.4
    processes: list[Work] = field(default_factory=list)
    boot_id: str = field(default_factory=lambda: str(uuid.uuid4()))
    booted: datetime = field(default_factory=lambda: datetime.now(UTC) - timedelta(days=3))
    #: ports that this machine's firewall drops outgoing packets to
    drops: set[int] = field(default_factory=set)
    listens: set[int] = field(default_factory=set)
    #: answers nothing at all; or takes connections and lets nobody in
    silent: bool = False
    login_hangs: bool = False
    hosts_file: dict[str, str] = field(default_factory=lambda: {"localhost": "127.0.0.1"})

    def reboot(self) -> None:
        """Start anew: a fresh boot id, no processes, the resolver as configured on disk."""
        self.boot_id = str(uuid.uuid4())
        self.booted = datetime.now(UTC)
        self.processes.clear()
        self.held = [one for one in self.held if one.on != "memory"]
        self.restart_resolver()

    def restart_resolver(self) -> None:
        """Start the resolver anew, as systemctl does."""
        self.resolver.active, self.resolver.result = "active", "success"
        self.resolver.hung, self.resolver.restarts = False, 0
        self.resolver.exit_status = 0
        self.resolver.pid += 1000


@dataclass(kw_only=True)
class Network:
    """What the machines share: addresses, name servers and records."""

    domain: str = "fleet.internal"
    #: name servers that answer
    servers: set[str] = field(default_factory=lambda: {"10.20.0.2"})
    #: name servers that exist; a query to any other has no route
    hosts: set[str] = field(default_factory=lambda: {"10.20.0.2"})
    #: full name → address
    records: dict[str, str] = field(default_factory=dict)
    machines: dict[str, Machine] = field(default_factory=dict)
    #: files on the share that all mount: path → what stands for the content
    kept: dict[str, str] = field(default_factory=dict)

    def add(self, machine: Machine) -> Machine:
        """Plug a machine in and give it a record."""
        self.machines[machine.address] = machine
        self.records[f"{machine.name}.{self.domain}"] = machine.address
        return machine

    def named(self, name: str) -> Machine:
        """Return the machine of this name."""
        return next(one for one in self.machines.values() if one.name == name)

    def ask(self, server: str, name: str) -> tuple[str, str]:
        """Ask a name server for a full name; return what it says and the address, if any."""
        if server not in self.hosts:
            return "unreachable", ""
        if server not in self.servers:
            return "refused", ""
        if not name.endswith(self.domain):
            return "REFUSED", ""
        address = self.records.get(name, "")
        return ("NOERROR" if address else "NXDOMAIN"), address

    def connect(self, machine: Machine, address: str, port: int) -> str:
        """Return what becomes of a TCP connection."""
        there = self.machines.get(address)
        if there is None or there.silent or port in machine.drops:
            return "timeout"
        return "connected" if port in there.listens else "refused"
