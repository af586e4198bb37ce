"""What the far side sees from within containers.

Nothing of a container is trusted: its files are read and its `getent` is run as nobody, without
capabilities, after its namespaces were entered. Part of the text that runs on the probed machine:
Python 3.8, no import of ours.
"""

from __future__ import annotations

import os

from bot.hosts.far_side.machine import rank_processes
from bot.hosts.far_side.names import query
from bot.hosts.far_side.saying import ENVIRONMENT, Out, text_of, together, words_after

NOBODY = 65534
#: Containers that are looked into; ranks of one job share their setting.
MOST = 4
NO_NEW_PRIVILEGES, DROP_CAPABILITY = 38, 24  # prctl(2)


def enter(pid: str) -> None:
    """Enter a process's network and mounts, and become nobody for good."""
    import ctypes  # a minimal Python has none, and then says so

    libc = ctypes.CDLL(None, use_errno=True)
    root = os.open("/proc/" + pid + "/root", os.O_RDONLY | os.O_DIRECTORY)
    for kind in ("net", "mnt"):
        fd = os.open("/proc/" + pid + "/ns/" + kind, os.O_RDONLY)
        if libc.setns(fd, 0):
            raise OSError(ctypes.get_errno(), "setns " + kind)
        os.close(fd)
    # Its own root, which need not be that of its mounts.
    os.fchdir(root)
    os.chroot(".")
    os.close(root)
    libc.prctl(NO_NEW_PRIVILEGES, 1, 0, 0, 0)
    for capability in range(64):
        libc.prctl(DROP_CAPABILITY, capability, 0, 0, 0)
    os.setgroups([])
    os.setgid(NOBODY)
    os.setuid(NOBODY)


def look(out: Out, pid: int, names: tuple[str, ...], *, rank: bool) -> None:
    """Print the resolver setting around this process, and what it gives."""
    text = text_of("/etc/resolv.conf")
    servers = words_after(text, "nameserver")
    results: dict[str, int] = {}
    answers: list[dict[str, object]] = []

    def ask(name: str) -> None:
        code = getent(name)
        if code is not None:
            results[name] = code

    def put(server: str, name: str) -> None:
        answers.append(query(server, name))

    tasks = [lambda name=name: ask(name) for name in names[:4]]
    pairs = [(server, name) for server in servers[:2] for name in names[:2]]
    together([*tasks, *(lambda pair=pair: put(*pair) for pair in pairs)])
    search = words_after(text, "search", "domain")
    found = {"pid": pid, "rank": rank, "servers": servers, "search": search}
    out.say({**found, "lookups": results, "answers": answers})


def getent(name: str) -> int | None:
    """Return what `getent` ends with for a name; None where it hangs or is not there."""
    import subprocess

    try:
        return subprocess.run(  # noqa: S603
            ["getent", "ahosts", name],  # noqa: S607
            env=ENVIRONMENT,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=3,
            check=False,
        ).returncode
    except (OSError, subprocess.TimeoutExpired):
        return None


def containers(out: Out, *names: str) -> int:
    """Look into up to four containers, each from a process of its own."""
    # Now, for in there this Python's library is not to be found.
    import subprocess  # noqa: F401

    seen: list[object] = []
    children: list[int] = []
    # Ranks first: what else runs in containers may not leave them a place.
    for one in sorted(rank_processes(), key=lambda one: not one["rank"]):
        number = int(str(one["pid"]))
        mounts = os.readlink("/proc/" + str(number) + "/ns/mnt") if one["inside"] else None
        if mounts is None or mounts in seen or len(seen) >= MOST:
            continue
        seen.append(mounts)
        child = os.fork()
        if child == 0:
            try:
                enter(str(number))
                look(out, number, names, rank=one["rank"] is True)
            except Exception as error:  # noqa: BLE001
                out.say({"pid": number, "why": repr(error)})
            finally:
                os._exit(0)
        children.append(child)
    for child in children:
        os.waitpid(child, 0)
    return 0
