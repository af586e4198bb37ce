"""What the server serves: projects, VMs and operations that take time by a given clock."""

from __future__ import annotations

import itertools
import uuid
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from bot.clouds.timing import Timing

#: The state that each action ends in. RESET goes through no state of its own.
ENDS_IN = {"START": "STATE_RUNNING", "STOP": "STATE_SHUTOFF", "RESET": "STATE_RUNNING"}

#: Names are drawn from one fixed space, so that a world made twice has the same ids.
NAMES = uuid.UUID("6f9f3c7e-40f7-4f0a-9a4a-0c1d5b1b7c11")

Json = dict[str, object]


def stamp(when: datetime | None) -> str:
    """Write a time as the API does; an absent one is empty."""
    return "" if when is None else when.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


@dataclass(kw_only=True)
class Machine:
    """One VM."""

    id: str
    name: str
    project: str
    private_ip: str
    public_ip: str = ""
    #: `dynamic` is another one after a start, `static` stays
    public_kind: str = "dynamic"
    type: str = "h100-80gb-sxm-ib.8x"
    location: str = "us-east1-a"
    state: str = "STATE_RUNNING"
    billing: str = "On-demand"
    created_at: datetime
    updated_at: datetime

    def shown(self) -> Json:
        """Return it as an InstanceV1 with every required field."""
        public: Json = {"address": self.public_ip, "id": "", "type": self.public_kind}
        return {
            "id": self.id,
            "project_id": self.project,
            "name": self.name,
            "type": self.type,
            "state": self.state,
            "location": self.location,
            "created_at": stamp(self.created_at),
            "updated_at": stamp(self.updated_at),
            "billing_type": self.billing,
            "maintenance_policy": "manual",
            "disks": [],
            "host_channel_adapters": [],
            "network_interfaces": [
                {
                    "id": str(uuid.uuid5(NAMES, f"nic {self.id}")),
                    "name": "eth0",
                    "network": str(uuid.uuid5(NAMES, "network")),
                    "subnet": str(uuid.uuid5(NAMES, "subnet")),
                    "interface_type": "ethernet",
                    "mac_address": "00:00:5e:00:53:01",
                    "external_dns_name": "",
                    "ips": [{"private_ipv4": {"address": self.private_ip}, "public_ipv4": public}],
                }
            ],
        }


@dataclass(kw_only=True)
class Work:
    """One operation."""

    id: str
    vm: Machine
    action: str
    user: str
    #: the VM's state when it began
    before: str
    started_at: datetime
    #: when it will have ended
    due: datetime
    state: str = "IN_PROGRESS"
    completed_at: datetime | None = None
    result: Json | None = None
    #: an operation that was asked for after its end leaves the list
    queried: bool = False

    def shown(self) -> Json:
        """Return it as an Operation; `metadata` is what clients have seen."""
        return {
            "operation_id": self.id,
            "state": self.state,
            "metadata": {
                "operation_name": f"vms.instances.{self.action.lower()}",
                "id": self.vm.id,
                "type": "vm",
                "request": {"action": self.action},
            },
            "result": self.result,
            "started_at": stamp(self.started_at),
            "completed_at": stamp(self.completed_at),
        }


@dataclass(kw_only=True)
class World:
    """Everything that the server knows."""

    timing: Timing
    projects: dict[str, str] = field(default_factory=dict)
    machines: dict[str, Machine] = field(default_factory=dict)
    works: dict[str, Work] = field(default_factory=dict)
    #: how long an operation takes, and how long it can be asked for after its end
    takes: timedelta = timedelta(seconds=20)
    kept: timedelta = timedelta(hours=1)
    #: states to show while an operation runs; without one the old state stays
    shows: dict[str, str] = field(default_factory=dict)
    #: called with each VM and the action that has just taken effect on it
    on_effect: Callable[[Machine, str], None] | None = None
    _failures: list[tuple[str, str]] = field(default_factory=list)
    _numbers: itertools.count[int] = field(default_factory=lambda: itertools.count(1))

    def add_project(self, name: str) -> str:
        """Add a project and return its id."""
        project = str(uuid.uuid5(NAMES, f"project {name}"))
        self.projects[project] = name
        return project

    def add_vm(self, name: str, *, project: str, public_ip: str = "", **more: str) -> Machine:
        """Add a VM of this name, which need not be the only one, and return it."""
        number = next(self._numbers)
        now = self.timing.now()
        machine = Machine(
            id=str(uuid.uuid5(NAMES, f"vm {number}")),
            name=name,
            project=project,
            private_ip=more.pop("private_ip", f"172.27.{number // 250}.{number % 250 + 5}"),
            public_ip=public_ip,
            created_at=now,
            updated_at=now,
            **more,
        )
        self.machines[machine.id] = machine
        return machine

    def begin(self, machine: Machine, action: str, *, user: str) -> Work | None:
        """Begin an action; None where another one is under way on the VM."""
        self.settle()
        if any(work.vm is machine and work.state == "IN_PROGRESS" for work in self.works.values()):
            return None
        now = self.timing.now()
        work = Work(
            id=str(uuid.uuid5(NAMES, f"operation {next(self._numbers)}")).upper(),
            vm=machine,
            action=action,
            user=user,
            before=machine.state,
            started_at=now,
            due=now + self.takes,
        )
        self.works[work.id] = work
        machine.state = self.shows.get(action, machine.state)
        return work

    def fail_next(self, code: str, message: str) -> None:
        """Let the next operation to end fail, such as with `out_of_stock`."""
        self._failures.append((code, message))

    def forget_operations(self) -> None:
        """Lose every operation; those under way take effect all the same."""
        for work in self.works.values():
            if work.state == "IN_PROGRESS":
                self._take_effect(work)
        self.works.clear()

    def settle(self) -> None:
        """Bring to an end what has had its time, and drop what is too old to be asked for."""
        now = self.timing.now()
        for work in list(self.works.values()):
            if work.state == "IN_PROGRESS" and now >= work.due:
                self._end(work)
            elif work.completed_at and now > work.completed_at + self.kept:
                del self.works[work.id]

    def _end(self, work: Work) -> None:
        work.completed_at = work.due
        if self._failures:
            code, message = self._failures.pop(0)
            work.state, work.result = "FAILED", {"code": code, "message": message}
            work.vm.state = work.before
            return
        work.state, work.result = "SUCCEEDED", {}
        self._take_effect(work)

    def _take_effect(self, work: Work) -> None:
        machine = work.vm
        if work.action == "START" and machine.state != "STATE_RUNNING":
            self._new_address(machine)
        machine.state = ENDS_IN[work.action]
        machine.updated_at = self.timing.now()
        if self.on_effect:
            self.on_effect(machine, work.action)

    def _new_address(self, machine: Machine) -> None:
        """Give a started VM another address, unless it has none or a static one."""
        if machine.public_ip and machine.public_kind == "dynamic":
            machine.public_ip = f"198.51.100.{next(self._numbers) % 250 + 1}"
