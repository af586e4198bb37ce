"""Share a length among rows or columns so that those that stand out can be seen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

#: The part of the length that those that stand out may take from the others.
_MOST = 0.6


@dataclass(frozen=True, slots=True)
class Stripe:
    """Where one row or column lies, in pixels from the first."""

    at: int
    start: float
    end: float
    #: it stands out
    bad: bool


def stripes(bad: Sequence[bool], length: float, wanted: float) -> list[Stripe]:
    """Return a stripe for each, over the whole length, in order.

    Those that stand out get the wanted thickness as long as they take no more than three fifths of
    the length, and never less than the others.
    """
    if not bad:
        return []
    many, even = sum(bad), length / len(bad)
    thick = even
    if 0 < many < len(bad):
        thick = max(even, min(wanted, _MOST * length / many))
    thin = (length - many * thick) / (len(bad) - many) if many < len(bad) else even
    found, start = [], 0.0
    for at, one in enumerate(bad):
        end = start + (thick if one else thin)
        found.append(Stripe(at, start, end, one))
        start = end
    return found
