"""Which rank runs on which host, and how that is known."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum


class Known(StrEnum):
    """How it is known where a rank runs; earlier ones are stronger."""

    #: the log says so
    LOG = "log"
    #: the launcher's rule and the scheduler's lists leave no other place
    LAUNCH = "launch"
    #: likely, but nothing rules the other places out
    GUESS = "guess"


@dataclass(frozen=True, kw_only=True, slots=True)
class Placed:
    """One rank and the host it runs on."""

    rank: int
    #: the scheduler's name of the host, or the log's where the scheduler has none
    host: str
    known: Known
    #: index of the host in the job's node list
    node_rank: int | None = None
    #: number of the rank among those of its host
    local_rank: int | None = None
    #: Kubernetes pod, where the rank runs in one
    pod: str | None = None
    #: where that is known from, in words
    because: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Disagreement:
    """A rank for which two sources name different hosts."""

    rank: int
    #: host that the log names
    log: str
    #: host that the launch (or another line of the log) names
    other: str
    #: what names the other host
    source: str

    @property
    def sentence(self) -> str:
        """Say it to a person."""
        return f"rank {self.rank}: the log says {self.log}, {self.source} says {self.other}"


@dataclass(frozen=True, kw_only=True, slots=True)
class Placement:
    """All ranks of a job that have a known or likely host, in rank order."""

    ranks: tuple[Placed, ...] = ()
    #: hosts in the order of their node ranks, also those without a placed rank
    hosts: tuple[str, ...] = ()
    disagreements: tuple[Disagreement, ...] = ()
    #: what a reader must know about it, one sentence each
    notes: tuple[str, ...] = ()

    def of(self, rank: int) -> Placed | None:
        """Return where a rank runs, or None where that is not known."""
        if 0 <= rank < len(self.ranks) and self.ranks[rank].rank == rank:
            return self.ranks[rank]
        return next((placed for placed in self.ranks if placed.rank == rank), None)

    def on(self, host: str) -> tuple[Placed, ...]:
        """Return the ranks of a host, by its short name."""
        return tuple(placed for placed in self.ranks if same_host(placed.host, host))

    @property
    def weakest(self) -> Known | None:
        """Return the weakest way in which any rank is known, or None without ranks."""
        order = list(Known)
        return max((placed.known for placed in self.ranks), key=order.index, default=None)


def short_name(host: str) -> str:
    """Return a host's name up to the first dot, in lower case; an address stays whole."""
    if is_address(host):
        return host.lower()
    return host.split(".", 1)[0].lower()


def is_address(host: str) -> bool:
    """Tell whether a host is spelled as an IPv4 or IPv6 address."""
    from ipaddress import ip_address

    plain = host.split("%", 1)[0]
    if ":" not in plain and not plain.replace(".", "").isdigit():
        # names end here; asking the library is slow for the many ranks of a large job
        return False
    try:
        ip_address(plain.strip("[]"))
    except ValueError:
        return False
    return True


def same_host(one: str, other: str) -> bool:
    """Tell whether two spellings mean one host: equal up to the first dot, whatever their case."""
    return one == other or short_name(one) == short_name(other)


def laid_out(
    hosts: Sequence[str],
    node_of_rank: Iterable[int],
    *,
    known: Known,
    because: str,
    notes: tuple[str, ...] = (),
) -> Placement:
    """Return the placement of ranks 0, 1, … on hosts that are given by index."""
    local = [0] * len(hosts)
    ranks = []
    for rank, node in enumerate(node_of_rank):
        ranks.append(
            Placed(
                rank=rank,
                host=hosts[node],
                known=known,
                node_rank=node,
                local_rank=local[node],
                because=because,
            )
        )
        local[node] += 1
    return Placement(ranks=tuple(ranks), hosts=tuple(hosts), notes=notes)


def as_guess(placement: Placement, why: str) -> Placement:
    """Return the same placement with nothing but the log's own statements held for known."""
    return replace(
        placement,
        ranks=tuple(
            placed if placed.known is Known.LOG else replace(placed, known=Known.GUESS, because=why)
            for placed in placement.ranks
        ),
        notes=(*placement.notes, why),
    )


def joined(parts: Sequence[Placement]) -> Placement:
    """Return several placements as one, ranks counted on from part to part."""
    ranks: list[Placed] = []
    hosts: list[str] = []
    notes: list[str] = []
    for part in parts:
        first_rank, first_node = len(ranks), len(hosts)
        ranks += (
            replace(
                placed,
                rank=placed.rank + first_rank,
                node_rank=None if placed.node_rank is None else placed.node_rank + first_node,
            )
            for placed in part.ranks
        )
        hosts += part.hosts
        notes += part.notes
    return Placement(ranks=tuple(ranks), hosts=tuple(hosts), notes=tuple(dict.fromkeys(notes)))


def canonical(host: str, names: Mapping[str, str]) -> str:
    """Return the scheduler's name of a host that a log spells as address, pod or alias."""
    return names.get(host) or names.get(host.lower()) or names.get(short_name(host)) or host
