"""What each rung would lose on one VM, from what was seen of it just now. Pure."""

from __future__ import annotations

import ipaddress
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from bot.clouds.model import Vm
from bot.hosts import probes
from bot.hosts.model import Evidence, Rung
from bot.hosts.readings import FileSystem, Mount, Process

#: Restarts that end everything in the guest.
_BOOTS = (Rung.REBOOT, Rung.RESET, Rung.STOP_START)
_GB = 10**9
#: A file system in memory with less in it is no loss that anybody would notice.
_LEAST_BYTES = 10**6
#: More of a kind are counted.
_MOST_NAMED = 4
_IN_MEMORY = frozenset({"tmpfs", "ramfs"})
#: systemd's own, made anew at each boot.
_OF_THE_SYSTEM = ("/run", "/sys", "/proc", "/dev/hugepages", "/dev/mqueue")


def losses(evidence: Evidence | None, vm: Vm | None) -> Mapping[Rung, tuple[str, ...]]:
    """Return what will not come back on this VM by rung; a rung that loses nothing has no entry.

    What was not seen is no entry either: the ladder's own words stand beside these.
    """
    inside = tuple(_inside(evidence)) if evidence is not None else ()
    found = {rung: inside for rung in _BOOTS if inside}
    if outside := tuple(_outside(vm)) if vm is not None else ():
        found[Rung.STOP_START] = (*found.get(Rung.STOP_START, ()), *outside)
    return found


def _inside(evidence: Evidence) -> Iterator[str]:
    yield from _processes(evidence.read(probes.PROCESSES) or ())
    yield from _gpus(evidence)
    yield from _in_memory(evidence.read(probes.DISK) or ())
    yield from _by_name(evidence.read(probes.MOUNTS) or ())


def _processes(running: Sequence[Process]) -> Iterator[str]:
    steps = Counter(one.user for one in running if one.step)
    others = Counter(one.user for one in running if not one.step)
    for user, count in sorted(steps.items()):
        yield f"{_count(count, 'process', 'processes')} of a job of {user}"
    for user, count in sorted(others.items()):
        yield f"{_count(count, 'process', 'processes')} of {user} outside of any job"


def _gpus(evidence: Evidence) -> Iterator[str]:
    result = evidence.results.get(probes.GPU_PROCESSES.name)
    if result is None:
        return
    if result.timed_out:
        yield "what runs on the GPUs is not known: nvidia-smi did not answer in time"
    elif result.rc == 0 and (rows := [one for one in result.text.splitlines() if one.strip()]):
        yield f"{_count(len(rows), 'process', 'processes')} on its GPUs"


def _in_memory(systems: Iterable[FileSystem]) -> Iterator[str]:
    held = [
        (one.mount, used)
        for one in systems
        if one.kind in _IN_MEMORY
        and not one.mount.startswith(_OF_THE_SYSTEM)
        and (used := one.size_bytes - one.free_bytes) >= _LEAST_BYTES
    ]
    for mount, used in held[:_MOST_NAMED]:
        yield f"{used / _GB:.2f} GB in memory at {mount}"


def _by_name(mounted: Iterable[Mount]) -> Iterator[str]:
    """Say which mounts a boot can only bring back once names resolve."""
    named = [one.mount for one in mounted if _needs_a_name(one)]
    if named:
        shown = ", ".join(named[:_MOST_NAMED]) + (" …" if len(named) > _MOST_NAMED else "")
        yield f"{shown}: mounted from a server by name, so back only once names resolve"


def _needs_a_name(one: Mount) -> bool:
    server = one.source.partition(":/")[0] if ":/" in one.source else ""
    if not server:
        return False
    try:
        ipaddress.ip_address(server.strip("[]").partition("@")[0])
    except ValueError:
        return True
    return False


def _outside(vm: Vm) -> Iterator[str]:
    changing = [one.address for one in vm.public_ips if one.kind != "static"]
    if changing:
        yield f"its public address {', '.join(changing)}, which is not static"
    if not vm.reservation_id:
        yield "its place: it has no reservation, so a start may find no capacity (out_of_stock)"


def _count(number: int, one: str, more: str) -> str:
    return f"{number} {one if number == 1 else more}"
