"""What lies on storage that can be lost: checkpoints and each owner's folders, sized.

Part of the text that runs on the machine: Python 3.8, no import of ours. Nothing is read but
folders and sizes, no link is followed, and no other file system is entered.
"""

from __future__ import annotations

import os
import re
import time

from bot.hosts.far_side.disks import Mount, all_mounts, losable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    #: folder and kind of each item whose entries are kept
    Chosen = frozenset[tuple[bytes, str]]

#: Files that training frameworks write: torch.save, DCP, safetensors, DeepSpeed, Megatron, orbax.
CHECKPOINT = re.compile(rb"(?i)\.(?:pt|pth|ckpt|safetensors|distcp|bin\.index\.json)$|^\.metadata$")
#: Folders that are one checkpoint as a whole.
STEP = re.compile(rb"(?i)^(?:global_?step|iter|step|epoch|checkpoint|ckpt)s?[-_=]?0*\d+$")
#: The rank that a shard's file name gives.
SHARD = re.compile(rb"(?i)__(\d+)_\d+\.distcp$|zero_pp_rank_(\d+)|(?:^|[-_.])rank[-_]?(\d+)")
CONTAINERS = re.compile(rb"/(?:enroot|containerd|docker|containers/storage)(?:/|$)")
MOST_ITEMS, MOST_RANKS = 400, 4096


class Item:
    """A folder, or what lies loose in one, that can be chosen as a whole."""

    def __init__(self, path: bytes, uid: int, what: str, on: str) -> None:
        self.path, self.uid, self.what, self.on = path, uid, what, on
        self.size = self.files = self.recent = self.recent_size = 0
        self.newest = 0.0
        self.ranks: set[int] = set()
        #: folders, files and links, each before what is in it; where it was chosen
        self.entries: list[bytes] = []

    def take(self, name: bytes, told: os.stat_result, size: int, since: float) -> None:
        """Count a file."""
        self.size += size
        self.files += 1
        self.newest = max(self.newest, told.st_mtime)
        if told.st_mtime >= since:
            self.recent += 1
            self.recent_size += size
        for shard in SHARD.finditer(name):
            if len(self.ranks) < MOST_RANKS:
                self.ranks.add(int(next(filter(None, shard.groups()))))


class Look:
    """One walk over all that can be lost, within bounded time."""

    def __init__(self, since: float, until: float, chosen: Chosen = frozenset()) -> None:
        self.since, self.until, self.chosen = since, until, chosen
        self.items: dict[tuple[bytes, str], Item] = {}
        self.linked: set[tuple[int, int]] = set()
        self.whole = True
        self.unread = 0
        self.roots: list[tuple[bytes, str]] = []

    def walk(self, root: bytes, on: str, others: set[bytes]) -> None:
        """Look through a root, but not into what is mounted below it."""
        try:
            told = os.lstat(root)
        except OSError:
            self.unread += 1
            return
        first = self.item(root, told.st_uid, "folder", on)
        self.keep(first, root)
        todo = [(root, first, first)]
        while todo:
            if time.monotonic() > self.until:
                self.whole = False
                return
            path, owned, counted = todo.pop()
            try:
                entries = list(os.scandir(path))
            except OSError:
                self.unread += 1
                continue
            for entry in entries:
                self.entry(entry, owned, counted, on, others, told.st_dev, todo)

    def entry(
        self, entry: os.DirEntry[bytes], owned: Item, counted: Item, on: str, others: set[bytes],
        device: int, todo: list[tuple[bytes, Item, Item]],
    ) -> None:  # fmt: skip
        """Count an entry, or go on into it."""
        if entry.path in others:
            return
        try:
            told = entry.stat(follow_symlinks=False)
        except OSError:
            self.unread += 1
            return
        if told.st_dev != device or entry.name == b"lost+found":
            return
        if entry.is_dir(follow_symlinks=False):
            if told.st_uid != owned.uid:
                owned = counted = self.item(entry.path, told.st_uid, "folder", on)
            elif counted.what != "checkpoint" and STEP.match(entry.name):
                counted = self.item(entry.path, told.st_uid, "checkpoint", on)
            elif counted.what == "folder" and CONTAINERS.search(entry.path):
                counted = self.item(entry.path, told.st_uid, "containers", on)
            self.keep(counted, entry.path)
            todo.append((entry.path, owned, counted))
            return
        size = self.size_of(told)
        if counted.what == "folder" and CHECKPOINT.search(entry.name):
            counted = self.item(os.path.dirname(entry.path), told.st_uid, "checkpoint", on)
        counted.take(entry.name, told, size, self.since)
        self.keep(counted, entry.path)

    def keep(self, item: Item, path: bytes) -> None:
        """Keep what belongs to an item that was chosen."""
        if (item.path, item.what) in self.chosen:
            item.entries.append(path)

    def size_of(self, told: os.stat_result) -> int:
        """Return what a file takes, once for all its names."""
        if told.st_nlink > 1:
            if (told.st_dev, told.st_ino) in self.linked:
                return 0
            self.linked.add((told.st_dev, told.st_ino))
        return min(told.st_size, told.st_blocks * 512)

    def item(self, path: bytes, uid: int, what: str, on: str) -> Item:
        """Return what is counted at a path."""
        return self.items.setdefault((path, what), Item(path, uid, what, on))


def owner_name(uid: int) -> str:
    """Return an account's name, or its number; asks the machine's own list alone."""
    try:
        with open("/etc/passwd", "rb") as file:
            for line in file:
                fields = line.split(b":")
                if fields[2:3] == [b"%d" % uid]:
                    return fields[0].decode("ascii", "replace")
    except OSError:
        pass
    return str(uid)


def look_at(since: float, seconds: float, chosen: Chosen = frozenset()) -> Look:
    """Walk over all that can be lost."""
    mounts: list[Mount] = all_mounts()
    look = Look(since, time.monotonic() + seconds, chosen)
    every = {one.path for one in mounts}
    for root, on in losable(mounts):
        look.roots.append((root, on))
        look.walk(root, on, every - {root})
    return look


def looked(since: float, seconds: float) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """Return the items worth a choice, checkpoints and the newest first, and how the look went."""
    look = look_at(since, seconds)
    filled = [one for one in look.items.values() if one.files]
    order = {"checkpoint": 0, "folder": 1, "containers": 2}
    filled.sort(key=lambda one: (order[one.what], not one.recent, -one.newest))
    told = {
        "whole": look.whole and len(filled) <= MOST_ITEMS, "unread": look.unread,
        "bytes": sum(one.size for one in filled), "files": sum(one.files for one in filled),
        "roots": [[root, on] for root, on in look.roots],
    }  # fmt: skip
    return [shown_item(one) for one in filled[:MOST_ITEMS]], told


def shown_item(one: Item) -> dict[str, Any]:
    """Return an item as it is told."""
    return {
        "path": one.path, "uid": one.uid, "owner": owner_name(one.uid), "what": one.what,
        "on": one.on, "bytes": one.size, "files": one.files, "recent_files": one.recent,
        "recent_bytes": one.recent_size, "newest": one.newest, "ranks": sorted(one.ranks),
    }  # fmt: skip
