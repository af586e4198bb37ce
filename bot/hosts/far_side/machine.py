"""What the far side looks at of the machine itself: files, processes, disks.

Part of the text that runs on the probed machine: Python 3.8, no import of ours.
"""

from __future__ import annotations

import os

from bot.hosts.far_side.saying import ENVIRONMENT, Out, text_of

#: File systems that are never asked how full they are: a dead server would hang the question.
REMOTE = r"nfs|cifs|smb|ceph|lustre|gluster|9p|fuse|afs|gpfs|wekafs|beegfs"
UNREAL = (
    r"proc|sysfs|cgroup|devpts|devtmpfs|mqueue|debugfs|tracefs|securityfs|pstore|bpf|hugetlbfs"
    r"|configfs|autofs|nsfs|rpc_pipefs|binfmt_misc|efivarfs|squashfs|ramfs"
)
#: The kernel's own threads are its children.
KERNEL = "2"


def file(out: Out, path: str) -> int:
    """Print a file's text and, where it is a link, its target."""
    target = os.readlink(path) if os.path.islink(path) else None
    try:
        with open(path, "rb") as opened:
            text = opened.read(32768).decode(errors="replace")
    except OSError as error:
        out.say({"target": target, "text": None, "why": error.strerror})
        return 1
    out.say({"target": target, "text": text})
    return 0


def pids() -> list[str]:
    """Return the numbers of all processes."""
    return [name for name in os.listdir("/proc") if name.isdigit()]


def named(comm: str) -> list[str]:
    """Return the processes of a service, which the kernel names by 15 characters.

    Its control group names them at once; only without one is every process looked at.
    """
    for tree in ("/sys/fs/cgroup/", "/sys/fs/cgroup/systemd/"):
        listed = text_of(tree + "system.slice/" + comm + ".service/cgroup.procs").split()
        if listed:
            return [pid for pid in listed if is_named(pid, comm)]
    return [pid for pid in pids() if is_named(pid, comm)]


def is_named(pid: str, comm: str) -> bool:
    """Tell whether a process has this name."""
    return text_of("/proc/" + pid + "/comm").rstrip("\n") == comm[:15]


def process(out: Out, comm: str) -> int:
    """Print number and state letter of each process of a name; T is stopped, D waits for disk."""
    for pid in named(comm):
        state = text_of("/proc/" + pid + "/stat").rpartition(")")[2].split()
        if state:
            out.say({"pid": int(pid), "state": state[0]})
    return 0


def resolvectl(out: Out, *arguments: str) -> int:
    """Run resolvectl only while systemd-resolved runs.

    D-Bus would start a stopped service to answer it, which would repair the machine unasked and
    destroy the evidence (seen with systemd 252).
    """
    if named("systemd-resolved"):
        os.execvpe("resolvectl", ["resolvectl", *arguments], ENVIRONMENT)  # noqa: S606, S607
    out.say({"why": "systemd-resolved does not run; resolvectl would start it"})
    return 3


def contained(pid: str) -> bool:
    """Tell whether a process has its own mounts and another root directory, as in a container."""
    try:
        there, here = os.stat("/proc/" + pid + "/root/"), os.stat("/")
        mounts = [os.readlink("/proc/" + one + "/ns/mnt") for one in (pid, "self")]
    except OSError:
        return False
    return mounts[0] != mounts[1] and (there.st_dev, there.st_ino) != (here.st_dev, here.st_ino)


def ranked(pid: str) -> bool:
    """Tell whether a process is a rank by its environment, of which nothing else is kept."""
    return "\0RANK=" in "\0" + text_of("/proc/" + pid + "/environ", 131072)


def rank_processes() -> list[dict[str, object]]:
    """Return processes of people and of the scheduler's steps, never their arguments."""
    parents, names, found = {}, {}, []
    for pid in pids():
        stat = text_of("/proc/" + pid + "/stat")
        tail = stat.rpartition(")")[2].split()
        if len(tail) > 1:
            parents[pid], names[pid] = tail[1], stat.partition("(")[2].rpartition(")")[0]
    for pid, parent in parents.items():
        if KERNEL in (pid, parent):
            continue
        try:
            uid = os.stat("/proc/" + pid).st_uid
        except OSError:
            continue
        above, step = parent, False
        while above in parents and not step:
            step, above = names[above].startswith("slurmstepd"), parents[above]
        inside = contained(pid)
        if pid != str(os.getpid()) and (uid >= 1000 or step or inside) and uid != 65534:  # noqa: PLR2004
            one = {"pid": int(pid), "uid": uid, "name": names[pid], "step": step}
            found.append({**one, "inside": inside, "rank": ranked(pid)})
    return found


def processes(out: Out) -> int:
    """Print the processes of people and of jobs, with the owner's number and name."""
    lines = (line.split(":") for line in text_of("/etc/passwd").splitlines())
    owners = {line[2]: line[0] for line in lines if len(line) > 2}  # noqa: PLR2004
    for one in rank_processes()[:200]:
        one["user"] = owners.get(str(one["uid"]), str(one["uid"]))
        out.say(one)
    return 0


def disk(out: Out) -> int:
    """Print how full the machine's own file systems are; remote ones are never asked."""
    import re

    for line in text_of("/proc/self/mountinfo", 262144).splitlines():
        left, _, right = line.partition(" - ")
        kind, point = right.split(" ")[0], left.split(" ")[4]
        if re.search(REMOTE + "|" + UNREAL, kind) or point.startswith(("/run/cred", "/dev/")):
            continue
        try:
            size = os.statvfs(point)
        except OSError:
            continue
        if size.f_blocks:
            out.say(
                {
                    "mount": point, "kind": kind, "size_bytes": size.f_blocks * size.f_frsize,
                    "free_bytes": size.f_bavail * size.f_frsize,
                }
            )  # fmt: skip
    return 0
