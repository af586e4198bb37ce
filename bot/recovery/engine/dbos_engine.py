"""DBOS Transact behind the port: the only module that knows it.

What it does not do by itself is here: one process to a SQLite file, and the takeover of what a dead
replica has left (open-source DBOS goes on only under the same executor id).
"""

from __future__ import annotations

import asyncio
import fcntl
import logging
import sqlite3
import time
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, contextmanager, suppress
from datetime import timedelta
from functools import cache
from pathlib import Path
from typing import Any

from dbos import DBOS, DBOSConfig, DBOSPortableJSONSerializer, SetWorkflowID, StepOptions
from dbos import error as dbos_errors
from sqlalchemy import Engine as SqlEngine
from sqlalchemy import create_engine, event
from sqlalchemy.engine.interfaces import DBAPIConnection

from bot.errors import BotError, StoreError
from bot.incidents.leases import Leases
from bot.recovery.engine.port import Carry, Durable, Engine, Part, Status

_LOG = logging.getLogger(__name__)
#: The shape of the recorded parts. DBOS leaves alone what was begun under another version, so it
#: changes only together with the workflow's name, and the old workflow stays until it is drained.
_VERSION = "1"
_WORKFLOW = "carry_out_v1"
#: A chain that takes its process down is tried so often, deploys included; then somebody is told.
_MOST_RECOVERIES = 5
_THREADS = 16
#: A replica that says nothing for so long is taken for dead.
TTL = timedelta(seconds=20)
#: From this share of it on, it no longer trusts that it has not been.
_SURE = 0.8
_STOP_S = 10
_STATUSES = {
    "PENDING": Status.RUNNING,
    "ENQUEUED": Status.RUNNING,
    "DELAYED": Status.RUNNING,
    "SUCCESS": Status.DONE,
    "CANCELLED": Status.CANCELLED,
}
#: `unixepoch('subsec')` is newer than the SQLite of Debian 12.
_SUBSECONDS = (3, 42)


class _DbosDurable(Durable):
    """The workflow that runs in this task."""

    async def once(self, name: str, part: Part) -> Any:  # noqa: ANN401
        """Do a part as a step of the workflow."""

        async def step() -> Any:  # noqa: ANN401 - DBOS asks whether it is a coroutine function
            return await part()

        return await DBOS.run_step_async(StepOptions(name=name), step)

    async def sleep(self, lasting: timedelta) -> None:
        """Wait durably."""
        await DBOS.sleep_async(lasting.total_seconds())


#: What the one workflow calls; DBOS registers functions for the life of the process.
_CARRIES: list[Carry] = []


@cache
def _workflow() -> Any:  # noqa: ANN401 - DBOS's own wrapper
    @DBOS.workflow(name=_WORKFLOW, max_recovery_attempts=_MOST_RECOVERIES)
    async def carry_out(approval_id: str) -> None:
        await _CARRIES[-1](_DbosDurable(), approval_id)

    return carry_out


class DbosEngine(Engine):
    """Chains as workflows of DBOS, on its SQLite or PostgreSQL."""

    def __init__(self, replica: str, leases: Leases | None) -> None:
        #: executor id, never used again by another process where there may be several
        self.replica = replica
        self._leases = leases
        self._sure_until = 0.0

    async def start(self, approval_id: str) -> None:
        """Start a chain under its approval's id; the same id again is the same chain."""
        with SetWorkflowID(approval_id), _explained():
            await DBOS.start_workflow_async(_workflow(), approval_id)

    async def status(self, approval_id: str) -> Status:
        """Return where a chain stands."""
        with _explained():
            found = await DBOS.get_workflow_status_async(approval_id)
        return Status.UNKNOWN if found is None else _STATUSES.get(found.status, Status.BROKEN)

    async def cancel(self, approval_id: str) -> None:
        """Begin no further part of a chain."""
        with _explained():
            await DBOS.cancel_workflow_async(approval_id)

    async def wait(self, approval_id: str) -> None:
        """Return once a chain has ended."""
        with suppress(dbos_errors.DBOSException):
            handle: Any = await DBOS.retrieve_workflow_async(approval_id)
            with suppress(Exception):  # whatever ended it: `status` tells
                await handle.get_result()

    def holds(self) -> bool:
        """Tell whether the last sign of life is recent enough that nobody has taken over."""
        return self._leases is None or time.monotonic() < self._sure_until

    # -- replicas

    async def beat(self) -> None:
        """Say that this replica is alive."""
        if self._leases is None:
            return
        began = time.monotonic()
        await self._leases.beat(self.replica, TTL)
        self._sure_until = began + TTL.total_seconds() * _SURE

    async def take_over(self) -> tuple[str, ...]:
        """Go on with what dead replicas have left, and return which those were."""
        if self._leases is None:
            return ()
        found = await DBOS.list_workflows_async(
            status="PENDING", name=_WORKFLOW, load_input=False, load_output=False
        )
        others = {one.executor_id for one in found if one.executor_id} - {self.replica}
        dead = tuple(sorted(await self._leases.dead(others)))
        if dead:
            _LOG.warning("going on with what %s left", ", ".join(dead))
            # two survivors may try: DBOS lets one of them have each workflow
            await asyncio.to_thread(DBOS._recover_pending_workflows, list(dead))  # noqa: SLF001
        return dead

    async def broken(self) -> tuple[str, ...]:
        """Return the chains that ended in an error of ours or took their process down too often."""
        found = await DBOS.list_workflows_async(
            status=["ERROR", "MAX_RECOVERY_ATTEMPTS_EXCEEDED"], name=_WORKFLOW, load_input=False,
            load_output=False,
        )  # fmt: skip
        return tuple(one.workflow_id for one in found)

    async def forget(self, older_than: timedelta) -> int:
        """Delete what ended longer ago; return how many chains those were."""
        before = time.time() - older_than.total_seconds()
        found = await DBOS.list_workflows_async(
            status=["SUCCESS", "ERROR", "CANCELLED", "MAX_RECOVERY_ATTEMPTS_EXCEEDED"],
            load_input=False, load_output=False, limit=500,
        )  # fmt: skip
        old = [one.workflow_id for one in found if (one.updated_at or 0) / 1000 < before]
        if old:
            await DBOS.delete_workflows_async(old)
        return len(old)


@asynccontextmanager
async def open_engine(
    url: str, carry: Carry, *, replica: str, leases: Leases
) -> AsyncIterator[DbosEngine]:
    """Open the engine at a database URL, go on with what was begun, and close it at the end.

    `sqlite:///path` is for one process: a second one raises StoreError. On `postgresql://…`
    replicas share it, its tables in the schema `dbos`. `replica` must never be used twice there.
    """
    sqlite = url.startswith("sqlite")
    with _alone(url) if sqlite else _shared():
        logger = logging.getLogger("dbos")
        logger.addHandler(logging.NullHandler())  # else it prints by itself
        logger.setLevel(logging.WARNING)
        engine = DbosEngine("local" if sqlite else replica, None if sqlite else leases)
        await engine.beat()  # before it launches: what it begins is looked for by others
        _CARRIES.append(carry)
        _workflow()
        try:
            with _explained():
                DBOS(config=_config(url, engine.replica, sqlite=sqlite))
                # in this loop: what it recovers must not run on a loop of its own
                DBOS.launch()
            async with _living(engine):
                yield engine
        finally:
            await asyncio.to_thread(DBOS.destroy, workflow_completion_timeout_sec=_STOP_S)
            # DBOS put its own pool into the loop, and has shut it down: others still need threads
            asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(_THREADS))
            _CARRIES.remove(carry)
            if not sqlite:
                with suppress(BotError):
                    await leases.leave(engine.replica)


def _config(url: str, replica: str, *, sqlite: bool) -> DBOSConfig:
    config = DBOSConfig(
        name="nccl-dns",
        application_version=_VERSION,
        executor_id=replica,
        serializer=DBOSPortableJSONSerializer(),
        max_executor_threads=_THREADS,
        log_level="WARNING",
        system_database_url=_plain(url),
    )
    if sqlite:
        config["system_database_engine"] = _sqlite(url)
        config["notification_listener_polling_interval_sec"] = 1.0
    return config


def _plain(url: str) -> str:
    """Return a URL for the synchronous drivers that DBOS uses."""
    scheme, _, rest = url.partition("://")
    kind = scheme.partition("+")[0]
    return f"{'postgresql' if kind == 'postgres' else kind}://{rest}"


def _sqlite(url: str) -> SqlEngine:
    engine = create_engine(_plain(url), connect_args={"isolation_level": "IMMEDIATE"})

    @event.listens_for(engine, "connect")
    def connected(connection: DBAPIConnection, _record: object) -> None:
        if isinstance(connection, sqlite3.Connection) and sqlite3.sqlite_version_info < _SUBSECONDS:
            connection.create_function("unixepoch", 1, lambda _mode: round(time.time(), 3))
        cursor = connection.cursor()
        for pragma in (
            "busy_timeout=30000", "foreign_keys=ON", "journal_mode=WAL", "synchronous=FULL",
        ):  # fmt: skip
            cursor.execute(f"PRAGMA {pragma}")
        cursor.close()

    return engine


@contextmanager
def _alone(url: str) -> Iterator[None]:
    """Hold the lock of a SQLite file: two processes under one executor id would run all twice."""
    path = Path(url.partition("///")[2])
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    path.touch(mode=0o600)
    with path.with_name(f"{path.name}.lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise StoreError(
                f"Another nccl-dns carries out steps with {path}: stop that one, or set store.url "
                "to a PostgreSQL database, which several can share."
            ) from error
        yield


@contextmanager
def _shared() -> Iterator[None]:
    yield


@asynccontextmanager
async def _living(engine: DbosEngine) -> AsyncIterator[None]:
    """Beat, and take over from the dead, beside the block."""

    async def live() -> None:
        rounds = 0
        while True:
            await asyncio.sleep(TTL.total_seconds() / 5)
            try:
                await engine.beat()
                rounds += 1
                if rounds % 2 == 0:
                    await engine.take_over()
            except (BotError, dbos_errors.DBOSException) as error:
                _LOG.error("no sign of life was given: %s", error)

    living = asyncio.create_task(live())
    try:
        yield
    finally:
        living.cancel()
        await asyncio.gather(living, return_exceptions=True)


@contextmanager
def _explained() -> Iterator[None]:
    try:
        yield
    except dbos_errors.DBOSException as error:
        raise StoreError(f"The durable engine does not answer as it should: {error}") from error
