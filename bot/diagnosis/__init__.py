"""From the bytes of a log to rank, host and cause.

Pure: no clock, no settings, no network. `scan` finds the lines that matter, `reading` turns them
into observations, `view` keeps who said what, `decide` holds the decision table, `explain` the
sentences.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from bot.diagnosis.model import Launch
from bot.diagnosis.result import Diagnosis
from bot.diagnosis.source import Source, of_bytes

__all__ = ["Diagnosis", "Launch", "Source", "diagnose", "diagnose_bytes", "of_bytes"]


def diagnose(
    sources: Iterable[Source],
    *,
    launch: Launch | None = None,
    believe_names: bool = True,
    on_bytes: Callable[[int], None] | None = None,
) -> Diagnosis:
    """Diagnose one job from one or more logs of it.

    `believe_names`: whether file names may tell rank and host. `on_bytes` is called with the size
    of every read of the first look, for a progress bar. Never raises on any content; errors of
    opening or decompressing a source pass through.
    """
    from bot.diagnosis.run import run

    return run(list(sources), launch=launch, believe_names=believe_names, on_bytes=on_bytes)


def diagnose_bytes(data: bytes, *, launch: Launch | None = None) -> Diagnosis:
    """Diagnose a paste."""
    return diagnose([of_bytes(data)], launch=launch)
