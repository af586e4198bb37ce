"""What a machine's own disks hold, and copying it: the model behind surveys and backups.

A file is its owner, its size and a seed that stands for its content. A copy is a file with the same
seed at another place; both sides' digests are made of what the model holds at that moment, so that
a file which changes meanwhile is not equal.
"""

from __future__ import annotations

import asyncio
import base64
import json
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any

from playground.fleet.machine import Held, Machine, Network

#: The share that all machines mount, and what is free there.
SHARED, SOURCE, FREE = "/home", "10.20.0.5:/home", 40 * 2**40
_UIDS = {"root": 0, "alice": 1001, "bob": 1002}
_PARTS = 4


@dataclass(frozen=True, kw_only=True, slots=True)
class Asked:
    """An order, read."""

    do: str
    proof: tuple[str, str]
    to: str = ""
    folder: str = ""
    run: str = ""
    items: tuple[tuple[str, str], ...] = ()

    @classmethod
    def of(cls, line: bytes) -> Asked:
        """Read an order's line; raises ValueError or KeyError where it is none."""
        told = json.loads(line)
        return cls(
            do=told["do"],
            proof=(told["proof"][0], told["proof"][1]),
            to=_plain(told.get("to", "")),
            folder=told.get("folder", ""),
            run=told.get("run", ""),
            items=tuple((_plain(one["path"]), one["what"]) for one in told.get("items", ())),
        )


def _plain(text: str) -> str:
    return base64.b64decode(text).decode()


def _coded(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


async def answered(
    machine: Machine, network: Network, asked: Asked, say: Callable[[bytes], Awaitable[None]]
) -> None:
    """Answer an order as the program on a machine does."""

    async def told(kind: str, **value: Any) -> None:  # noqa: ANN401
        await say(json.dumps({"kind": kind, **value}).encode() + b"\n")

    if asked.proof[1].lower() not in {machine.product_uuid.lower(), machine.name}:
        return await told("refused", why="identity")
    if asked.do == "survey":
        for one in _items(machine):
            await told("item", **one)
        for place in _places(machine):
            await told("place", **place)
        return await told("end", **_whole(machine))
    return await _copied(machine, network, asked, told)


def _items(machine: Machine) -> Iterator[dict[str, Any]]:
    """Yield what can be chosen, checkpoints first."""
    folders: dict[tuple[str, str], list[Held]] = {}
    for one in machine.held:
        folders.setdefault((one.item, one.what), []).append(one)
    for (path, what), held in sorted(folders.items(), key=lambda each: each[0][1]):
        yield {
            "path": _coded(path), "uid": _UIDS.get(held[0].owner, 1000), "owner": held[0].owner,
            "what": what, "on": held[0].on, "bytes": sum(one.size_bytes for one in held),
            "files": len(held), "recent_files": len(held),
            "recent_bytes": sum(one.size_bytes for one in held),
            "newest": datetime.now(UTC).timestamp(),
            "ranks": sorted(one.rank for one in held if one.rank is not None),
        }  # fmt: skip


def _places(machine: Machine) -> Iterator[dict[str, Any]]:
    for one in machine.mounts:
        shared = one.kind.startswith("nfs")
        why = "" if shared else "it is the system's disk"
        if "nvme" in one.source:
            why = "it is on nvme0n1, which goes with the VM"
        yield {
            "path": _coded(one.mount), "fs": one.kind, "source": one.source, "shared": shared,
            "why": why, "free": FREE if shared else one.free_bytes, "size": one.size_bytes,
        }  # fmt: skip


def _whole(machine: Machine) -> dict[str, Any]:
    roots = [[_coded("/nvme"), "nvme0n1"], [_coded("/dev/shm"), "memory"]]  # noqa: S108
    size = sum(one.size_bytes for one in machine.held)
    return {
        "whole": True, "unread": 0, "bytes": size, "files": len(machine.held), "roots": roots,
        "rsync": True,
    }  # fmt: skip


async def _copied(
    machine: Machine, network: Network, asked: Asked, told: Callable[..., Awaitable[None]]
) -> None:
    if asked.to != SHARED:
        return await told("stopped", why="refused", detail="it goes with the VM")
    chosen = [one for one in machine.held if (one.item, one.what) in asked.items]
    if not chosen:
        return await told("stopped", why="gone")
    total = sum(one.size_bytes for one in chosen)
    for part in range(_PARTS + 1):
        await told("progress", phase="copy", done=total * part // _PARTS, total=total)
        await asyncio.sleep(machine.copying_s / _PARTS)
    folders = []
    for owner in sorted({one.owner for one in chosen}):
        where = f"{SHARED}/nccl-dns-backup/{asked.folder}/{owner}"
        mine = [one for one in chosen if one.owner == owner]
        for one in mine:
            network.kept[f"{where}{one.path}"] = one.seed
        await told("progress", phase="verify", done=total, total=total)
        folders.append(_folder(network, machine, owner, where, mine))
    return await told("end", folders=folders, bytes=total)


def _folder(
    network: Network, machine: Machine, owner: str, where: str, mine: list[Held]
) -> dict[str, Any]:
    """Return what both sides come to, read now."""
    now = {one.path: one.seed for one in machine.held}
    differ = [one for one in mine if now.get(one.path) != network.kept[f"{where}{one.path}"]]
    lines = "".join(f"{sha256(one.seed.encode()).hexdigest()}  {one.path[1:]}\n" for one in mine)
    told = {
        "owner": owner, "uid": _UIDS.get(owner, 1000), "where": _coded(where), "files": len(mine),
        "entries": len(mine), "bytes": sum(one.size_bytes for one in mine), "as_owner": False,
        "acls": True, "xattrs": True, "differ": len(differ), "unread": 0,
        "samples": [[one.path, "the content"] for one in differ],
    }  # fmt: skip
    return told if differ else {**told, "manifest": sha256(lines.encode()).hexdigest()}
