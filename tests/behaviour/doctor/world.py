"""A set-up in memory in which all is well, made to be broken one thing at a time."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from bot.clouds.crusoe.account import KeyCheck
from bot.clouds.memory import MemoryCloud
from bot.clouds.model import Vm
from bot.doctor.here import Here
from bot.doctor.look import Look
from bot.doctor.model import Checkup, Outcome, Row
from bot.doctor.run import examine
from bot.doctor.table import CHECKS
from bot.hosts.grants import HELPER_PATH, PROBING, REPAIRING
from bot.hosts.memory import MemoryHosts
from bot.incidents.store import open_store
from bot.schedulers.about import About
from bot.schedulers.memory import MemoryScheduler
from bot.schedulers.model import Node
from bot.settings import load
from bot.triage.services import Services
from playground.fleet.machine import Network
from tests.behaviour.hosts.fleet import in_memory, small
from tests.behaviour.triage.world import World as Fleet

NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
HELPER_ONLY = 'User probe may run the following commands on vm:\n    (root) NOPASSWD: {path} ""\n'
KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ2uvB5SnfPuGfkLYgWRAnVwN1oJiODzKbVuPzkGmoTl"

SETTINGS = """\
state_dir = "{folder}/state"
[cloud]
kind = "crusoe"
project = "hall"
[clusters.hall]
nodes = ["node-[0-3]"]
domain = "fleet.internal"
[clusters.hall.login]
host = "login"
[ssh]
user = "probe"
keys = ["{folder}/key"]
known_hosts = "{folder}/known_hosts"
sudo = true
helper = "{helper}"
[ssh.repair]
user = "mend"
[actions]
enabled = true
"""


def everywhere(name: str) -> tuple[str, ...]:
    """Find every name, at an address that is nobody's."""
    del name
    return ("203.0.113.7",)


@dataclass(kw_only=True)
class World:
    """What there is to be looked at."""

    folder: Path
    settings: str = SETTINGS
    network: Network = field(default_factory=small)
    fleet: Fleet = field(init=False)
    scheduler: MemoryScheduler = field(init=False)
    hosts: MemoryHosts = field(init=False)
    repairing: MemoryHosts | None = field(init=False)
    key: KeyCheck | Exception = field(
        default_factory=lambda: KeyCheck(
            user="bot@example.com", role="Member", skew=timedelta(seconds=1)
        )
    )
    owns: set[str] = field(default_factory=set)
    name: str = "bot-host"
    resolv_conf: str = "nameserver 192.0.2.53\n"
    look_up: Callable[[str], tuple[str, ...]] = everywhere
    missing: tuple[str, ...] = ()
    #: what the cloud lists; None for what the fleet has
    vms: tuple[Vm, ...] | None = None

    def __post_init__(self) -> None:
        """Make everything as it should be."""
        self.fleet = Fleet(network=self.network)
        self.scheduler = self.fleet.scheduler()
        for node in list(self.scheduler.nodes_by_name.values()):
            self.scheduler.set_node(replace(node, partitions=("gpu",)))
        self.scheduler.told = About(
            way="login node", version="22.05.8", controllers=("ctl",), accounting=True,
            forgets_after=timedelta(minutes=5), may_change=True, rights="probe has the admin "
            "level Operator.",
        )  # fmt: skip
        hosts = in_memory(self.network).hosts
        assert isinstance(hosts, MemoryHosts)
        self.hosts = hosts
        repairing = in_memory(self.network).hosts
        assert isinstance(repairing, MemoryHosts)
        self.repairing = repairing
        for address in self.network.machines:
            self.hosts.sudo[address] = HELPER_ONLY.format(path=PROBING.path)
            self.repairing.sudo[address] = HELPER_ONLY.format(path=REPAIRING.path)
        self.write("key", "key")
        pins = "".join(f"{m.product_uuid} {KEY}\n" for m in self.network.machines.values())
        self.write("known_hosts", pins)

    def write(self, name: str, text: str, mode: int = 0o600) -> Path:
        """Write a file into the folder."""
        path = self.folder / name
        path.write_text(text, encoding="utf-8")
        path.chmod(mode)
        return path

    def node(self, name: str, **changes: object) -> None:
        """Change a node of the scheduler."""
        self.scheduler.set_node(replace(self.scheduler.nodes_by_name[name], **changes))  # type: ignore[arg-type]

    def add_node(self, name: str, address: str = "10.20.1.99") -> None:
        """Let the scheduler list one more node."""
        self.scheduler.set_node(
            Node(name=name, cluster="hall", state="IDLE", address=address, partitions=("gpu",))
        )

    async def _whose_key(self) -> KeyCheck:
        if isinstance(self.key, Exception):
            raise self.key
        return self.key

    def here(self) -> Here:
        """Return this machine as the doctor sees it."""
        return Here(
            name=lambda: self.name,
            owns=self.owns.__contains__,
            look_up=self.look_up,
            resolv_conf=self.write("resolv.conf", self.resolv_conf),
            uplinks=self.folder / "uplinks",
        )

    async def examined(self, only: str = "", **changes: object) -> Checkup:
        """Make all checks, or those of one name; `changes` are to the services."""
        config = self.write(
            "nccl-dns.toml", self.settings.format(folder=self.folder, helper=HELPER_PATH)
        )
        settings = load(config, environ={})
        async with AsyncExitStack() as stack:
            store = None
            if only in {"", "store"}:
                store = await stack.enter_async_context(open_store(settings.store_url))
            made = self.fleet.services(store=store, scheduler=self.scheduler)
            cloud = MemoryCloud(self.fleet.vms() if self.vms is None else self.vms)
            cluster = replace(made.clusters["hall"], domain="fleet.internal", cloud=cloud)
            services = replace(
                made,
                hosts=self.hosts,
                clusters={"hall": cluster},
                cloud=cloud,
                missing=self.missing,
            )
            look = Look(
                settings=settings,
                config=config,
                services=_changed(services, changes),
                whose_key=self._whose_key,
                repairing=self.repairing,
                here=self.here(),
                now=lambda: NOW,
            )
            checks = [check for check in CHECKS if only in {"", check.name}]
            assert checks
            return await examine(look, checks)

    async def rows(self, check: str, **changes: object) -> tuple[Row, ...]:
        """Return the rows of one check."""
        return (await self.examined(check, **changes)).rows

    async def row(self, check: str, **changes: object) -> Row:
        """Return the one row of a check."""
        (row,) = await self.rows(check, **changes)
        return row


def _changed(services: Services, changes: dict[str, object]) -> Services:
    cluster = {name: value for name, value in changes.items() if name in {"scheduler", "nodes"}}
    rest = {name: value for name, value in changes.items() if name not in cluster}
    hall = replace(services.clusters["hall"], **cluster)  # type: ignore[arg-type]
    if "cloud" in rest:
        hall = replace(hall, cloud=None)
    return replace(services, clusters={"hall": hall}, **rest)  # type: ignore[arg-type]


def outcomes(rows: tuple[Row, ...]) -> list[Outcome]:
    """Return how checks ended."""
    return [row.outcome for row in rows]
