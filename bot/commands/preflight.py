"""`nccl-dns check --all`: who resolves whom, of all machines of a job."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable
from pathlib import Path

from bot.app import build
from bot.errors import InputError
from bot.reports.waiting import doing
from bot.settings import Settings, load
from bot.triage.preflight import Preflight, preflight


def run(*, job: str | None, nodes: str | None, config: Path | None) -> Preflight:
    """Ask every machine; raises a BotError with a sentence for whatever cannot be used."""
    with doing(shown=sys.stderr.isatty()) as tell:
        return asyncio.run(_asked(load(config), job, nodes, tell))


async def _asked(
    settings: Settings, job: str | None, nodes: str | None, tell: Callable[[str], None]
) -> Preflight:
    async with build(settings) as services:
        return await preflight(
            services,
            job=job,
            nodes=nodes,
            tell=lambda text, done, of: tell(f"{text}: {done} of {of}" if done else text),
        )


def picture(found: Preflight, path: Path) -> None:
    """Write the matrix as a PNG; raises InputError where the file cannot be written."""
    from bot.reports.picture import png

    try:
        path.write_bytes(png(found.matrix))
    except OSError as error:
        message = f"{path} cannot be written: {error.strerror}; name another file."
        raise InputError(message) from error


def show(found: Preflight, *, at_a_terminal: bool) -> None:
    """Print the matrix and what else is to be said."""
    from bot.reports import matrix
    from bot.reports.preflights import beside

    if at_a_terminal:
        matrix.show(found.matrix)
    else:
        sys.stdout.write(matrix.text(found.matrix))
    sys.stdout.write(beside(found))
