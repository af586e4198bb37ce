"""How sizes, checkpoints, places and what cannot be saved are said. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta

from bot.diagnosis.explain import spelled
from bot.hosts.backups import Copied, Item, Kept, Place, Survey, What
from bot.recovery.backup.choice import Entry

_UNITS = ("bytes", "kB", "MB", "GB", "TB", "PB")
_STEP = 1000
#: Assumed for an estimate: local NVMe to a network disk, both read again after it.
USUAL_BYTES_A_SECOND = 400 * 10**6

CANNOT_BE_SAVED = (
    "Nothing can be copied while the VM does not let us in. What lies on its local NVMe, in "
    "/dev/shm and in emptyDir volumes cannot be saved then; persistent and shared disks are not "
    "lost with the VM."
)


def size(count: int) -> str:
    """Return bytes as people say them: `12.3 GB`."""
    value, unit = float(count), 0
    while value >= _STEP and unit < len(_UNITS) - 1:
        value, unit = value / _STEP, unit + 1
    return f"{count} bytes" if not unit else f"{value:.1f} {_UNITS[unit]}"


def estimate(count: int) -> str:
    """Return how long a backup may take, as a guess."""
    return lasting(timedelta(seconds=count / USUAL_BYTES_A_SECOND))


def lasting(time: timedelta) -> str:
    """Return a duration in one unit."""
    seconds = time.total_seconds()
    for unit, length in (("h", 3600.0), ("min", 60.0)):
        if seconds >= length:
            return f"{seconds / length:.0f} {unit}"
    return f"{max(seconds, 1):.0f} s"


def called(entry: Entry) -> str:
    """Return an entry's name: a path of the job's owner, or whose data it is and nothing else."""
    first = entry.items[0]
    if not entry.listed:
        return f"{first.owner}: {size(entry.size_bytes)} on {_on(entry.items)}"
    what = "checkpoint " if first.what is What.CHECKPOINT else ""
    return f"{what}{first.shown}"


def note(entry: Entry, vms: int) -> str:
    """Return what stands below an entry: size, files, and what a checkpoint lacks."""
    if not entry.listed:
        return "by owner and size only"
    first = entry.items[0]
    said = [size(first.size_bytes), f"{first.files:,} files"]
    if first.what is What.CHECKPOINT:
        said.insert(0, lacks(first, vms))
    elif first.recent_files:
        said.append(f"{first.recent_files:,} changed within a day")
    return ", ".join(filter(None, said))


def lacks(item: Item, vms: int) -> str:
    """Say what a checkpoint on one VM's own disk lacks; never that it is complete."""
    if vms <= 1:
        return ""
    others = f"needs the other {vms - 1} VMs"
    if item.ranks:
        which = "rank" if len(item.ranks) == 1 else "ranks"
        named = spelled(list(item.ranks)).replace("-", "–")  # as ranges are written
        return f"{which} {named} only, {others}"
    return f"this VM's part only, may need the other {vms - 1} VMs"


def _on(items: Sequence[Item]) -> str:
    return ", ".join(sorted({one.on for one in items}))


def placed(place: Place) -> str:
    """Return a destination's name."""
    return f"{place.shown} ({'shared' if place.shared else 'persistent'}, {place.kind})"


def goes(found: Survey) -> str:
    """Say what goes with the VM and how much that is."""
    if not found.size_bytes:
        return "Nothing was found on storage that goes with the VM."
    where = ", ".join(f"{path} ({on})" for path, on in list(found.roots.items())[:6])
    return f"{size(found.size_bytes)} in {found.files:,} files go with the VM: {where}."


def at_risk(items: Sequence[Item], why: str = "") -> str:
    """Say what is at risk, by owner and size, and by devices."""
    owners: dict[str, int] = {}
    for one in items:
        owners[one.owner] = owners.get(one.owner, 0) + one.size_bytes
    said = ", ".join(f"{size(count)} of {owner}" for owner, count in sorted(owners.items())[:8])
    return f"{said} on {_on(items)}. {why}".strip() if items else why


def summary(copied: Copied) -> Mapping[str, str]:
    """Return the proof of a backup: where, how much, and the manifest's digest, by owner."""
    return {
        f"backup of {one.owner}": "\n".join(_lines(one)) for one in copied.folders
    }  # fmt: skip


def _lines(one: Kept) -> list[str]:
    found = [
        f"where     {one.where}",
        f"files     {one.files:,} ({size(one.size_bytes)}), each read again on both sides",
    ]
    if one.manifest:
        found.append(f"manifest  {one.where}.sha256, SHA-256 {one.manifest}")
    if one.as_owner:
        found.append("copied as the owner, for root may not write there (root squash)")
    lost = [name for name, kept in (("ACLs", one.acls), ("attributes", one.xattrs)) if not kept]
    if lost:
        found.append(f"the destination keeps no {' and no '.join(lost)}")
    if one.differ:
        found.append(f"NOT EQUAL {one.differ:,} files, {one.unread:,} of them cannot be read:")
        found += [f"  {path}: {why}" for path, why in one.samples]
    return found


def outcome(copied: Copied) -> str:
    """Say in a sentence what came of a copy that went through."""
    files = sum(one.files for one in copied.folders)
    total = sum(one.size_bytes for one in copied.folders)
    where = ", ".join(one.where for one in copied.folders)
    if copied.proven:
        return f"{files:,} files ({size(total)}) are in {where}: both sides have the same SHA-256."
    differ = sum(one.differ for one in copied.folders)
    unread = sum(one.unread for one in copied.folders)
    why = "cannot be read" if unread == differ else "changed while they were copied, three times"
    return (
        f"{differ:,} files {why}; the other {files:,} are equal in {where}. Stop what writes "
        "there, or leave it out, and back up again."
    )
