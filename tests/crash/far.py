"""What outlives a killed bot: the cloud, the machines and the scheduler, and what they were sent.

One SQLite file. What a killed process has written there stays, as what it has sent to a real cloud
would; whoever asks afterwards sees what became of it.
"""

from __future__ import annotations

import sqlite3
import time
import uuid
from collections.abc import Collection, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from bot.clouds.errors import VmBusyError, VmNotFoundError
from bot.clouds.model import Action, Operation, OperationState, Vm, state_of
from bot.clouds.port import Cloud
from bot.schedulers.errors import NotOursError

_TABLES = """
CREATE TABLE IF NOT EXISTS vms (
    name TEXT PRIMARY KEY, state TEXT, boot TEXT, resolver TEXT, drained TEXT DEFAULT ''
);
CREATE TABLE IF NOT EXISTS operations (
    id TEXT PRIMARY KEY, vm TEXT, action TEXT, due REAL, over INTEGER DEFAULT 0
);
CREATE TABLE IF NOT EXISTS sent (at REAL, vm TEXT, call TEXT, by INTEGER);
"""
#: How long an operation of the cloud takes, in seconds.
_TAKES_S = 0.15
_ENDS = {"START": "STATE_RUNNING", "STOP": "STATE_SHUTOFF", "RESET": "STATE_RUNNING"}
#: The state that an action needs, as Crusoe refuses others.
_NEEDS = {"START": "STATE_SHUTOFF", "STOP": "STATE_RUNNING", "RESET": "STATE_RUNNING"}


@dataclass(frozen=True, kw_only=True)
class Far:
    """The far side, as one process sees it."""

    path: Path
    #: who is calling: a process id
    me: int = 0

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """Yield a transaction in which what is due has taken effect."""
        with closing(sqlite3.connect(self.path, isolation_level=None, timeout=30)) as connection:
            connection.execute("PRAGMA journal_mode=WAL")
            connection.executescript(_TABLES)
            connection.execute("BEGIN IMMEDIATE")
            _settle(connection)
            yield connection
            connection.execute("COMMIT")

    def add(self, name: str) -> None:
        """Add a VM that runs and whose resolver has failed."""
        with self.writing() as connection:
            row = (name, "STATE_RUNNING", uuid.uuid4().hex, "failed")
            connection.execute("INSERT INTO vms VALUES (?, ?, ?, ?, '')", row)

    def vm(self, name: str) -> dict[str, Any]:
        """Return a VM's row."""
        with self.writing() as connection:
            connection.row_factory = sqlite3.Row
            row = connection.execute("SELECT * FROM vms WHERE name = ?", (name,)).fetchone()
        return dict(row)

    def sent(self, name: str) -> list[str]:
        """Return the calls that changed a VM, in order."""
        with self.writing() as connection:
            rows = connection.execute("SELECT call FROM sent WHERE vm = ? ORDER BY rowid", (name,))
            return [row[0] for row in rows]

    def note(self, connection: sqlite3.Connection, name: str, call: str) -> None:
        """Keep that a call came."""
        connection.execute(
            "INSERT INTO sent VALUES (?, ?, ?, ?)", (time.time(), name, call, self.me)
        )

    def restart_resolver(self, name: str) -> None:
        """Do what the repair account does for rung 1."""
        with self.writing() as connection:
            self.note(connection, name, "restart_resolver")
            connection.execute("UPDATE vms SET resolver = 'active' WHERE name = ?", (name,))

    def reboot(self, name: str) -> None:
        """Do what the repair account does for rung 2."""
        with self.writing() as connection:
            self.note(connection, name, "reboot")
            _booted(connection, name)

    def drain(self, name: str, reason: str) -> bool:
        """Drain a node; return whether it was already, for the same reason."""
        with self.writing() as connection:
            row = connection.execute("SELECT drained FROM vms WHERE name = ?", (name,)).fetchone()
            if row[0]:
                return True
            self.note(connection, name, "drain")
            connection.execute("UPDATE vms SET drained = ? WHERE name = ?", (reason, name))
            return False

    def resume(self, name: str) -> None:
        """Give a node back; raises NotOursError where no drain of ours is on it."""
        if not self.vm(name)["drained"]:
            raise NotOursError(f"{name} is not drained.")
        with self.writing() as connection:
            self.note(connection, name, "resume")
            connection.execute("UPDATE vms SET drained = '' WHERE name = ?", (name,))


def _booted(connection: sqlite3.Connection, name: str) -> None:
    values = (uuid.uuid4().hex, name)
    connection.execute("UPDATE vms SET boot = ?, resolver = 'active' WHERE name = ?", values)


def _settle(connection: sqlite3.Connection) -> None:
    due = connection.execute(
        "SELECT id, vm, action FROM operations WHERE over = 0 AND due <= ?", (time.time(),)
    ).fetchall()
    for operation, vm, action in due:
        connection.execute("UPDATE operations SET over = 1 WHERE id = ?", (operation,))
        connection.execute("UPDATE vms SET state = ? WHERE name = ?", (_ENDS[action], vm))
        if action != "STOP":
            _booted(connection, vm)


@dataclass(frozen=True, kw_only=True)
class FarCloud(Cloud):
    """The cloud's API. A VM's id is its name."""

    far: Far

    async def list(
        self, *, names: Collection[str] | None = None, ids: Collection[str] | None = None
    ) -> tuple[Vm, ...]:
        """Return the VMs of these names or ids."""
        return tuple([await self.get(one) for one in {*(names or ()), *(ids or ())}])

    async def get(self, vm_id: str) -> Vm:
        """Return one VM."""
        with self.far.writing() as connection:
            row = connection.execute("SELECT state FROM vms WHERE name = ?", (vm_id,)).fetchone()
        if row is None:
            raise VmNotFoundError(f"There is no VM {vm_id}.")
        return Vm(
            id=vm_id, name=vm_id, type="h100", location="here", project="crash",
            state=state_of(row[0]), raw_state=row[0], read_at=datetime.now(UTC),
        )  # fmt: skip

    async def act(self, vm_id: str, action: Action) -> Operation:
        """Begin an action; refuses what the VM's state does not allow, as Crusoe does."""
        made = uuid.uuid4().hex
        with self.far.writing() as connection:
            one = (vm_id,)
            query = "SELECT 1 FROM operations WHERE vm = ? AND over = 0"
            busy = connection.execute(query, one).fetchone()
            (state,) = connection.execute("SELECT state FROM vms WHERE name = ?", one).fetchone()
            self.far.note(connection, vm_id, str(action))
            taken = not busy and state == _NEEDS[action]
            if taken:
                row = (made, vm_id, str(action), time.time() + _TAKES_S)
                connection.execute("INSERT INTO operations VALUES (?, ?, ?, ?, 0)", row)
        if not taken:
            raise VmBusyError(f"{vm_id} is {state}, {action} was not taken.")
        return await self.operation(made)

    async def operation(self, operation_id: str) -> Operation:
        """Return how far an operation is."""
        with self.far.writing() as connection:
            row = connection.execute(
                "SELECT id, vm, action, over FROM operations WHERE id = ?", (operation_id,)
            ).fetchone()
        return _operation(row)

    async def operations(self, vm_id: str) -> tuple[Operation, ...]:
        """Return a VM's operations."""
        with self.far.writing() as connection:
            rows = connection.execute(
                "SELECT id, vm, action, over FROM operations WHERE vm = ?", (vm_id,)
            ).fetchall()
        return tuple(map(_operation, rows))


def _operation(row: tuple[str, str, str, int]) -> Operation:
    state = OperationState.SUCCEEDED if row[3] else OperationState.IN_PROGRESS
    return Operation(
        id=row[0], vm_id=row[1], action=Action(row[2]), state=state, raw_state=str(state),
        read_at=datetime.now(UTC),
    )  # fmt: skip
