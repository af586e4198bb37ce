"""How far the sources of a report are, for the message that shows it."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from bot.reports.slack.values import Progress as How
from bot.reports.slack.values import Source

_NAMES = ("scheduler", "log", "machines", "probes")
#: First word of what a check tells → the source that is read from then on.
_BEGINS: Mapping[str, str] = {
    "asking the": "scheduler",
    "reading": "log",
    "asking about": "machines",
    "probing": "probes",
}
_LOOKS, _PROBES = 1, 2


def _waiting() -> list[Source]:
    return [Source(name=name) for name in _NAMES]


@dataclass(kw_only=True)
class Progress:
    """The sources of one report, and an event that is set at each change."""

    sources: list[Source] = field(default_factory=_waiting)
    changed: asyncio.Event = field(default_factory=asyncio.Event)

    @classmethod
    def of(cls, *, level: int, job: bool, logs: bool, named: bool) -> Progress:
        """Return the sources of one check; what will not be asked says so from the start."""
        why = {
            "scheduler": "" if job else "not asked: no job is named",
            "log": "" if job or logs else "not read: only a machine is named",
            "machines": "" if level >= _LOOKS else "not asked: the bot runs on pastes alone",
            "probes": _no_probes(level, job=job, named=named),
        }
        found = [
            Source(name=name, progress=How.SKIPPED, said=why[name])
            if why[name]
            else Source(name=name)
            for name in _NAMES
        ]
        return cls(sources=found)

    def tell(self, doing: str) -> None:
        """Hear what a check does now: what it did before is done, what it left out is skipped."""
        name = next((name for start, name in _BEGINS.items() if doing.startswith(start)), "")
        if not name:
            return
        at = _NAMES.index(name)
        for place, source in enumerate(self.sources):
            if place < at:
                over = How.DONE if source.progress is How.READING else How.SKIPPED
                known = source.progress in {How.DONE, How.SKIPPED}
                self.sources[place] = source if known else replace(source, progress=over)
        self.sources[at] = replace(self.sources[at], progress=How.READING, said=doing)
        self.changed.set()


def _no_probes(level: int, *, job: bool, named: bool) -> str:
    if level < _PROBES:
        return "not asked: no SSH account is set"
    return "" if job or named else "not asked: a paste alone starts none"
