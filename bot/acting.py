"""Where approved steps get what they act with: the repair account, and the durable engine."""

from __future__ import annotations

import fcntl
import secrets
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path

from bot.app import ssh_options
from bot.hosts.grants import BACKING_UP, REPAIRING
from bot.hosts.ssh.backups import SshBackups, ssh_backups
from bot.hosts.ssh.hosts import SshHosts, ssh_hosts
from bot.hosts.ssh.options import Keys
from bot.incidents.store import Store
from bot.recovery.carrying import Carrier
from bot.recovery.doing import Tools, Waits
from bot.recovery.limits import Blast
from bot.recovery.proposing import Proposer
from bot.recovery.service import Recovery, shut
from bot.settings import Level, Settings
from bot.triage.services import Services
from bot.triage.world import FleetWorld


@asynccontextmanager
async def repair_account(settings: Settings) -> AsyncIterator[SshHosts | None]:
    """Open the machines as the repair account reaches them; None where no such account is set.

    Raises HostSetupError where its keys or known hosts cannot be used. Nobody is asked here.
    """
    ssh = settings.ssh
    if ssh is None or ssh.repair is None:
        yield None
        return
    options = replace(
        ssh_options(settings, ssh),
        user=ssh.repair.user,
        keys=Keys(files=ssh.repair.keys, agent=ssh.agent),
        sudo=True,
        helper=REPAIRING.path,
    )
    async with ssh_hosts(options) as hosts:
        yield hosts


async def carried_out(settings: Settings, store: Store) -> bool:
    """Tell whether some process carries out what is approved now; raises StoreError.

    On SQLite one holds the lock beside the engine's file; on PostgreSQL replicas say so.
    """
    url = settings.engine_url
    if not url.startswith("sqlite"):
        return await store.leases.anybody()
    path = Path(url.partition("///")[2])
    try:
        with path.with_name(f"{path.name}.lock").open("r") as lock:
            fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except FileNotFoundError:
        return False
    except OSError:
        return True
    return False


@asynccontextmanager
async def backup_account(settings: Settings) -> AsyncIterator[SshBackups | None]:
    """Open the machines as the backup account reaches them; None where no such account is set.

    Raises HostSetupError where its keys or known hosts cannot be used. Nobody is asked here.
    """
    ssh = settings.ssh
    if ssh is None or ssh.backup is None:
        yield None
        return
    options = replace(
        ssh_options(settings, ssh),
        user=ssh.backup.user,
        keys=Keys(files=ssh.backup.keys, agent=ssh.agent),
        sudo=True,
        helper=BACKING_UP.path,
    )
    async with ssh_backups(options) as found:
        yield found


@asynccontextmanager
async def recovering(settings: Settings, services: Services) -> AsyncIterator[Recovery | None]:
    """Open what carries out approved steps; None below the level that acts.

    Raises StoreError where another process does so already on the same SQLite file.
    """
    store = services.store
    if settings.level < Level.ACT or store is None:
        yield None
        return
    # a second to load, and only this needs it
    from bot.recovery.engine.dbos_engine import DbosEngine, open_engine

    waits, actions = settings.waits, settings.actions
    replica = f"{socket.gethostname()}-{secrets.token_hex(4)}"
    opened: list[DbosEngine] = []
    async with repair_account(settings) as mends, backup_account(settings) as saves:
        world = FleetWorld(services=services, store=store, mends=mends, saves=saves)
        tools = Tools(
            store=store,
            world=world,
            me=replica,
            holds=lambda: bool(opened) and opened[0].holds(),
            shut=partial(shut, store),
            waits=Waits(
                look=waits.look,
                operation=waits.operation,
                boot=waits.boot,
                settle=waits.settle,
                again=waits.verify_again,
            ),
        )
        blast = Blast(at_once=actions.at_once, an_hour=actions.an_hour)
        carrier = Carrier(tools=tools, limits=services.limits, blast=blast)
        async with open_engine(
            settings.engine_url, carrier.carry, replica=replica, leases=store.leases
        ) as engine:
            opened.append(engine)
            proposer = Proposer(
                store=store,
                world=world,
                limits=services.limits,
                waits=waits.approval,
                two_people=actions.by_two,
            )
            yield Recovery(store=store, engine=engine, proposer=proposer)
