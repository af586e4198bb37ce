"""Matrices made by hand: which machines and which names are broken, and how."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from bot.hosts.matrix import Matrix, Observer, unreached

DOMAIN = "cluster.internal"
#: Cells: told that there is none (-2), no answer (-3), no answer in time, not asked.
NONE, AGAIN, LATE, NOT_ASKED = 2, 3, 253, 254


def names_of(machines: int) -> tuple[str, ...]:
    """Return the names of node-0, node-1, …, short and full by turns."""
    return tuple(name for at in range(machines) for name in (f"node-{at}", f"node-{at}.{DOMAIN}"))


def matrix(
    machines: int,
    *,
    observers: int | None = None,
    sick: Mapping[int, int] | None = None,
    short: Iterable[int] = (),
    bad_names: Mapping[str, int] | None = None,
    lost: Iterable[int] = (),
) -> Matrix:
    """Return who resolves whom, all but what is named here.

    `sick`: machine → cell for all names but its own; `short`: machines that find no short names;
    `bad_names`: name → cell everywhere; `lost`: machines that were not reached.
    """
    names, rows = names_of(machines), []
    for at in range(machines if observers is None else observers):
        cells = bytearray(len(names))
        for index, name in enumerate(names):
            if at in short and "." not in name:
                cells[index] = NONE
            cells[index] = (sick or {}).get(at, cells[index])
            if index // 2 == at:
                cells[index] = 0
            cells[index] = (bad_names or {}).get(name, cells[index])
        rows.append(
            unreached(f"node-{at}", f"Nothing answered at 10.0.0.{at}.", names)
            if at in lost
            else Observer(name=f"node-{at}", cells=bytes(cells))
        )
    return Matrix(names=names, observers=tuple(rows))
