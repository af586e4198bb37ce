"""Who can resolve whom: every machine of a job as an observer of every name of the job. Pure.

A cell is one byte, for a job of a thousand machines has two million of them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from bot.diagnosis.names import short
from bot.hosts.model import Delays, Evidence
from bot.hosts.probes import LOOKUPS
from bot.hosts.readings import Lookups


class Seen(StrEnum):
    """What became of one name on one machine."""

    RESOLVED = "resolved"
    #: the resolver was told that there is no such name or address
    NONE = "told there is none"
    NO_ANSWER = "no answer"
    #: the machine's resolver failed for the first names, or the time was over
    NOT_ASKED = "not asked"
    #: the observer itself was not reached, so nothing is known
    NOT_REACHED = "not reached"


#: Cells: 0 is resolved, up to 127 getaddrinfo's code without its sign, above what has none.
_RESOLVED, _LAST_CODE, _LATE, _NOT_ASKED, _NOT_REACHED = 0, 127, 253, 254, 255
#: EAI_NONAME, EAI_NODATA, EAI_ADDRFAMILY (netdb.h of glibc); any other code is no answer.
_DENIALS = frozenset({2, 5, 9})
_NODATA = 5


def _seen(cell: int) -> Seen:
    if cell in _DENIALS:
        return Seen.NONE
    above = {_RESOLVED: Seen.RESOLVED, _NOT_ASKED: Seen.NOT_ASKED, _NOT_REACHED: Seen.NOT_REACHED}
    return above.get(cell, Seen.NO_ANSWER)


_SEEN: tuple[Seen, ...] = tuple(map(_seen, range(256)))


@dataclass(frozen=True, kw_only=True, slots=True)
class Observer:
    """One machine, and what became of every name there."""

    name: str
    #: one byte a name, in the order of the names
    cells: bytes
    reached: bool = True
    #: why it was not reached, or what is odd about its answer, a sentence
    why: str = ""
    delays: Delays = field(default_factory=Delays)

    def seen(self, at: int) -> Seen:
        """Return what became of the name with this index."""
        return _SEEN[self.cells[at]]

    def code(self, at: int) -> int | None:
        """Return getaddrinfo's code for the name with this index; None where it gave none."""
        cell = self.cells[at]
        return -cell if cell <= _LAST_CODE else None

    @property
    def clean(self) -> bool:
        """Tell whether every name resolved."""
        return not any(self.cells)

    @property
    def tally(self) -> Mapping[Seen, int]:
        """Return how many names came to what, only what there is."""
        return _tally(self.cells)


@dataclass(frozen=True, kw_only=True, slots=True)
class Matrix:
    """Observers by names."""

    #: short and full, in the order of the job
    names: tuple[str, ...]
    #: in the order of the job
    observers: tuple[Observer, ...]

    @property
    def wrong(self) -> bool:
        """Tell whether any name failed anywhere, or an observer was not reached."""
        return not all(one.clean for one in self.observers)

    @property
    def reached(self) -> tuple[Observer, ...]:
        """Return the observers that answered."""
        return tuple(one for one in self.observers if one.reached)

    @property
    def tally(self) -> Mapping[Seen, int]:
        """Return how many cells came to what, only what there is."""
        total: Counter[Seen] = Counter()
        for one in self.observers:
            total.update(one.tally)
        return total

    def column(self, at: int) -> Mapping[Seen, int]:
        """Return how many observers came to what for the name with this index."""
        return _tally(one.cells[at] for one in self.observers)

    def part(self, *, full: bool) -> tuple[int, ...]:
        """Return the indices of the full names, or of the short ones."""
        return tuple(at for at, name in enumerate(self.names) if is_full(name) is full)


def is_full(name: str) -> bool:
    """Tell whether a name is one with a domain."""
    return "." in name.rstrip(".")


def host_of(name: str) -> str:
    """Return the machine that a name of the job stands for, by its short name."""
    return short(name)


def observed(evidence: Evidence, names: Sequence[str]) -> Observer:
    """Return what one machine answered about these names; what else it says is let go."""
    found = evidence.read(LOOKUPS)
    if evidence.failure is not None or found is None:
        why = evidence.detail or f"{evidence.name} was let in, but did not answer for its names."
        return unreached(evidence.name, why, names, evidence.delays)
    return Observer(
        name=evidence.name,
        cells=bytes(_cell(found, name) for name in names),
        why=evidence.detail,
        delays=evidence.delays,
    )


def unreached(name: str, why: str, names: Sequence[str], delays: Delays | None = None) -> Observer:
    """Return a machine that told nothing, and why."""
    return Observer(
        name=name,
        cells=bytes([_NOT_REACHED]) * len(names),
        reached=False,
        why=why,
        delays=delays or Delays(),
    )


def _cell(found: Lookups, name: str) -> int:
    one = found.by_name.get(name)
    if one is None:
        return _NOT_ASKED if name in found.not_asked else _LATE
    if one.ok:
        return _RESOLVED
    return min(abs(one.code), _LAST_CODE) or _NODATA


def _tally(cells: Iterable[int]) -> Mapping[Seen, int]:
    total: Counter[Seen] = Counter()
    for cell, count in Counter(cells).items():
        total[_SEEN[cell]] += count
    return total
