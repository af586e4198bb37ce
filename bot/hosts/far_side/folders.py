"""Where a backup's copy lies: a folder that nobody else writes to, tried with a small file first.

Part of the text that runs on the machine: Python 3.8, no import of ours. Each folder is opened
below the one before and never through a link; while it is copied to, it is root's alone.
"""

from __future__ import annotations

import errno
import fcntl
import json
import os
import shutil
import stat
import struct
import time

from bot.hosts.far_side.disks import all_mounts, places
from bot.hosts.far_side.found import owner_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

TOP, MARKER, UNFINISHED, PROBE = b"nccl-dns-backup", b"backup.json", b"unfinished", b".small-file"
OPEN_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
MOST_FOLDERS, LOCK_SECONDS = 100, 60
#: Why writing failed, by the kernel's number.
WHY = {
    errno.ENOSPC: "full", errno.EDQUOT: "quota", errno.EROFS: "read_only", errno.ESTALE: "vanished",
    errno.EIO: "vanished", errno.ENOTCONN: "vanished", errno.ENODEV: "vanished",
    errno.ESHUTDOWN: "vanished", errno.EACCES: "squashed", errno.EPERM: "squashed",
    errno.ENOENT: "vanished",
}  # fmt: skip
#: Locks of backups by the folder's device and number; rsync holds them, too, as long as it lives.
HELD: dict[tuple[int, int], int] = {}
ACL = b"system.posix_acl_access"


class Stopped(Exception):  # noqa: N818 # it is how a copy ends, well or not
    """A copy ends here; `why` is one of our words."""

    def __init__(self, why: str, detail: str = "") -> None:
        super().__init__(why)
        self.why, self.detail = why, detail


def stopped_by(error: OSError) -> Stopped:
    """Return what an error of the kernel comes to."""
    return Stopped(WHY.get(error.errno or 0, "failed"), os.strerror(error.errno or 0))


class Owner:
    """An account whose files are copied."""

    def __init__(self, uid: int, gid: int) -> None:
        self.uid, self.gid, self.home = uid, gid, b""
        self.name = owner_name(uid)
        try:
            with open("/etc/passwd", "rb") as file:
                for line in file:
                    fields = line.rstrip(b"\n").split(b":")
                    if fields[2:3] == [b"%d" % uid]:
                        self.gid, self.home = int(fields[3]), fields[5]
        except (OSError, ValueError, IndexError):
            pass

    def become(self) -> None:
        """Act as this account from now on, where root may not."""
        os.setgroups([self.gid])
        os.setegid(self.gid)
        os.seteuid(self.uid)


def be_root() -> None:
    """Act as root again."""
    os.seteuid(os.getuid())
    os.setegid(os.getgid())


class Folder:
    """The folder of one owner within a backup, open."""

    def __init__(self, run: int, name: bytes, owner: Owner, *, as_owner: bool) -> None:
        self.run, self.name, self.owner, self.as_owner = run, name, owner, as_owner
        self.fd = below(run, name, 0o700, owner.uid)
        self.keeps_acls = self.keeps_xattrs = False
        self.where = os.readlink(b"/proc/self/fd/%d" % self.fd)

    def try_small_file(self) -> None:
        """Write, give away and take back a small file; learn what the file system keeps."""
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW
        fd = os.open(PROBE, flags, 0o600, dir_fd=self.run)
        try:
            os.write(fd, b"\0" * 8192)
            os.fsync(fd)
            if not self.as_owner:
                os.fchown(fd, self.owner.uid, self.owner.gid)
                if os.fstat(fd).st_uid != self.owner.uid:
                    raise PermissionError(errno.EPERM, "chown")
            self.keeps_xattrs = sets(fd, b"user.nccl_dns", b"1")
            self.keeps_acls = sets(fd, ACL, some_acl(self.owner.uid))
        finally:
            os.close(fd)
            os.unlink(PROBE, dir_fd=self.run)

    def refuse_too_much(self, size: int) -> None:
        """Stop where what is left to copy does not fit beside what is there already."""
        told = os.fstatvfs(self.fd)
        free, there = told.f_bavail * told.f_frsize, 0
        for _, _, files, fd in os.fwalk(".", dir_fd=self.fd):
            for name in files:
                there += os.stat(name, dir_fd=fd, follow_symlinks=False).st_blocks * 512
        if size > free + there:
            raise Stopped("full", f"{size} bytes are to be copied and {free} are free")

    def close_to_others(self) -> None:
        """Let nobody else in while it is written to."""
        if not self.as_owner:
            os.fchown(self.fd, 0, 0)
        os.fchmod(self.fd, 0o700)

    def hand_over(self) -> None:
        """Give it to the owner, and to nobody else."""
        os.fchmod(self.fd, 0o700)
        if not self.as_owner:
            os.fchown(self.fd, self.owner.uid, self.owner.gid)

    def clear(self, *, again: bool) -> None:
        """Throw away what a killed rsync left half written."""
        shutil.rmtree(b"/proc/self/fd/%d/%b" % (self.run, UNFINISHED), ignore_errors=True)
        if again:
            os.mkdir(UNFINISHED, 0o700, dir_fd=self.run)


def sets(fd: int, name: bytes, value: bytes) -> bool:
    """Tell whether an attribute can be kept."""
    try:
        os.setxattr(fd, name, value)
    except OSError:
        return False
    return True


def some_acl(uid: int) -> bytes:
    """Return an ACL as the kernel takes it (linux/posix_acl_xattr.h): one further user may read."""
    rows = ((1, 6, 2**32 - 1), (2, 4, uid), (4, 4, 2**32 - 1), (16, 4, 2**32 - 1),
            (32, 0, 2**32 - 1))  # fmt: skip
    return struct.pack("<I", 2) + b"".join(struct.pack("<HHI", *row) for row in rows)


def below(parent: int, name: bytes, mode: int, owner: int = 0) -> int:
    """Open a folder of ours below another, made if it is not there."""
    try:
        os.mkdir(name, mode, dir_fd=parent)
    except FileExistsError:
        pass
    try:
        fd = os.open(name, OPEN_FOLDER, dir_fd=parent)
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.ENOTDIR):
            raise Stopped("taken", ascii(os.fsdecode(name))) from None
        raise
    told = os.fstat(fd)
    if told.st_uid not in (0, os.geteuid(), owner) or told.st_mode & 0o022:
        os.close(fd)
        raise Stopped("taken", ascii(os.fsdecode(name)))
    return fd


def place_of(path: bytes) -> dict[str, Any]:
    """Return a place that may be copied to, as it is now."""
    for one in places(all_mounts()):
        if one["path"] == path:
            if one["why"]:
                raise Stopped("refused", one["why"])
            return one
    raise Stopped("vanished", "nothing is mounted there")


def opened_place(place: dict[str, Any]) -> int:
    """Open the root of a place, if that is still mounted there."""
    fd = os.open(place["path"], OPEN_FOLDER)
    device = os.fstat(fd).st_dev
    if place["fs"] != "btrfs" and place["device"] != f"{os.major(device)}:{os.minor(device)}":
        os.close(fd)
        raise Stopped("vanished", "nothing is mounted there")
    return fd


def folder_of(place: dict[str, Any], name: bytes, run: str, owner: Owner) -> Folder:
    """Return a folder that can be written to, as root or, where root may not, as its owner."""
    root = opened_place(place)
    try:
        return tried(root, name, run, owner, as_owner=False)
    except OSError as error:
        if error.errno not in (errno.EPERM, errno.EACCES) or owner.uid == 0:
            raise
    owner.become()
    if owner.home and (owner.home + b"/").startswith(place["path"].rstrip(b"/") + b"/"):
        for name_of_folder in filter(None, owner.home[len(place["path"]) :].split(b"/")):
            root = os.open(name_of_folder, OPEN_FOLDER, dir_fd=root)
        if os.fstat(root).st_uid != owner.uid:
            raise Stopped("squashed", "the home of the owner is not its own")
    return tried(root, name, run, owner, as_owner=True)


def tried(root: int, name: bytes, run: str, owner: Owner, *, as_owner: bool) -> Folder:
    """Make the folder and write a small file to it."""
    # a folder of each owner's own, where root may make none for all
    name_of_top = b"%b-%d" % (TOP, owner.uid) if as_owner else TOP
    top = below(root, name_of_top, 0o700 if as_owner else 0o711)
    where = marked(top, name, run)
    label = owner.name.encode() if owner.name.isalnum() else b"%d" % owner.uid
    folder = Folder(where, label, owner, as_owner=as_owner)
    if not is_complete(where):
        folder.close_to_others()
    folder.try_small_file()
    return folder


def marked(top: int, name: bytes, run: str) -> int:
    """Return the folder of a backup: a new one, or that of an earlier try which did not end."""
    for number in range(1, MOST_FOLDERS):
        own = name if number == 1 else b"%b-%d" % (name, number)
        try:
            os.mkdir(own, 0o711, dir_fd=top)
        except FileExistsError:
            pass
        try:
            fd = os.open(own, OPEN_FOLDER, dir_fd=top)
        except OSError:
            continue
        if os.fstat(fd).st_uid == os.geteuid() and mine(fd, run):
            return fd
        os.close(fd)
    raise Stopped("taken", ascii(os.fsdecode(name)))


def mine(fd: int, run: str) -> bool:
    """Take a backup's folder for this run, unless it holds what is finished or not ours."""
    flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
    told_of = os.fstat(fd)
    key = (told_of.st_dev, told_of.st_ino)
    if key in HELD:
        return True
    if MARKER not in map(os.fsencode, os.listdir(fd)) and os.listdir(fd):
        return False
    lock = os.open(MARKER, flags, 0o600, dir_fd=fd)
    until = time.monotonic() + LOCK_SECONDS
    while True:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            break
        except BlockingIOError:
            if time.monotonic() > until:
                raise Stopped("busy") from None
            time.sleep(0.2)
    told = marker(lock)
    if told.get("complete") and told.get("run") != run:
        os.close(lock)
        return False
    mark(lock, {"run": run, "complete": bool(told.get("complete"))})
    HELD[key] = lock
    return True


def marker(fd: int) -> dict[str, Any]:
    """Return what a backup's folder says of itself."""
    try:
        told = json.loads(os.pread(fd, 4096, 0) or b"{}")
    except ValueError:
        return {}
    return told if isinstance(told, dict) else {}


def mark(fd: int, told: dict[str, Any]) -> None:
    """Write what a backup's folder says of itself."""
    os.ftruncate(fd, 0)
    os.pwrite(fd, json.dumps(told).encode(), 0)
    os.fsync(fd)


def completed(run: int, name: str) -> None:
    """Say in a backup's folder that it is whole."""
    fd = os.open(MARKER, os.O_RDWR | os.O_NOFOLLOW, dir_fd=run)
    mark(fd, {"run": name, "complete": True})
    os.close(fd)


def is_complete(run: int) -> bool:
    """Tell whether a backup's folder was finished before."""
    fd = os.open(MARKER, os.O_RDONLY | os.O_NOFOLLOW, dir_fd=run)
    told = marker(fd)
    os.close(fd)
    return bool(told.get("complete"))


def is_regular(told: os.stat_result) -> bool:
    """Tell whether it is a file with content."""
    return stat.S_ISREG(told.st_mode)
