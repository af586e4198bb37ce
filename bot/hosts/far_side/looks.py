"""What the far side looks at by itself: words that begin with `@`.

Part of the text that runs on the probed machine: Python 3.8, standard library, no import of ours.
"""

from __future__ import annotations

import contextlib
import os
import re
import socket
import struct
import threading
import time
from functools import partial
from typing import Callable, Sequence  # noqa: UP035 # for Python 3.8

STUB = ("127.0.0.53", "127.0.0.54")
ENVIRONMENT = {
    "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
    "LC_ALL": "C",
    "SYSTEMD_PAGER": "cat",
    "SYSTEMD_COLORS": "0",
}
#: File systems that are never asked how full they are: a dead server would hang the question.
REMOTE = re.compile(r"nfs|cifs|smb|ceph|lustre|gluster|9p|fuse|afs|gpfs|wekafs|beegfs")
UNREAL = re.compile(
    r"proc|sysfs|cgroup|devpts|devtmpfs|mqueue|debugfs|tracefs|securityfs|pstore|bpf|hugetlbfs"
    r"|configfs|autofs|nsfs|rpc_pipefs|binfmt_misc|efivarfs|squashfs|ramfs"
)
#: The kernel's own threads are its children.
KERNEL = "2"
#: Look-ups at once, and how many must have failed before the rest is not asked.
WORKERS = 8


def as_json(value: object) -> str:
    """Return a value as JSON; a minimal Python (Debian's python3-minimal) has no json module."""
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, int):
        return str(value)
    if isinstance(value, dict):
        return "{" + ",".join(as_json(k) + ":" + as_json(v) for k, v in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(as_json, value)) + "]"
    return '"' + "".join(map(escaped, str(value))) + '"'


def escaped(char: str) -> str:
    """Return a character as it stands in a JSON string."""
    code = ord(char)
    if 31 < code < 127 and char not in '"\\':  # noqa: PLR2004 # printable ASCII
        return char
    if code > 0xFFFF:  # noqa: PLR2004 # a pair of surrogates
        high, low = divmod(code - 0x10000, 0x400)
        return f"\\u{0xD800 + high:04x}\\u{0xDC00 + low:04x}"
    return f"\\u{code:04x}"


def say(value: object) -> None:
    """Print one JSON line at once, whole, so that what was found survives a time-out."""
    data = (as_json(value) + "\n").encode()
    while data:
        data = data[os.write(1, data) :]


def text_of(path: str, most: int = 65536) -> str:
    """Return the start of a file, empty where there is none to read."""
    try:
        with open(path, "rb") as file:  # noqa: PTH123
            return file.read(most).decode(errors="replace")
    except OSError:
        return ""


def words_after(text: str, *keys: str) -> list[str]:
    """Return the words of a resolv.conf's lines that begin with one of these keys."""
    lines = (line.split("#")[0].split() for line in text.splitlines())
    return [word for line in lines if line and line[0] in keys for word in line[1:]]


def identity(kind: str, expected: str) -> int:
    """Compare who this machine is with who it should be."""
    if kind == "host_name":
        found = socket.gethostname().split(".")[0]
    else:
        paths = {"product_uuid": "/sys/class/dmi/id/product_uuid", "machine_id": "/etc/machine-id"}
        path = paths[kind]
        found = text_of(path).strip()
        if not found:
            say({"found": "", "why": "no such file" if not os.path.exists(path) else "needs root"})  # noqa: PTH110
            return 77
    say({"found": found})
    return 0 if found.lower() == expected.lower() else 1


def file(path: str) -> int:
    """Print a file's text and, where it is a link, its target."""
    target = os.readlink(path) if os.path.islink(path) else None  # noqa: PTH114, PTH115
    try:
        with open(path, "rb") as opened:  # noqa: PTH123
            text = opened.read(32768).decode(errors="replace")
    except OSError as error:
        say({"target": target, "text": None, "why": error.strerror})
        return 1
    say({"target": target, "text": text})
    return 0


def pids() -> list[str]:
    """Return the numbers of all processes."""
    return [name for name in os.listdir("/proc") if name.isdigit()]  # noqa: PTH208


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


def process(comm: str) -> int:
    """Print number and state letter of each process of a name; T is stopped, D waits for disk."""
    for pid in named(comm):
        state = text_of("/proc/" + pid + "/stat").rpartition(")")[2].split()
        if state:
            say({"pid": int(pid), "state": state[0]})
    return 0


def resolvectl(*arguments: str) -> int:
    """Run resolvectl only while systemd-resolved runs.

    D-Bus would start a stopped service to answer it, which would repair the machine unasked and
    destroy the evidence (seen with systemd 252).
    """
    if named("systemd-resolved"):
        os.execvpe("resolvectl", ["resolvectl", *arguments], ENVIRONMENT)  # noqa: S606, S607
    say({"why": "systemd-resolved does not run; resolvectl would start it"})
    return 3


def lookups(*names: str) -> int:
    """Ask getaddrinfo for each name; stop asking when the first ones all failed with EAI_AGAIN."""
    left = list(names)
    codes: list[int] = []
    lock = threading.Lock()

    def work() -> None:
        while True:
            with lock:
                if not left:
                    return
                gone = len(codes) >= WORKERS and all(code == socket.EAI_AGAIN for code in codes)
                name = left.pop(0)
            if gone:
                say({"name": name, "skipped": True})
                continue
            began = time.monotonic()
            code, found = 0, []
            try:
                for entry in socket.getaddrinfo(name.encode(), None, 0, socket.SOCK_STREAM):
                    if entry[4][0] not in found:
                        found.append(entry[4][0])
            except socket.gaierror as error:
                code = error.errno or 0
            except (UnicodeError, OSError):
                code = socket.EAI_FAIL
            ms = int((time.monotonic() - began) * 1000)
            with lock:
                codes.append(code)
                say({"name": name, "code": code, "addresses": found[:16], "ms": ms})

    together([work] * min(WORKERS, len(left)))
    return 0


def together(tasks: Sequence[Callable[[], object]]) -> None:
    """Run functions in threads and wait for all."""
    threads = [threading.Thread(target=task, daemon=True) for task in tasks]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def servers_of(which: str) -> tuple[list[str], list[str]]:
    """Return name servers and search domains: of resolv.conf, or those behind the resolver."""
    path = "/etc/resolv.conf" if which == "resolv.conf" else "/run/systemd/resolve/resolv.conf"
    text = text_of(path)
    servers = [server for server in words_after(text, "nameserver") if server not in STUB]
    # systemd writes `search .` where there is no domain.
    search = [domain.strip(".") for domain in words_after(text, "search", "domain")]
    return servers[:6], [domain for domain in search if domain][:6]


def dns(which: str, *names: str) -> int:
    """Ask name servers directly, without the resolver: an address, `resolv.conf` or `uplinks`."""
    servers, search = ([which], []) if which[:1].isdigit() else servers_of(which)
    asked = list(names)
    for name in names:
        if "." not in name and name != "localhost":
            asked += [name + "." + domain for domain in search if name + "." + domain not in asked]
    pairs = [(server, name) for server in servers for name in asked[:24]]

    together([partial(answered, server, name) for server, name in pairs])
    return 0


def answered(server: str, name: str) -> None:
    """Ask one server and print what it said."""
    say(query(server, name))


def query(server: str, name: str, seconds: float = 1.6) -> dict[str, object]:
    """Ask one server for a name's IPv4 address over UDP, twice at most."""
    answer: dict[str, object] = {"server": server, "name": name, "answer": "timeout"}
    number = struct.unpack("!H", os.urandom(2))[0]
    labels = b"".join(bytes([len(x)]) + x.encode() for x in name.rstrip(".").split("."))
    packet = struct.pack("!6H", number, 0x0100, 1, 0, 0, 0) + labels + b"\0" + b"\0\1\0\1"
    began = time.monotonic()
    try:
        info = socket.getaddrinfo(
            server.encode(),
            53,
            0,
            socket.SOCK_DGRAM,
            0,
            socket.AI_NUMERICHOST,
        )[0]
        with socket.socket(info[0], socket.SOCK_DGRAM) as sock:
            sock.connect(info[4])
            for _ in range(2):
                sock.settimeout(seconds / 2)
                sock.send(packet)
                with contextlib.suppress(socket.timeout):
                    while True:
                        data = sock.recv(4096)
                        if len(data) >= 12 and struct.unpack("!H", data[:2])[0] == number:  # noqa: PLR2004
                            code = data[3] & 15
                            answer["answer"] = {
                                0: "NOERROR",
                                2: "SERVFAIL",
                                3: "NXDOMAIN",
                                5: "REFUSED",
                            }.get(code, "RCODE" + str(code))
                            answer["records"] = struct.unpack("!H", data[6:8])[0]
                            answer["ms"] = int((time.monotonic() - began) * 1000)
                            return answer
    except OSError as error:
        answer["answer"] = "refused" if isinstance(error, ConnectionRefusedError) else "unreachable"
    answer["ms"] = int((time.monotonic() - began) * 1000)
    return answer


def tcp(address: str, port: str) -> int:
    """Try a TCP connection: connected and refused reach the machine, a time-out does not."""
    outcome = "connected"
    try:
        socket.create_connection((address, int(port)), 2.5).close()
    except ConnectionRefusedError:
        outcome = "refused"
    except socket.timeout:  # noqa: UP041 # its own type before Python 3.10
        outcome = "timeout"
    except OSError as error:
        outcome = "unreachable: " + str(error.strerror)
    say({"address": address, "port": int(port), "outcome": outcome})
    return 0


def contained(pid: str) -> bool:
    """Tell whether a process has its own mounts and another root directory, as in a container."""
    try:
        there, here = os.stat("/proc/" + pid + "/root/"), os.stat("/")  # noqa: PTH116
        mounts = [os.readlink("/proc/" + one + "/ns/mnt") for one in (pid, "self")]  # noqa: PTH115
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
            uid = os.stat("/proc/" + pid).st_uid  # noqa: PTH116
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


def processes() -> int:
    """Print the processes of people and of jobs, with the owner's number and name."""
    lines = (line.split(":") for line in text_of("/etc/passwd").splitlines())
    owners = {line[2]: line[0] for line in lines if len(line) > 2}  # noqa: PLR2004
    for one in rank_processes()[:200]:
        one["user"] = owners.get(str(one["uid"]), str(one["uid"]))
        say(one)
    return 0


def disk() -> int:
    """Print how full the machine's own file systems are; remote ones are never asked."""
    for line in text_of("/proc/self/mountinfo", 262144).splitlines():
        left, _, right = line.partition(" - ")
        kind, point = right.split(" ")[0], left.split(" ")[4]
        if REMOTE.search(kind) or UNREAL.search(kind) or point.startswith(("/run/cred", "/dev/")):
            continue
        try:
            size = os.statvfs(point)
        except OSError:
            continue
        if size.f_blocks:
            say(
                {
                    "mount": point, "kind": kind, "size_bytes": size.f_blocks * size.f_frsize,
                    "free_bytes": size.f_bavail * size.f_frsize,
                }
            )  # fmt: skip
    return 0
