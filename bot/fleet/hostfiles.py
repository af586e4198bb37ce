"""Hostfiles and rankfiles of MPI launchers and of DeepSpeed, as text."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from bot.errors import PlacementError
from bot.fleet.distribution import MOST_TASKS, Distribution, Order, node_of_each_task
from bot.fleet.placement import Known, Placed, Placement, laid_out


class Dialect(StrEnum):
    """Whose hostfile it is; what a bare or repeated name means differs."""

    #: `host slots=8 max_slots=8`; a bare host has as many slots as cores, one a line when repeated
    OPENMPI = "openmpi"
    #: MPICH and Intel MPI: `host:8`, a bare host has one; a repeated host is dealt to again
    HYDRA = "hydra"
    #: `host slots=8` and nothing else; a repeated host is an error
    DEEPSPEED = "deepspeed"


@dataclass(frozen=True, kw_only=True, slots=True)
class Slots:
    """One host of a hostfile and how many ranks it takes."""

    host: str
    #: None where the launcher counts the host's cores
    slots: int | None


_NAME = r"(?:\S+@)?(\[[0-9A-Fa-f:.%]+\]|[^\s:=#]+)"
_OPENMPI = re.compile(rf"{_NAME}(?:\s+(?:slots|count|cpu)\s*=\s*(\d+))?(?:\s+.*)?", re.ASCII)
#: Any other word is an error to Hydra, `slots=8` included.
_HYDRA = re.compile(rf"{_NAME}(?::(\d+))?(?:\s+(?:user|binding|ifname)=\S+)*", re.ASCII)
_DEEPSPEED = re.compile(r"(\S+)\s+slots=(\d+).*", re.ASCII)
_LINE = {Dialect.OPENMPI: _OPENMPI, Dialect.HYDRA: _HYDRA, Dialect.DEEPSPEED: _DEEPSPEED}
_BAD_OPENMPI = re.compile(r"\b(?:max[-_]slots|slots)\s*=(?!\s*\d)", re.ASCII)


def parse_hostfile(text: str, dialect: Dialect) -> tuple[Slots, ...]:
    """Return the hosts of a hostfile in order.

    Sources: Open MPI's mpirun(1) and orte_hosts(7), Hydra's `hostfile.c`, Intel MPI's developer
    guide, DeepSpeed's `launcher/runner.py`. Raises PlacementError with the line it cannot read,
    and for a file without hosts.
    """
    found: list[Slots] = []
    for number, line in _lines(text):
        match = _LINE[dialect].fullmatch(line)
        if match is None or (dialect is Dialect.OPENMPI and _BAD_OPENMPI.search(line)):
            raise PlacementError(f"line {number} of the hostfile cannot be read: {line[:80]!r}")
        count = match[2]
        host = match[1].strip("[]")
        if count and int(count) > MOST_TASKS:
            raise PlacementError(f"line {number} of the hostfile gives {host} {count} slots.")
        slots = int(count) if count else (None if dialect is Dialect.OPENMPI else 1)
        found.append(Slots(host=host, slots=slots))
    if not found:
        raise PlacementError("the hostfile names no host.")
    if dialect is Dialect.HYDRA:
        return tuple(found)
    return _merged(found, dialect)


def _lines(text: str) -> Iterator[tuple[int, str]]:
    for number, line in enumerate(text.splitlines(), start=1):
        if told := line.split("#", 1)[0].strip():
            yield number, told


def _merged(found: Sequence[Slots], dialect: Dialect) -> tuple[Slots, ...]:
    """Put the lines of one host together: bare names that are repeated count one slot each."""
    by_host: dict[str, list[int | None]] = {}
    for one in found:
        by_host.setdefault(one.host, []).append(one.slots)
    merged = []
    for host, slots in by_host.items():
        if len(slots) > 1 and any(one is not None for one in slots):
            message = f"the hostfile gives {host} slots on one of several lines; {dialect} refuses."
            raise PlacementError(message)
        merged.append(Slots(host=host, slots=slots[0] if len(slots) == 1 else len(slots)))
    return tuple(merged)


class MapBy(StrEnum):
    """In which order mpirun deals ranks to hosts."""

    #: fill the slots of a host first (mpirun's default)
    SLOT = "slot"
    #: one rank a host, round after round
    NODE = "node"


def place_mpi(
    hosts: Sequence[Slots],
    ranks: int | None = None,
    *,
    dialect: Dialect = Dialect.OPENMPI,
    by: MapBy = MapBy.SLOT,
    per_host: int | None = None,
) -> Placement:
    """Return where the ranks of `mpirun -np RANKS` run.

    `per_host` is `--npernode`, `--map-by ppr:N:node` or `-ppn`. For more ranks than slots Hydra
    starts again at the first host; Open MPI refuses, or spreads what is left over when it may
    oversubscribe, which is a *guess*. Seen with Open MPI 4.1.4 and MPICH 4.0.2. Raises
    PlacementError where a host has neither slots nor `per_host`: its slots are then its cores.
    """
    counts = []
    for one in hosts:
        if per_host is None and one.slots is None:
            message = (
                f"the hostfile gives {one.host} no slots, so its number of ranks is not known."
            )
            raise PlacementError(message)
        counts.append(per_host or one.slots or 0)
    total = sum(counts)
    wanted = total if ranks is None else ranks
    if not total or not 0 < wanted <= MOST_TASKS:
        raise PlacementError("the hostfile has no slots for any rank.")
    over = wanted > total and dialect is not Dialect.HYDRA
    dealt = _dealt([count for count in counts if count], wanted, by, wraps=not over)
    used = [one.host for one, count in zip(hosts, counts, strict=True) if count]
    names = list(dict.fromkeys(used))
    said = f"{wanted} ranks on {total} slots" if over else f"hostfile, by {by}"
    return laid_out(
        names,
        [names.index(used[index]) for index in dealt],
        known=Known.GUESS if over else Known.LAUNCH,
        because=said,
        notes=(said,) if over else (),
    )


def _dealt(counts: Sequence[int], wanted: int, by: MapBy, *, wraps: bool) -> Sequence[int]:
    """Return the index of the host of each rank."""
    order = Order.BLOCK if by is MapBy.SLOT else Order.CYCLIC
    if wraps:
        once = node_of_each_task(counts, Distribution(order=order))
        return [once[rank % len(once)] for rank in range(wanted)]
    if by is MapBy.NODE:
        return [rank % len(counts) for rank in range(wanted)]
    each, more = divmod(wanted - sum(counts), len(counts))
    full = [count + each + (index < more) for index, count in enumerate(counts)]
    return node_of_each_task(full, Distribution(order=order))


_RANK = re.compile(
    r"rank\s+(\d+)\s*=\s*(?:\S+@)?(\+n\d+|\[[0-9A-Fa-f:.%]+\]|[^\s=]+)(?:\s+.*)?", re.IGNORECASE
)


def place_rankfile(text: str, allocated: Sequence[str] = ()) -> Placement:
    """Return where `rank N=host slot=…` lines put the ranks; `+n1` is the second allocated host.

    Source: Open MPI's mpirun(1), "Rankfiles". Raises PlacementError with the line it cannot read,
    for a rank named twice, and for a relative host without that many allocated.
    """
    at: dict[int, str] = {}
    for number, line in _lines(text):
        match = _RANK.fullmatch(line)
        if match is None:
            raise PlacementError(f"line {number} of the rankfile cannot be read: {line[:80]!r}")
        rank, host = int(match[1]), match[2].strip("[]")
        if host.startswith("+n"):
            index = int(host[2:])
            if index >= len(allocated):
                message = f"the rankfile asks for host {host} of {len(allocated)} allocated ones."
                raise PlacementError(message)
            host = allocated[index]
        if rank in at:
            raise PlacementError(f"the rankfile places rank {rank} twice.")
        at[rank] = host
    hosts = tuple(allocated) or tuple(dict.fromkeys(at[rank] for rank in sorted(at)))
    local = dict.fromkeys(at.values(), 0)
    placed = []
    for rank in sorted(at):
        host = at[rank]
        placed.append(
            Placed(
                rank=rank,
                host=host,
                known=Known.LAUNCH,
                node_rank=hosts.index(host) if host in hosts else None,
                local_rank=local[host],
                because="rankfile",
            )
        )
        local[host] += 1
    return Placement(ranks=tuple(placed), hosts=hosts)
