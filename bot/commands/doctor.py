"""`nccl-dns doctor`: settings, services, all checks."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import replace
from pathlib import Path

from bot.acting import repair_account
from bot.app import build, network_of, whose_key
from bot.doctor.look import Look
from bot.doctor.model import Checkup
from bot.doctor.run import examine
from bot.doctor.table import CHECKS, Check
from bot.hosts.errors import HostSetupError
from bot.settings import Settings, config_path, load


def run(config: Path | None) -> Checkup:
    """Check what the settings name; raises SettingsError where they cannot be read at all."""
    found = config_path(config)
    return asyncio.run(examined(load(found), found))


async def examined(
    settings: Settings, found: Path | None, checks: Sequence[Check] = CHECKS
) -> Checkup:
    """Open what the settings name and check it; `found` is the file that they are from."""
    async with AsyncExitStack() as stack:
        network = network_of(settings)
        services = await stack.enter_async_context(build(settings, network=network))
        repairing = None
        try:
            repairing = await stack.enter_async_context(repair_account(settings))
        except HostSetupError as error:
            said = f"Nothing is repaired: {error}"
            services = replace(services, missing=(*services.missing, said))
        look = Look(
            settings=settings,
            config=found,
            services=services,
            whose_key=lambda: whose_key(settings),
            repairing=repairing,
            network=network,
        )
        return await examine(look, checks)
