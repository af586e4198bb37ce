"""What of a machine's storage can be lost, and where a copy outlives it: told by device.

Part of the text that runs on the machine: Python 3.8, no import of ours. A mount's name says
nothing. What is reached over the network is never looked at here, for one that hangs hangs whoever
looks: its free space is asked for in a child that may be given up.
"""

from __future__ import annotations

import os
import select
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

MOUNTS, DEVICES = b"/proc/self/mountinfo", b"/sys/dev/block/"
PODS, EMPTY = b"/var/lib/kubelet/pods", b"kubernetes.io~empty-dir"
#: Local drives and memory: what a stop of the VM takes with it.
GOES = (b"nvme", b"ram", b"zram")
#: File systems that outlive the VM because another machine holds them.
SHARED = (
    b"nfs", b"nfs4", b"lustre", b"ceph", b"virtiofs", b"9p", b"beegfs", b"gpfs", b"wekafs",
    b"glusterfs", b"fuse.glusterfs", b"fuse.juicefs", b"fuse.ceph", b"cifs", b"smb3",
)  # fmt: skip
#: Where memory holds the machine's own state, and secrets, and no work.
NOT_WORK = (b"/run", b"/sys", b"/proc", b"/dev")
SECRETS = (b"kubernetes.io~secret", b"kubernetes.io~projected")
FREE_SECONDS = 3.0


class Mount:
    """One line of mountinfo (proc(5))."""

    def __init__(self, line: bytes) -> None:
        words, _, rest = line.partition(b" - ")
        fields = words.split(b" ")
        self.device, self.inside = fields[2], plain_path(fields[3])
        self.path = plain_path(fields[4])
        self.kind, self.source, options = [*rest.split(b" "), b"", b""][:3]
        self.read_only = b"ro" in fields[5].split(b",") or b"ro" in options.split(b",")
        self.disks = base_disks(self.device)

    @property
    def shared(self) -> bool:
        """Tell whether another machine holds it."""
        return self.kind in SHARED

    @property
    def goes_with(self) -> str:
        """Return what it is on, where a stop of the VM loses that; empty where not."""
        if self.kind in (b"tmpfs", b"ramfs"):
            return "" if self.path != b"/dev/shm" and beneath(self.path, NOT_WORK) else "memory"
        found = sorted(disk for disk in self.disks if disk.startswith(GOES))
        return ", ".join(os.fsdecode(disk) for disk in found)


def plain_path(text: bytes) -> bytes:
    """Return a path without mountinfo's octal escapes."""
    parts = text.split(b"\\")
    return parts[0] + b"".join(bytes([int(one[:3], 8)]) + one[3:] for one in parts[1:])


def beneath(path: bytes, roots: tuple[bytes, ...]) -> bool:
    """Tell whether a path is one of these folders or in one."""
    return any(path == root or path.startswith(root.rstrip(b"/") + b"/") for root in roots)


def base_disks(device: bytes) -> set[bytes]:
    """Return the whole disks below a block device: partitions, md, LVM and crypt resolved."""
    start = os.path.realpath(DEVICES + device)
    todo, found, seen = [start], set(), set()
    while todo:
        path = todo.pop()
        if path in seen or not os.path.isdir(path):
            continue
        seen.add(path)
        try:
            below = [os.path.realpath(os.path.join(path, b"slaves", one))
                     for one in os.listdir(os.path.join(path, b"slaves"))]  # fmt: skip
        except OSError:
            below = []
        if os.path.exists(os.path.join(path, b"partition")):
            below.append(os.path.dirname(path))
        elif not below:
            found.add(os.path.basename(path))
        todo += below
    return found


def all_mounts() -> list[Mount]:
    """Return what is mounted; of two at one path the one that is seen."""
    with open(MOUNTS, "rb") as file:
        lines = file.read().splitlines()
    return list({one.path: one for one in map(Mount, lines)}.values())


def system_disks(mounts: list[Mount]) -> set[bytes]:
    """Return the disks that the system itself is on."""
    own = (b"/", b"/boot", b"/boot/efi", b"/usr", b"/var")
    return {disk for one in mounts if one.path in own for disk in one.disks}


def losable(mounts: list[Mount]) -> list[tuple[bytes, str]]:
    """Return the folders that a stop of the VM loses and what each is on; none within another."""
    system = system_disks(mounts)
    found: dict[bytes, tuple[Mount, str]] = {}
    for one in sorted(mounts, key=lambda each: (len(each.inside), len(each.path))):
        on = one.goes_with
        kept = one.read_only and not one.disks
        if not on or kept or one.shared or (one.disks and one.disks <= system):
            continue
        if any(word in one.path for word in SECRETS):
            continue
        same = [each for each, _ in found.values() if each.device == one.device]
        if not any(beneath(one.inside, (each.inside,)) for each in same):
            found[one.path] = (one, on)
    roots = [(path, on) for path, (_, on) in found.items()]
    roots += [(path, "emptyDir") for path in pod_volumes(mounts, tuple(found))]
    return roots


def pod_volumes(mounts: list[Mount], already: tuple[bytes, ...]) -> list[bytes]:
    """Return the emptyDir volumes that are on no disk that is looked at already."""
    holder = holding(mounts, PODS)
    if holder is None or holder.shared or beneath(PODS, already):
        return []
    found = []
    try:
        for pod in sorted(os.listdir(PODS)):
            where = os.path.join(PODS, pod, b"volumes", EMPTY)
            if os.path.isdir(where):
                found += [os.path.join(where, one) for one in sorted(os.listdir(where))]
    except OSError:
        pass
    return [one for one in found if not beneath(one, already)]


def holding(mounts: list[Mount], path: bytes) -> Mount | None:
    """Return the mount that a path is on."""
    fits = [one for one in mounts if beneath(path, (one.path,)) or one.path == b"/"]
    return max(fits, key=lambda one: len(one.path), default=None)


def places(mounts: list[Mount]) -> list[dict[str, Any]]:
    """Return where a copy may go, and for the others why not; the most room first."""
    system = system_disks(mounts)
    found, seen = [], set()
    for one in sorted(mounts, key=lambda each: len(each.path)):
        if not (one.shared or one.disks) or one.device in seen:
            continue
        if one.path == b"/boot" or one.path.startswith(b"/boot/"):
            continue
        seen.add(one.device)
        why = refusal(one, system)
        room = {} if why else free_space(one.path)
        if not why and not room:
            why = "it does not answer: it may hang"
        found.append({
            "path": one.path, "fs": os.fsdecode(one.kind), "source": os.fsdecode(one.source),
            "device": os.fsdecode(one.device), "shared": one.shared, "why": why, **room,
        })  # fmt: skip
    return sorted(found, key=lambda one: -one.get("free", 0))


def refusal(mount: Mount, system: set[bytes]) -> str:
    """Say why no copy may go to a mount; empty where one may."""
    if mount.goes_with:
        return f"it is on {mount.goes_with}, which goes with the VM"
    if mount.disks & system:
        return "it is the system's disk"
    if mount.read_only:
        return "it is mounted read-only"
    return ""


def free_space(path: bytes) -> dict[str, int]:
    """Return the free and whole bytes of a file system; nothing where it does not answer."""
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            told = os.statvfs(path)
            sizes = (told.f_bavail * told.f_frsize, told.f_blocks * told.f_frsize)
            os.write(write, b"%d %d" % sizes)
        finally:
            os._exit(0)
    os.close(write)
    try:
        if not select.select([read], [], [], FREE_SECONDS)[0]:
            os.kill(pid, 9)
            return {}
        words = os.read(read, 100).split()
    finally:
        os.close(read)
        reaped(pid)
    return {"free": int(words[0]), "size": int(words[1])} if len(words) > 1 else {}


def reaped(pid: int) -> None:
    """Wait for a child, but not for one that the kernel holds."""
    for _ in range(20):
        if os.waitpid(pid, os.WNOHANG)[0]:
            return
        time.sleep(0.01)
