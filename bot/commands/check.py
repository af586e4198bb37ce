"""`nccl-dns check`: settings, services, one check."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from bot.app import build
from bot.diagnosis import Launch
from bot.errors import UsageError
from bot.inputs import sources
from bot.reports.waiting import doing
from bot.settings import Settings, load
from bot.triage.case import Asked
from bot.triage.check import check
from bot.triage.model import Checked


def run(
    given: Sequence[str],
    *,
    named: tuple[str, ...],
    launch: Launch | None,
    config: Path | None,
    notice: Callable[[str], None],
) -> Checked:
    """Check what a person gave; raises a BotError with a sentence for whatever cannot be used."""
    job, logs = sorted_out(given)
    asked = Asked(job=job, logs=sources(logs, notice=notice), launch=launch, named=named)
    with doing(shown=sys.stderr.isatty()) as tell:
        return asyncio.run(_checked(load(config), asked, tell))


async def _checked(settings: Settings, asked: Asked, tell: Callable[[str], None]) -> Checked:
    async with build(settings) as services:
        return await check(services, asked, tell)


def sorted_out(given: Sequence[str]) -> tuple[str | None, list[str]]:
    """Tell job IDs from log files: what exists as a file, or looks like a path, is a log.

    Raises UsageError for more than one job.
    """
    logs = [word for word in given if _is_log(word)]
    jobs = [word for word in given if word not in logs]
    if len(jobs) > 1:
        message = (
            f"{', '.join(jobs[:3])} are no files, so they are taken for job IDs, and one job is "
            "checked at a time."
        )
        raise UsageError(message)
    return (jobs[0] if jobs else None), logs


def _exists(word: str) -> bool:
    try:
        return Path(word).exists()
    except (OSError, ValueError):
        # longer than any file's name may be, or with a zero byte in it
        return False


def _is_log(word: str) -> bool:
    if word == "-" or _exists(word):
        return True
    pathlike = word.startswith(("/", "./", "../", "~")) or word.endswith((".log", ".out", ".err"))
    return pathlike and "://" not in word
