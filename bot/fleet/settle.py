"""Bring together what the log says of ranks and hosts, and what the launch says."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from bot.fleet.placement import (
    Disagreement,
    Known,
    Placed,
    Placement,
    as_guess,
    canonical,
    is_address,
    same_host,
    short_name,
)

_TOLD = "the log names its host"


def settle(
    launch: Placement,
    told: Iterable[tuple[int, str]],
    *,
    names: Mapping[str, str] | None = None,
    ranks_together: int | None = None,
) -> Placement:
    """Return one placement from a launch and the (rank, host) pairs that a log states.

    The log wins, and each contradiction is listed. A launch that the log contradicts anywhere is
    a guess everywhere else: its order is disproved. A rank for which the log itself names two
    hosts is not placed by the log. `names` maps addresses, pods and aliases, in lower case, to
    the scheduler's host names. `ranks_together` says that a launcher gives each host that many
    consecutive ranks without saying in which order (torchrun with an elastic rendezvous): one
    stated rank then places its whole block.
    """
    stated, quarrels = _stated(launch, told, names or {})
    against = [
        Disagreement(rank=rank, log=host, other=placed.host, source="the launch")
        for rank, host in sorted(stated.items() | {(one.rank, one.log) for one in quarrels})
        if (placed := launch.of(rank))
        and placed.known is not Known.GUESS
        and not _may_be(host, placed.host)
        and not any(one.rank == rank and _may_be(one.other, placed.host) for one in quarrels)
    ]
    if against:
        first = against[0].sentence
        launch = as_guess(launch, f"the launch order is disproved ({first})")
    ranks = {placed.rank: placed for placed in launch.ranks}
    if ranks_together:
        ranks = _with_blocks(ranks, stated, ranks_together, launch)
    for rank, host in stated.items():
        ranks[rank] = _placed(rank, host, launch)
    return replace(
        launch,
        ranks=tuple(ranks[rank] for rank in sorted(ranks)),
        hosts=launch.hosts or tuple(dict.fromkeys(stated.values())),
        disagreements=(*launch.disagreements, *quarrels, *against),
    )


def _stated(
    launch: Placement, told: Iterable[tuple[int, str]], names: Mapping[str, str]
) -> tuple[dict[int, str], list[Disagreement]]:
    """Take what the log says once for each rank, spelled as the scheduler spells hosts."""
    listed = {short_name(host): host for host in reversed(launch.hosts)}
    spelled: dict[str, str] = {}
    stated: dict[int, str] = {}
    quarrels: dict[int, Disagreement] = {}
    for rank, said in told:
        if said not in spelled:
            host = canonical(said, names)
            spelled[said] = listed.get(short_name(host), host)
        host = spelled[said]
        before = stated.setdefault(rank, host)
        if not same_host(before, host):
            quarrels.setdefault(
                rank,
                Disagreement(rank=rank, log=before, other=host, source="another line of the log"),
            )
    return {r: h for r, h in stated.items() if r not in quarrels}, list(quarrels.values())


def _may_be(one: str, other: str) -> bool:
    """Tell whether two spellings can mean one host: an address says nothing about a name."""
    return same_host(one, other) or is_address(one) != is_address(other)


def _placed(rank: int, host: str, launch: Placement) -> Placed:
    before = launch.of(rank)
    if before is None:
        return Placed(rank=rank, host=host, known=Known.LOG, because=_TOLD)
    if same_host(before.host, host):
        return replace(before, known=Known.LOG, because=_TOLD)
    if is_address(host) and before.known is not Known.GUESS:
        # the name is more use than an address that no list knows, and nothing contradicts it
        return before
    return Placed(
        rank=rank,
        host=host,
        known=Known.LOG,
        because=_TOLD,
        node_rank=launch.hosts.index(host) if host in launch.hosts else None,
    )


def _with_blocks(
    ranks: Mapping[int, Placed], stated: Mapping[int, str], size: int, launch: Placement
) -> dict[int, Placed]:
    """Place whole blocks of consecutive ranks by the ranks that the log names in them.

    One host has one block, so a guess that puts a second block on a host is dropped, and the last
    block without a host belongs to the last host without a block.
    """
    hosts_of: dict[int, set[str]] = {}
    for rank, host in stated.items():
        hosts_of.setdefault(rank // size, set()).add(host)
    block_of = {next(iter(hosts)): block for block, hosts in hosts_of.items() if len(hosts) == 1}
    why = f"each host has {size} consecutive ranks, and the log names this block's host"
    kept = {
        rank: placed
        for rank, placed in ranks.items()
        if placed.host not in block_of or block_of[placed.host] == rank // size
    }
    for host, block in block_of.items():
        kept |= _block(host, block, size, launch, why)
    unplaced = [host for host in launch.hosts if host not in block_of]
    missing = set(range(len(launch.hosts))) - hosts_of.keys()
    if len(unplaced) == len(missing) == 1 and block_of:
        why = "every other host has another block of ranks"
        kept |= _block(unplaced[0], missing.pop(), size, launch, why)
    return kept


def _block(host: str, block: int, size: int, launch: Placement, because: str) -> dict[int, Placed]:
    node_rank = launch.hosts.index(host) if host in launch.hosts else None
    return {
        block * size + local: Placed(
            rank=block * size + local,
            host=host,
            known=Known.LAUNCH,
            node_rank=node_rank,
            local_rank=local,
            because=because,
        )
        for local in range(size)
    }
