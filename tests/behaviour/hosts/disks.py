"""A machine with a local drive and a disk that stays: loop devices in a mount namespace of its own.

File systems, rsync and sshd are the real ones. Only which device is which is said by files laid
over /sys/dev/block: this machine has no NVMe to lose.
"""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.behaviour.hosts.sshd import Sshd, is_root, running_sshd

#: Where accounts of the machine can get to.
MOUNTS = Path("/mnt")
ALICE, BOB = 64401, 64402
_BEGINS_S = 10.0
#: What tests of backups need.
NEEDS = [
    pytest.mark.needs("sshd", "rsync", "unshare", "mkfs.ext4", "nsenter", "setfacl", "setfattr"),
    pytest.mark.skipif(not is_root(), reason="only root mounts disks"),
    pytest.mark.skipif(not Path("/dev/loop-control").exists(), reason="no loop devices here"),
]
_ACCOUNTS = "alice:x:{alice}:{alice}::{home}:/bin/sh\nbob:x:{bob}:{bob}::/nowhere:/bin/sh\n"


@dataclass(frozen=True, kw_only=True)
class Disks:
    """The folders of a test's machine, as the machine sees them."""

    folder: Path
    #: size of the local drive and of the disk that stays
    local_mb: int = 64
    stays_mb: int = 64
    #: further commands before sshd starts
    then: tuple[str, ...] = ()
    home: str = "/nowhere"
    #: what sshd is run by, such as `setpriv`
    within: tuple[str, ...] = field(default=())

    @property
    def local(self) -> Path:
        """Return where the local drive is mounted; its name says nothing of that."""
        return MOUNTS / "persistent-looking"

    @property
    def stays(self) -> Path:
        """Return where the disk that stays is mounted."""
        return MOUNTS / "keep"

    def inside(self, argv: Sequence[str]) -> list[str]:
        """Return a command line that runs another one on the machine."""
        kept = (self.folder / "passwd", "/etc/passwd")
        steps = [
            f"mkdir -p -m 755 {self.folder}/mnt; mount --bind {self.folder}/mnt {MOUNTS}",
            f"mkdir {self.local} {self.stays}",
            *_disk(self.folder / "local.img", self.local, self.local_mb),
            *_disk(self.folder / "stays.img", self.stays, self.stays_mb),
            f"local=$(findmnt -fno MAJ:MIN {self.local} | tr -d ' ')",
            f"stays=$(findmnt -fno MAJ:MIN {self.stays} | tr -d ' ')",
            "system=$(findmnt -fno MAJ:MIN / | tr -d ' ')",
            "mount -t tmpfs tmpfs /sys/dev/block",
            "cd /sys/dev/block; mkdir -p d/nvme0n1 d/md127/slaves d/vdb d/vda",
            "ln -s ../../nvme0n1 d/md127/slaves/nvme0n1",
            "ln -s d/md127 $local; ln -s d/vdb $stays; ln -s d/vda $system; cd /",
            "mount -t tmpfs tmpfs /dev/shm",
            f"mount --bind {kept[0]} {kept[1]}",
            *self.then,
            f"exec {shlex.join([*self.within, *argv])}",
        ]
        return ["unshare", "--mount", "--propagation", "private", "sh", "-ec", "; ".join(steps)]


def _disk(image: Path, where: Path, mb: int) -> list[str]:
    return [
        f"truncate -s {mb}M {image}", f"mkfs.ext4 -q -m 0 {image}",
        f"mount -o loop {image} {where}", f"chmod 755 {where}",
    ]  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Machine:
    """A machine that runs."""

    sshd: Sshd
    disks: Disks
    pid: int

    def seen(self, path: Path) -> Path:
        """Return a path of the machine as this process reaches it."""
        return Path(f"/proc/{self.pid}/root{path}")

    @property
    def local(self) -> Path:
        """Return the local drive."""
        return self.seen(self.disks.local)

    @property
    def stays(self) -> Path:
        """Return the disk that stays."""
        return self.seen(self.disks.stays)

    def run(self, script: str, given: bytes = b"") -> bytes:
        """Run a script as root on the machine and return what it prints."""
        argv = ["nsenter", "--mount", f"--target={self.pid}", "sh", "-ec", script]
        done = subprocess.run(argv, input=given, capture_output=True, check=True, timeout=300)
        return done.stdout

    def rsyncs(self) -> list[int]:
        """Return the processes of rsync that this machine runs."""
        found = []
        ours = Path(f"/proc/{self.pid}/ns/mnt").stat().st_ino
        for entry in Path("/proc").iterdir():
            try:
                if not entry.name.isdigit() or (entry / "comm").read_text() != "rsync\n":
                    continue
                if (entry / "ns" / "mnt").stat().st_ino == ours:
                    found.append(int(entry.name))
            except OSError:
                continue
        return found

    def kill_rsync(self) -> bool:
        """Kill one process of rsync, if there is any."""
        for pid in self.rsyncs():
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                continue
            return True
        return False


@contextmanager
def machine(disks: Disks) -> Iterator[Machine]:
    """Start a machine with these disks; it and they are gone afterwards."""
    kept = Path("/etc/passwd").read_text(encoding="utf-8")
    accounts = _ACCOUNTS.format(alice=ALICE, bob=BOB, home=disks.home)
    (disks.folder / "passwd").write_text(kept + accounts, encoding="utf-8")
    with running_sshd(disks.folder, inside=disks.inside) as sshd:
        yield Machine(sshd=sshd, disks=disks, pid=_pid(disks.folder / "pid"))


def _pid(file: Path) -> int:
    """Return the process in the machine's namespace, which writes its number when it begins."""
    until = time.monotonic() + _BEGINS_S
    while not (told := file.read_text(encoding="utf-8") if file.exists() else "").strip():
        assert time.monotonic() < until
        time.sleep(0.01)
    return int(told)
