"""Which machines to look at: those that the log accuses, or that a person names. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from bot.diagnosis import Diagnosis, Launch
from bot.diagnosis.kinds import Cause
from bot.errors import PlacementError
from bot.fleet.placement import Known, Placement, canonical, same_host
from bot.fleet.settle import settle
from bot.schedulers import placing
from bot.schedulers.model import Job

#: How a suspect is known: as ranks are, or because a person asked.
KnownFrom = Literal["log", "launch", "guess", "asked"]
#: Nobody's machine is at fault by the log; two show whether all fail the same way.
_SAMPLE = 2
#: Causes that a machine's answers can tell apart, although the log accuses no machine.
_SHARED = frozenset(
    {Cause.DNS_OUTAGE, Cause.NAME_NOT_FOUND, Cause.RENDEZVOUS_TIMEOUT, Cause.PEER_UNREACHABLE}
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Suspect:
    """A machine to look at, and why."""

    host: str
    ranks: tuple[int, ...] = ()
    known: KnownFrom
    because: str = ""


def place(job: Job) -> tuple[Placement, tuple[str, ...]]:
    """Return where a job's ranks run by its scheduler, and why that is not known."""
    try:
        placed = placing.placement(job)
    except PlacementError as error:
        return Placement(hosts=job.nodes), (f"The ranks are not placed: {error}",)
    return placed, placed.notes


def launch_of(placement: Placement) -> Launch | None:
    """Return a placement as the diagnosis takes it, where it is sure and regular."""
    hosts = placement.hosts
    if not hosts:
        return None
    each, left = divmod(len(placement.ranks), len(hosts))
    regular = (
        not left
        and each > 0
        and placement.weakest is not Known.GUESS
        and all(one.host == hosts[one.rank // each] for one in placement.ranks)
    )
    return Launch(hosts=hosts, ranks_per_node=each if regular else None)


def agreed(
    placement: Placement,
    diagnosis: Diagnosis | None,
    together: int | None = None,
    names: Mapping[str, str] | None = None,
) -> Placement:
    """Return the placement with what the log states of ranks and hosts; the log wins.

    `names` leads from pods to the nodes that they are on.
    """
    if diagnosis is None:
        return placement
    told = [
        (rank, one.host)
        for one in diagnosis.affected
        if one.host is not None and one.known_from == "log"
        for rank in one.ranks
    ]
    return settle(placement, told, names=names, ranks_together=together) if told else placement


def suspects(
    diagnosis: Diagnosis | None,
    placement: Placement,
    named: Sequence[str] = (),
    names: Mapping[str, str] | None = None,
    *,
    failed: bool = False,
) -> tuple[Suspect, ...]:
    """Return the machines to look at, each once: named by a person, accused, or a sample.

    A rank whose host is a guess gives a suspect that is a guess. Where the job `failed` and its log
    says nothing, a sample is looked at, too: ranks of a hung resolver print nothing.
    """
    found: dict[str, Suspect] = {}
    for host in named:
        ranks = tuple(one.rank for one in placement.on(host))
        spelled = _spelled(host, placement, names or {})
        one = Suspect(host=spelled, ranks=ranks, known="asked", because="named")
        found.setdefault(one.host, one)
    if diagnosis is not None and not named:
        for suspect in _accused(diagnosis, placement, names or {}):
            before = found.get(suspect.host)
            found[suspect.host] = suspect if before is None else _joined(before, suspect)
    mute = failed and diagnosis is not None and diagnosis.cause is Cause.NO_STARTUP_FAILURE
    if not found and (mute or diagnosis is None or diagnosis.cause in _SHARED):
        found = {host: _sampled(host, placement) for host in _spread(placement.hosts)}
    return tuple(found.values())


def _accused(
    diagnosis: Diagnosis, placement: Placement, names: Mapping[str, str]
) -> Iterable[Suspect]:
    for one in diagnosis.affected:
        if one.host is not None:
            host = _spelled(one.host, placement, names)
            on_it = placement.on(host)
            yield Suspect(
                host=host,
                ranks=one.ranks or tuple(placed.rank for placed in on_it),
                known=one.known_from,
                because=one.because,
            )
            continue
        if one.node_rank is not None and not one.ranks and one.node_rank < len(placement.hosts):
            host = placement.hosts[one.node_rank]
            ranks = tuple(placed.rank for placed in placement.on(host))
            yield Suspect(host=host, ranks=ranks, known=_of(placement), because=one.because)
        for rank in one.ranks:
            placed = placement.of(rank)
            if placed is not None:
                yield Suspect(
                    host=placed.host,
                    ranks=(rank,),
                    known=_WORDS[placed.known],
                    because=one.because,
                )


_WORDS: dict[Known, KnownFrom] = {
    Known.LOG: "log",
    Known.LAUNCH: "launch",
    Known.GUESS: "guess",
}


def _of(placement: Placement) -> KnownFrom:
    return "guess" if placement.weakest is None else _WORDS[placement.weakest]


def _joined(one: Suspect, other: Suspect) -> Suspect:
    """Return both accusations of one machine as one, as surely as the surer of them."""
    order = ("asked", "log", "launch", "guess")
    known = min(one.known, other.known, key=order.index)
    return replace(one, ranks=tuple(sorted({*one.ranks, *other.ranks})), known=known)


def _spread(hosts: Sequence[str]) -> tuple[str, ...]:
    """Return a few machines that are far apart; not the first, which is the rendezvous' own."""
    others = hosts[1:] or hosts
    if len(others) <= _SAMPLE:
        return tuple(others)
    return others[len(others) // 2], others[-1]


def _sampled(host: str, placement: Placement) -> Suspect:
    return Suspect(
        host=host,
        ranks=tuple(one.rank for one in placement.on(host)),
        known=_of(placement),
        because="one of a sample: no log accuses a machine",
    )


def _spelled(host: str, placement: Placement, names: Mapping[str, str]) -> str:
    """Return a host as the scheduler spells it, where it lists it; of a pod, its node."""
    node = canonical(host, names)
    return next((one for one in placement.hosts if same_host(one, node)), node)
