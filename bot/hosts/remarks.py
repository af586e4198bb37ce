"""What the matrix comes to: which machine or which name is to blame, in sentences. Pure."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from bot.fleet.folding import folded
from bot.hosts.matrix import Matrix, Observer, Seen, host_of, is_full
from bot.hosts.slow import slow

#: From this share of its names on a machine's resolver is to blame, and from this share of the
#: machines on a name is.
_MOST = 0.5
#: From this share of the machines on, it is none of them.
_NEARLY_ALL = 0.9
#: Single failures that are spelled out.
_SPELLED_OUT = 4


class Blame(StrEnum):
    """What a remark blames; the worst first."""

    #: what all machines ask: no machine and no single name
    UPSTREAM = "upstream"
    #: a machine's resolver
    MACHINE = "machine"
    #: the search domain of one or of all machines
    SEARCH_DOMAIN = "search domain"
    #: a record, or the name itself
    NAME = "name"
    #: single cells
    CELLS = "cells"
    #: nothing is known of these machines
    NOT_REACHED = "not reached"
    #: nothing is wrong with names, but the way in is slow
    SLOW = "slow"


@dataclass(frozen=True, kw_only=True, slots=True)
class Remark:
    """One thing that stands out."""

    blame: Blame
    #: a sentence, or two
    text: str
    #: machines that show it
    observers: tuple[str, ...] = ()
    #: names that it is about, where it is about names
    names: tuple[str, ...] = ()


def headline(matrix: Matrix) -> str:
    """Return the worst that is to be said, or that all is well, in a sentence."""
    if not matrix.observers:
        return "No machine was asked."
    if not matrix.wrong:
        forms = "short and full, " if matrix.part(full=True) and matrix.part(full=False) else ""
        return f"{_machines(matrix.observers)} resolve all {len(matrix.names)} names, {forms}now."
    return next(one.text for one in remarks(matrix) if one.blame is not Blame.SLOW)


def remarks(matrix: Matrix) -> tuple[Remark, ...]:
    """Return what stands out, the worst first; nothing where all is well."""
    order = list(Blame)
    return tuple(sorted(_remarks(matrix), key=lambda one: order.index(one.blame)))


@dataclass(frozen=True)
class _Look:
    """A matrix with what is needed of it again and again."""

    matrix: Matrix
    #: name by name: the machine that it stands for, and whether it is a full one
    hosts: tuple[str, ...]
    full: tuple[bool, ...]
    #: how many names, and how many short ones, stand for each machine
    names_of: Mapping[str, int]
    short_of: Mapping[str, int]
    #: observer → indices of the names that fail there, its own left out: it knows those by itself
    failing: Mapping[str, list[int]]


def _look(matrix: Matrix) -> _Look:
    hosts = tuple(host_of(name).lower() for name in matrix.names)
    failing = {}
    for one in matrix.reached:
        own = host_of(one.name).lower()
        clean = one.clean
        failing[one.name] = (
            [] if clean else [at for at, cell in enumerate(one.cells) if cell and hosts[at] != own]
        )
    full = tuple(map(is_full, matrix.names))
    return _Look(
        matrix=matrix,
        hosts=hosts,
        full=full,
        names_of=Counter(hosts),
        short_of=Counter(host for host, dotted in zip(hosts, full, strict=True) if not dotted),
        failing=failing,
    )


def _remarks(matrix: Matrix) -> Iterator[Remark]:
    look = _look(matrix)
    shapes = {one.name: _shape(look, one) for one in matrix.reached}
    sick = [one for one in matrix.reached if shapes[one.name] is Blame.MACHINE]
    searching = [one for one in matrix.reached if shapes[one.name] is Blame.SEARCH_DOMAIN]
    others = [one for one in matrix.reached if shapes[one.name] is None]
    yield from _sick(look, sick)
    yield from _searching(look, searching)
    bad = _bad_names(look, others)
    yield from _names(look, others, bad)
    yield from _cells(look, others, frozenset(bad))
    yield from _unreached(matrix)
    for text, observers in slow((one.name, one.delays) for one in matrix.observers):
        yield Remark(blame=Blame.SLOW, text=text, observers=observers)


def _shape(look: _Look, one: Observer) -> Blame | None:
    """Return what a machine's failures look like when it is looked at alone."""
    failing = look.failing[one.name]
    if not failing:
        return None
    own = host_of(one.name).lower()
    asked = len(look.hosts) - look.names_of.get(own, 0)
    short = sum(look.short_of.values()) - look.short_of.get(own, 0)
    if short < asked and not any(look.full[at] for at in failing):
        return Blame.SEARCH_DOMAIN if len(failing) >= _MOST * short else None
    return Blame.MACHINE if len(failing) >= _MOST * asked else None


def _sick(look: _Look, sick: Sequence[Observer]) -> Iterator[Remark]:
    by_said: dict[bool, list[Observer]] = defaultdict(list)
    for one in sick:
        by_said[one.tally.get(Seen.NONE, 0) > len(look.failing[one.name]) / 2].append(one)
    everywhere = len(sick) > 1 and len(sick) >= _NEARLY_ALL * len(look.matrix.reached)
    for denied, rows in by_said.items():
        names = _spread([len(look.failing[one.name]) for one in rows])
        what = f"{names} of {len(look.matrix.names)} names"
        said = f"told that {what} do not exist" if denied else f"no answer for {what}"
        verb = ("are" if denied else "get") if len(rows) > 1 else ("is" if denied else "gets")
        if everywhere:
            blame, who, why = Blame.UPSTREAM, _machines(rows), _UPSTREAM[denied]
        else:
            alone = len(look.matrix.reached) == 1
            why = _ALONE if alone else _MACHINE[denied][len(rows) > 1]
            blame, who = Blame.MACHINE, folded(one.name for one in rows)
        yield Remark(
            blame=blame,
            text=f"{who} {verb} {said}: {why}.",
            observers=tuple(one.name for one in rows),
        )


#: By whether the names are denied.
_UPSTREAM = {
    False: "the DNS servers behind them or the way there fail, and no restart of a machine helps",
    True: "the records or the domain are missing, or the DNS servers are dead behind nss-resolve, "
    "which says the same; no restart of a machine helps",
}
#: By whether the names are denied, then for one machine and for several.
_MACHINE = {
    False: (
        "its own resolver is to blame, since others find the names",
        "their own resolvers are to blame, since others find the names",
    ),
    True: (
        "it asks other DNS servers or another domain than the machines that find them",
        "they ask other DNS servers or another domain than the machines that find them",
    ),
}
_ALONE = "no other machine answered, so its resolver and the DNS servers are both suspects"


def _searching(look: _Look, rows: Sequence[Observer]) -> Iterator[Remark]:
    if not rows:
        return
    everywhere = len(rows) > 1 and len(rows) >= _NEARLY_ALL * len(look.matrix.reached)
    who = _machines(rows) if everywhere else folded(one.name for one in rows)
    verb = "resolve" if len(rows) > 1 else "resolves"
    where = "the domain is not searched anywhere" if everywhere else "its search domain is lost"
    yield Remark(
        blame=Blame.SEARCH_DOMAIN,
        text=f"{who} {verb} full names and not the short ones: {where}.",
        observers=tuple(one.name for one in rows),
    )


def _bad_names(look: _Look, others: Sequence[Observer]) -> list[int]:
    """Return the names that most of the otherwise healthy machines do not find."""
    failures: Counter[int] = Counter()
    for one in others:
        failures.update(look.failing[one.name])
    few = max(_MOST * len(others), 2 if len(look.matrix.reached) > 1 else 1)
    return sorted(at for at, count in failures.items() if count >= few)


def _names(look: _Look, others: Sequence[Observer], bad: Sequence[int]) -> Iterator[Remark]:
    by_what: dict[tuple[bool, str], list[int]] = defaultdict(list)
    hosts = Counter(host_of(look.matrix.names[at]) for at in bad)
    both = Counter(map(host_of, look.matrix.names))
    for at in bad:
        seen = Counter(one.seen(at) for one in others)
        whole = hosts[host_of(look.matrix.names[at])] == both[host_of(look.matrix.names[at])]
        form = "" if whole else "full name" if is_full(look.matrix.names[at]) else "short name"
        by_what[seen[Seen.NONE] >= seen[Seen.NO_ANSWER], form].append(at)
    for (denied, form), columns in by_what.items():
        names = [look.matrix.names[at] for at in columns]
        listed = folded(dict.fromkeys(names if form else map(host_of, names)))
        failing = _spread([sum(one.cells[at] != 0 for one in others) for at in columns])
        said = "has no address" if denied else "gets no answer"
        why = "a record is missing or the name is wrong" if denied else "its zone fails upstream"
        prefix = f"The {form} " if form else ""
        yield Remark(
            blame=Blame.NAME,
            text=f"{prefix}{listed} {said} on {failing} of {len(others)} machines whose resolver "
            f"works: {why}; no restart of a machine helps.",
            observers=tuple(one.name for one in others if any(one.cells[at] for at in columns)),
            names=tuple(names),
        )


def _cells(look: _Look, others: Sequence[Observer], known: frozenset[int]) -> Iterator[Remark]:
    rows = {one.name: [at for at in look.failing[one.name] if at not in known] for one in others}
    rows = {name: failing for name, failing in rows.items() if failing}
    if not rows:
        return
    spelled = [
        f"{name} does not find {folded(look.matrix.names[at] for at in failing)}"
        for name, failing in list(rows.items())[:_SPELLED_OUT]
    ]
    more = f", and {len(rows) - _SPELLED_OUT} machines more" if len(rows) > _SPELLED_OUT else ""
    yield Remark(
        blame=Blame.CELLS,
        text=f"{'; '.join(spelled)}{more}: others do, so ask again before anything is done.",
        observers=tuple(rows),
        names=tuple(
            dict.fromkeys(look.matrix.names[at] for failing in rows.values() for at in failing)
        ),
    )


def _unreached(matrix: Matrix) -> Iterator[Remark]:
    lost = [one for one in matrix.observers if not one.reached]
    if not lost:
        return
    listed = folded(one.name for one in lost)
    first = lost[0].why
    example = f"{lost[0].name}: {first}" if len(lost) > 1 else first
    them = f"these {len(lost)} machines" if len(lost) > 1 else "it"
    yield Remark(
        blame=Blame.NOT_REACHED,
        text=f"Not reached, so nothing is known of {them}: {listed}. {example}".strip(),
        observers=tuple(one.name for one in lost),
    )


def _machines(rows: Sequence[Observer]) -> str:
    return f"All {len(rows)} machines" if len(rows) > 1 else rows[0].name


def _spread(counts: Iterable[int]) -> str:
    found = sorted(counts)
    return f"{found[0]}" if found[0] == found[-1] else f"{found[0]} to {found[-1]}"
