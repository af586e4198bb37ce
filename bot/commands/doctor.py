"""`nccl-dns doctor`: settings, services, all checks."""

from __future__ import annotations

import asyncio
from pathlib import Path

from bot.app import build, whose_key
from bot.doctor.look import Look
from bot.doctor.model import Checkup
from bot.doctor.run import examine
from bot.settings import Settings, config_path, load


def run(config: Path | None) -> Checkup:
    """Check what the settings name; raises SettingsError where they cannot be read at all."""
    found = config_path(config)
    return asyncio.run(_examined(load(found), found))


async def _examined(settings: Settings, found: Path | None) -> Checkup:
    async with build(settings) as services:
        return await examine(
            Look(
                settings=settings,
                config=found,
                services=services,
                whose_key=lambda: whose_key(settings),
            )
        )
