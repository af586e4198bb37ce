"""A cloud under test together with the hand that changes its world."""

from __future__ import annotations

import uuid
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from bot.clouds.crusoe.cloud import CrusoeCloud, open_session
from bot.clouds.crusoe.credentials import Credentials
from bot.clouds.crusoe.endpoint import endpoint
from bot.clouds.crusoe.session import Session
from bot.clouds.memory import MemoryCloud
from bot.clouds.model import PublicAddress, Vm, state_of
from bot.clouds.port import Cloud
from playground.crusoe.judge import Key
from playground.crusoe.server import CrusoeServer, running
from tests.clock import Clock

#: A secret that a decoder of the standard alphabet gets wrong.
KEY = Key(access_key_id="EXAMPLEKEYID0001", secret_key="----ABEiM0RVZneImaq7zN3u_w")  # noqa: S106
CREDENTIALS = Credentials(access_key_id=KEY.access_key_id, secret_key=KEY.secret_key)

#: Seconds after which every operation of a lab has ended.
LONG = 60


class Lab(ABC):
    """One cloud, its clock and what can be done to its world."""

    cloud: Cloud
    clock: Clock
    project: str

    @abstractmethod
    def add(self, name: str, *, state: str = "STATE_RUNNING", public_ip: str = "") -> str:
        """Add a VM and return its id."""

    @abstractmethod
    def show(self, vm_id: str, word: str) -> None:
        """Let the cloud show this word for a VM's state."""

    @abstractmethod
    def fail_next(self, code: str, message: str) -> None:
        """Let the next operation to end fail."""

    @abstractmethod
    def forget_operations(self) -> None:
        """Let the cloud lose all operations; those under way take effect."""


class MemoryLab(Lab):
    """The adapter in memory."""

    def __init__(self) -> None:
        self.clock = Clock()
        self.project = "project-1"
        self.cloud = self.memory = MemoryCloud(timing=self.clock.timing)

    def add(self, name: str, *, state: str = "STATE_RUNNING", public_ip: str = "") -> str:
        """Add a VM and return its id."""
        vm = Vm(
            id=str(uuid.uuid4()),
            name=name,
            type="h100-80gb-sxm-ib.8x",
            location="us-east1-a",
            project=self.project,
            state=state_of(state),
            raw_state=state,
            private_ips=("172.27.0.5",),
            public_ips=(PublicAddress(address=public_ip, kind="dynamic"),) if public_ip else (),
            read_at=self.clock.now,
        )
        self.memory.put(vm)
        return vm.id

    def show(self, vm_id: str, word: str) -> None:
        """Let the cloud show this word for a VM's state."""
        self.memory.set_state(vm_id, word)

    def fail_next(self, code: str, message: str) -> None:
        """Let the next operation to end fail."""
        self.memory.fail_next(code, message)

    def forget_operations(self) -> None:
        """Let the cloud lose all operations."""
        self.memory.forget_operations()


class CrusoeLab(Lab):
    """The client and a local server, which share a clock and a socket but no code that signs."""

    def __init__(self, server: CrusoeServer, session: Session, clock: Clock) -> None:
        self.server = server
        self.session = session
        self.clock = clock
        self.project = server.world.add_project("training")
        self.cloud = self.crusoe = CrusoeCloud(session, project=self.project)

    def add(self, name: str, *, state: str = "STATE_RUNNING", public_ip: str = "") -> str:
        """Add a VM and return its id."""
        world = self.server.world
        return world.add_vm(name, project=self.project, state=state, public_ip=public_ip).id

    def show(self, vm_id: str, word: str) -> None:
        """Let the cloud show this word for a VM's state."""
        self.server.world.machines[vm_id].state = word

    def fail_next(self, code: str, message: str) -> None:
        """Let the next operation to end fail."""
        self.server.world.fail_next(code, message)

    def forget_operations(self) -> None:
        """Let the cloud lose all operations."""
        self.server.world.forget_operations()


@asynccontextmanager
async def crusoe_lab() -> AsyncIterator[CrusoeLab]:
    """Run a server and open a client to it."""
    clock = Clock()
    async with (
        running(keys=[KEY], timing=clock.other_side) as server,
        open_session(endpoint(server.base_url), CREDENTIALS, timing=clock.timing) as session,
    ):
        yield CrusoeLab(server, session, clock)
