"""Where the ranks of a `deepspeed` launch run: its hostfile and its filters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from bot.errors import PlacementError
from bot.fleet.hostfiles import Dialect, parse_hostfile
from bot.fleet.placement import Known, Placement, laid_out


def place(
    hostfile: str,
    *,
    include: str = "",
    exclude: str = "",
    num_nodes: int | None = None,
    num_gpus: int | None = None,
) -> Placement:
    """Return where the ranks run: hosts in the hostfile's order, one rank a slot in use.

    `include` and `exclude` are `worker-0@worker-1:0,2` (a host, or some of its slots); the order
    stays that of the hostfile. Source: DeepSpeed `launcher/runner.py`. Raises PlacementError for
    what DeepSpeed refuses: both filters, filters beside counts, unknown hosts or slots, nothing
    left.
    """
    pool = {
        one.host: list(range(one.slots or 0)) for one in parse_hostfile(hostfile, Dialect.DEEPSPEED)
    }
    counted = num_nodes is not None or num_gpus is not None
    if include and exclude:
        raise PlacementError("--include and --exclude exclude each other.")
    if counted and (include or exclude):
        raise PlacementError("--num_nodes and --num_gpus do not go with --include or --exclude.")
    if include:
        wanted = _parse(include, pool)
        pool = {host: wanted[host] for host in pool if host in wanted}
    elif exclude:
        unwanted = _parse(exclude, pool)
        pool = {
            host: [slot for slot in slots if slot not in unwanted.get(host, [])]
            for host, slots in pool.items()
        }
    used = [(host, len(slots)) for host, slots in pool.items() if slots]
    if num_nodes is not None:
        used = used[:num_nodes]
    if num_gpus is not None:
        used = [(host, num_gpus) for host, _ in used]
    if not any(count for _, count in used):
        raise PlacementError("no host of the hostfile is left to run a rank.")
    return laid_out(
        [host for host, _ in used],
        [node for node, (_, count) in enumerate(used) for _ in range(count)],
        known=Known.LAUNCH,
        because="DeepSpeed numbers ranks in the order of the hostfile",
    )


def _parse(text: str, pool: Mapping[str, Sequence[int]]) -> dict[str, list[int]]:
    """Read `worker-0@worker-1:0,2` against the hosts and slots that there are."""
    chosen: dict[str, set[int]] = {}
    for part in text.split("@"):
        host, _, listed = part.strip().partition(":")
        if host not in pool:
            raise PlacementError(f"the filter names {host!r}, which is not in the hostfile.")
        slots = listed.split(",") if listed else [str(slot) for slot in pool[host]]
        for slot in slots:
            if not (slot.isascii() and slot.isdigit()) or int(slot) not in pool[host]:
                raise PlacementError(f"the filter names slot {slot!r}, which {host} does not have.")
            chosen.setdefault(host, set()).add(int(slot))
    return {host: sorted(slots) for host, slots in chosen.items()}
