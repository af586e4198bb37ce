"""The program that surveys and copies: one order on standard input, JSON lines as the answer.

The order is a line of JSON; after it the caller says a line every few seconds. Who is silent for a
minute, or gone, is nobody: rsync is stopped, and what it has is kept for the next try. Part of the
text that runs on the machine: Python 3.8, no import of ours.
"""

from __future__ import annotations

import base64
import json
import os
import re
import select
import shutil
import signal
import sys
import threading
import time
from functools import partial

from bot.hosts.far_side.copying import Copying, kept
from bot.hosts.far_side.disks import all_mounts, places
from bot.hosts.far_side.folders import (
    Owner,
    Stopped,
    be_root,
    completed,
    folder_of,
    place_of,
    stopped_by,
)
from bot.hosts.far_side.found import look_at, looked
from bot.hosts.far_side.identity import identity
from bot.hosts.far_side.saying import Out, written

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

SILENT_SECONDS, ORDER_SECONDS, MOST_ORDER_BYTES = 60, 15, 1 << 20
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
FOREVER = 10.0**9


def plain(value: Any) -> Any:  # noqa: ANN401 # any part of an answer
    """Return a value with its bytes as base64, which JSON can hold."""
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    if isinstance(value, dict):
        return {name: plain(one) for name, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(one) for one in value]
    return value


def say(kind: str, **told: Any) -> None:  # noqa: ANN401
    """Answer a line."""
    written(json.dumps({"kind": kind, **plain(told)}).encode() + b"\n")


class Said:
    """How far it is, told once a second."""

    def __init__(self) -> None:
        self.last: tuple[str, float] = ("", 0.0)
        self.before = 0

    def __call__(self, phase: str, done: int, total: int) -> None:
        """Tell it, unless that was just done."""
        now = time.monotonic()
        if phase != self.last[0] or now - self.last[1] > 1:
            self.last = (phase, now)
            say("progress", phase=phase, done=self.before + done, total=total)


def watched(running: list[Copying]) -> None:
    """End with the caller."""
    while select.select([0], [], [], SILENT_SECONDS)[0] and os.read(0, 4096):
        pass
    for one in running:
        one.end()
    time.sleep(0.5 if running else 0)
    os._exit(1)


def surveyed(order: dict[str, Any]) -> None:
    """Say what can be lost and where it can go."""
    since = time.time() - float(order["recent"])
    items, told = looked(since, float(order["seconds"]))
    for one in items:
        say("item", **one)
    for one in places(all_mounts()):
        say("place", **one)
    say("end", **told, rsync=bool(shutil.which("rsync", path="/usr/local/bin:/usr/bin:/bin")))


def copied(order: dict[str, Any], running: list[Copying]) -> None:
    """Copy what was chosen to a place, owner by owner, and say what came of it."""
    name, run = str(order["folder"]), str(order["run"])
    if not NAME.fullmatch(name) or not NAME.fullmatch(run):
        raise Stopped("refused", "the folder's name")
    chosen = frozenset((base64.b64decode(one["path"]), str(one["what"])) for one in order["items"])
    place = place_of(base64.b64decode(order["to"]))
    look = look_at(0.0, FOREVER, chosen)
    items = [look.items[one] for one in sorted(chosen) if one in look.items]
    if not items:
        raise Stopped("gone")
    total, tell = sum(one.size for one in items), Said()
    folders, opened = [], []
    for uid in sorted({one.uid for one in items}):
        mine = frozenset((one.path, one.what) for one in items if one.uid == uid)
        size = sum(one.size for one in items if one.uid == uid)
        gid = next(os.lstat(one.path).st_gid for one in items if one.uid == uid)
        try:
            folder = folder_of(place, name.encode(), run, Owner(uid, gid))
            folder.refuse_too_much(total - tell.before)
            copying = Copying(folder, partial(told_of_all, tell, total))
            running.append(copying)
            folders.append(kept(folder, partial(listed, mine), size, copying))
        finally:
            be_root()
        tell.before += size
        opened.append(folder)
    for folder in opened if not any(one["differ"] for one in folders) else ():
        try:
            if folder.as_owner:
                folder.owner.become()
            completed(folder.run, run)
        finally:
            be_root()
    say("end", folders=folders, bytes=sum(one["bytes"] for one in folders))


def told_of_all(tell: Said, total: int, phase: str, done: int, _of_one: int) -> None:
    """Tell how far one owner's copy is, as part of all."""
    tell(phase, done, total)


def listed(chosen: frozenset[tuple[bytes, str]]) -> list[bytes]:
    """Return every path of what was chosen, as it is now."""
    look = look_at(0.0, FOREVER, chosen)
    items = [look.items[one] for one in sorted(chosen) if one in look.items]
    return list(dict.fromkeys(path for one in items for path in one.entries))


def main() -> None:
    """Take the order, prove who this machine is, and do it."""
    os.umask(0o077)
    written(b"@helper\n")
    signal.alarm(ORDER_SECONDS)
    line = sys.stdin.buffer.readline(MOST_ORDER_BYTES)
    signal.alarm(0)
    order = json.loads(line)
    code = identity(Out(lambda _: None, 0), *order["proof"])
    if code:
        say("refused", why="identity")
        return
    running: list[Copying] = []
    threading.Thread(target=watched, args=(running,), daemon=True).start()
    try:
        if order["do"] == "survey":
            surveyed(order)
        else:
            copied(order, running)
    except Stopped as stopped:
        say("stopped", why=stopped.why, detail=stopped.detail)
    except OSError as error:
        found = stopped_by(error)
        say("stopped", why=found.why, detail=found.detail)
    except Exception as error:  # noqa: BLE001 # whatever it is, somebody has to hear of it
        say("stopped", why="failed", detail=ascii(error)[:200])
    os._exit(0)
