"""Copy what was chosen with rsync, and prove it by reading both sides again.

Part of the text that runs on the machine: Python 3.8, no import of ours. rsync is given every path
by itself, relative to the root: it recurses nowhere and follows no link.
"""

from __future__ import annotations

import ctypes
import errno
import hashlib
import os
import re
import select
import signal
import stat
import subprocess
import threading
import time

from bot.hosts.far_side.folders import (
    HELD,
    OPEN_FOLDER,
    Folder,
    Stopped,
    is_complete,
    is_regular,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

    #: phase, bytes done, bytes in all
    Tell = Callable[[str, int, int], None]

RSYNC = ("rsync", "-aH", "--numeric-ids", "--from0", "--files-from=-", "--no-recursive",
         "--temp-dir=../unfinished", "--partial-dir=.nccl-dns-partial", "--info=progress2,name0",
         "--outbuf=N")  # fmt: skip
ENVIRONMENT_OF_RSYNC = {"PATH": "/usr/local/bin:/usr/bin:/bin", "LC_ALL": "C"}
DONE = re.compile(rb"([\d,]+)\s+\d+%")
#: rsync(1), exit values: some files vanished before they could be read; a partial transfer.
VANISHED_SOURCE, PARTIAL = 24, 23
#: What rsync says on standard error, and what that comes to.
SAYS = (
    (b"No space left on device", "full"), (b"Disk quota exceeded", "quota"),
    (b"Read-only file system", "read_only"), (b"Stale file handle", "vanished"),
    (b"Transport endpoint", "vanished"), (b"Input/output error", "vanished"),
)  # fmt: skip
A_LINK = "a link took its folder's place"
MOST_PASSES = 3
BLOCK, SAMPLES, MOST_SAID = 1 << 20, 20, 4096
LIBC = ctypes.CDLL(None, use_errno=True)
PR_SET_PDEATHSIG = 1


class Copying:
    """The copy of one owner's files."""

    def __init__(self, folder: Folder, tell: Tell) -> None:
        self.folder, self.tell = folder, tell
        self.process: subprocess.Popen[bytes] | None = None

    def rsync(self, paths: list[bytes], total: int, *, again: bool) -> None:
        """Copy paths to the folder; raises Stopped where rsync cannot.

        Files with holes are copied by themselves: looking for holes takes as long as copying.
        """
        holes = set(filter(has_holes, paths))
        whole = [path for path in paths if path not in holes]
        if whole:
            self.once(whole, total, again=again)
        if holes:
            self.once(sorted(holes), total, "--sparse", again=again)

    def once(self, paths: list[bytes], total: int, *flags: str, again: bool) -> None:
        """Run rsync for some paths."""
        self.folder.clear(again=True)
        marks = [*(["-A"] if self.folder.keeps_acls else []),
                 *(["-X"] if self.folder.keeps_xattrs else [])]  # fmt: skip
        # a second pass is for files that a look at size and time takes for equal
        argv = [*RSYNC, *flags, *marks, *(["--ignore-times"] if again else []), "--", "/", "./"]
        try:
            self.process = process = subprocess.Popen(  # noqa: S603
                argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                env=ENVIRONMENT_OF_RSYNC, preexec_fn=self.prepare, pass_fds=tuple(HELD.values()),  # noqa: PLW1509
            )  # fmt: skip
        except (FileNotFoundError, PermissionError):
            raise Stopped("no_rsync") from None
        assert process.stdin is not None  # noqa: S101
        feeding = threading.Thread(target=feed, args=(process.stdin, paths), daemon=True)
        feeding.start()
        said = self.listen(process, total)
        code = process.wait()
        feeding.join()
        self.process = None
        self.folder.clear(again=False)
        self.judge(code, said)

    def prepare(self) -> None:
        """Let rsync work in the folder, as whom we act, and end with us."""
        os.fchdir(self.folder.fd)
        if self.folder.as_owner:
            owner = self.folder.owner
            os.seteuid(0)
            os.setresgid(owner.gid, owner.gid, owner.gid)
            os.setresuid(owner.uid, owner.uid, owner.uid)
        LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGTERM)

    def listen(self, process: subprocess.Popen[bytes], total: int) -> bytes:
        """Tell how far rsync is, and return what it complains of."""
        assert process.stdout is not None  # noqa: S101
        assert process.stderr is not None  # noqa: S101
        out, err, said = process.stdout.fileno(), process.stderr.fileno(), b""
        left = {out, err}
        while left:
            for fd in select.select(list(left), [], [], 5)[0]:
                data = os.read(fd, 65536)
                if not data:
                    left.discard(fd)
                elif fd == err:
                    said = (said + data)[-MOST_SAID:]
                elif found := DONE.findall(data):
                    self.tell("copy", min(int(found[-1].replace(b",", b"")), total), total)
        return said

    def judge(self, code: int, said: bytes) -> None:
        """Return where rsync did what it could; raise Stopped where the place or rsync failed."""
        if code in (0, VANISHED_SOURCE):
            return
        for words, why in SAYS:
            if words in said:
                raise Stopped(why)
        if code != PARTIAL:
            raise Stopped("rsync_failed", f"code {code}: {said[-300:]!a}")

    def end(self) -> None:
        """Let rsync keep what it has, and stop."""
        if self.process is not None:
            self.process.terminate()


def has_holes(path: bytes) -> bool:
    """Tell whether a file takes less room than it is long."""
    try:
        told = os.lstat(path)
    except OSError:
        return False
    return is_regular(told) and told.st_blocks * 512 < told.st_size


def feed(to: Any, paths: list[bytes]) -> None:  # noqa: ANN401 # a pipe
    """Give rsync the paths, without the slash that they begin with."""
    try:
        to.write(b"".join(path[1:] + b"\0" for path in paths))
        to.close()
    except OSError:
        pass


class Proof:
    """What was read of both sides: sizes and SHA-256, and where they differ."""

    def __init__(self, folder: Folder, tell: Tell, total: int) -> None:
        self.folder, self.tell, self.total = folder, tell, total
        self.parents: dict[str, tuple[bytes, int]] = {}
        self.lines: dict[bytes, bytes] = {}
        self.differ: dict[bytes, str] = {}
        self.unread: dict[bytes, str] = {}
        self.bytes = self.read = 0
        self.told = 0.0

    def of(self, paths: Iterable[bytes]) -> None:
        """Compare each path with its copy."""
        for path in paths:
            self.differ.pop(path, None)
            self.unread.pop(path, None)
            self.lines.pop(path, None)
            try:
                why = self.compared(path)
            except Stopped:
                raise
            except OSError as error:
                why = os.strerror(error.errno or 0)
            if why:
                self.differ[path] = why
        for _, fd in self.parents.values():
            os.close(fd)
        self.parents.clear()

    def compared(self, path: bytes) -> str:
        """Say how a path and its copy differ; empty where they do not."""
        folder, name = os.path.split(path)
        try:
            source = self.parent("source", folder)
            told = os.stat(name, dir_fd=source, follow_symlinks=False)
        except FileNotFoundError:
            return ""  # gone since it was found: there is nothing to keep
        except OSError as error:
            if error.errno in (errno.ELOOP, errno.ENOTDIR):
                return A_LINK
            self.unread[path] = os.strerror(error.errno or 0)
            return "it cannot be read"
        copy = self.parent("copy", folder)
        there = os.stat(name, dir_fd=copy, follow_symlinks=False)
        if why := self.unlike(told, there):
            return why
        if stat.S_ISLNK(told.st_mode):
            same = os.readlink(name, dir_fd=source) == os.readlink(name, dir_fd=copy)
            return "" if same else "the link leads elsewhere"
        return self.content(path, name, source, copy) if is_regular(told) else ""

    def unlike(self, told: os.stat_result, there: os.stat_result) -> str:
        """Say which of kind, size, mode, owner and time are not the same."""
        if stat.S_IFMT(told.st_mode) != stat.S_IFMT(there.st_mode):
            return "it is something else"
        if is_regular(told) and told.st_size != there.st_size:
            return "the size"
        if told.st_mode != there.st_mode and not stat.S_ISLNK(told.st_mode):
            return "the mode"
        if not self.folder.as_owner and (told.st_uid, told.st_gid) != (there.st_uid, there.st_gid):
            return "the owner"
        if is_regular(told) and int(told.st_mtime) != int(there.st_mtime):
            return "the time"
        return ""

    def content(self, path: bytes, name: bytes, source: int, copy: int) -> str:
        """Say whether a file's content or attributes differ; keep its line of the manifest."""
        try:
            one, marks, size = self.digest(name, source)
        except OSError as error:
            self.unread[path] = os.strerror(error.errno or 0)
            return "it cannot be read"
        two, theirs, _ = self.digest(name, copy, forget=True)
        self.bytes += size
        if one != two:
            return "the content"
        self.lines[path] = one.encode()
        return "" if marks == theirs else "its ACL or attributes"

    def digest(
        self, name: bytes, folder: int, *, forget: bool = False
    ) -> tuple[str, dict[str, bytes], int]:
        """Return the SHA-256, the attributes and the size of a file, read from the disk itself."""
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
        fd = os.open(name, flags, dir_fd=folder)
        try:
            if forget:
                os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
            found, size = hashlib.sha256(), 0
            while data := os.read(fd, BLOCK):
                found.update(data)
                size += len(data)
                self.went(len(data))
            return found.hexdigest(), self.marks(fd), size
        finally:
            os.close(fd)

    def marks(self, fd: int) -> dict[str, bytes]:
        """Return the attributes of a file that the place can keep."""
        kept = (("user.", self.folder.keeps_xattrs), ("system.posix_acl", self.folder.keeps_acls))
        wanted = tuple(prefix for prefix, keeps in kept if keeps)
        try:
            return {one: os.getxattr(fd, one) for one in os.listxattr(fd) if one.startswith(wanted)}
        except OSError:
            return {}

    def went(self, count: int) -> None:
        """Tell how far it is, once a second."""
        self.read += count
        if time.monotonic() - self.told > 1:
            self.told = time.monotonic()
            self.tell("verify", min(self.read // 2, self.total), self.total)

    def parent(self, side: str, folder: bytes) -> int:
        """Return a folder of one side, opened step by step so that no link is followed."""
        if side in self.parents and self.parents[side][0] == folder:
            return self.parents[side][1]
        if side in self.parents:
            os.close(self.parents.pop(side)[1])
        fd = os.open(b"/", OPEN_FOLDER) if side == "source" else os.dup(self.folder.fd)
        for name in filter(None, folder.split(b"/")):
            try:
                deeper = os.open(name, OPEN_FOLDER, dir_fd=fd)
            finally:
                os.close(fd)
            fd = deeper
        self.parents[side] = (folder, fd)
        return fd

    def drop_unsafe(self) -> None:
        """Take away the copies of what a link would have led to."""
        for path, why in self.differ.items():
            if why == A_LINK:
                folder, name = os.path.split(path)
                try:
                    os.unlink(name, dir_fd=self.parent("copy", folder))
                except OSError:
                    pass

    def written(self) -> str:
        """Write the manifest beside the copy, for `sha256sum --check`; return its digest."""
        text = b"".join(map(line_of, sorted(self.lines.items())))
        name = b"%b.sha256" % self.folder.name
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW
        fd = os.open(name, flags, 0o600, dir_fd=self.folder.run)
        with os.fdopen(fd, "wb") as file:
            file.write(text)
            file.flush()
            os.fsync(fd)
            if not self.folder.as_owner:
                os.fchown(fd, self.folder.owner.uid, self.folder.owner.gid)
        return hashlib.sha256(text).hexdigest()


def line_of(entry: tuple[bytes, bytes]) -> bytes:
    """Return a line of the manifest; odd names are escaped as sha256sum does (coreutils 9)."""
    path, digest = entry[0][1:], entry[1]
    plain = path.replace(b"\\", b"\\\\").replace(b"\n", b"\\n").replace(b"\r", b"\\r")
    return (b"\\" if plain != path else b"") + digest + b"  " + plain + b"\n"


def kept(
    folder: Folder, listing: Callable[[], list[bytes]], total: int, copying: Copying
) -> dict[str, Any]:
    """Copy, prove, and copy again what has changed meanwhile, three times at most."""
    paths = listing()
    proof = Proof(folder, copying.tell, total)
    passes = 0
    while True:
        again = bool(passes)
        if not is_complete(folder.run):
            wanted = list(proof.differ) or paths
            copying.rsync(wanted, total, again=again)
        passes += 1
        # all at once, so that what is read of each file comes from the disk
        LIBC.syncfs(folder.fd)
        proof.of(list(proof.differ) if again else paths)
        known = set(paths)
        new = [path for path in listing() if path not in known]
        for path in new:
            proof.differ[path] = "it is new"
        paths += new
        if not proof.differ or passes >= MOST_PASSES:
            break
    proof.drop_unsafe()
    told = {
        "owner": folder.owner.name, "uid": folder.owner.uid, "where": folder.where,
        "files": len(proof.lines), "entries": len(paths), "bytes": proof.bytes,
        "as_owner": folder.as_owner, "acls": folder.keeps_acls, "xattrs": folder.keeps_xattrs,
        "differ": len(proof.differ), "unread": len(proof.unread),
        "samples": [
            [ascii(os.fsdecode(path))[1:-1][-120:], why]
            for path, why in list(proof.differ.items())[:SAMPLES]
        ],
    }  # fmt: skip
    if not proof.differ:
        told["manifest"] = proof.written()
        folder.hand_over()
    return told
