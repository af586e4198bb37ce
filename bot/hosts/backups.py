"""Backups of what a machine's own storage holds: what is asked of it and what it answers. Pure.

A survey finds what a stop of the VM would lose, by device and never by a mount's name; a copy puts
what was chosen of it on a disk that stays, and proves it by reading both sides. The far side is one
program (`bot.hosts.far_side.backing`); its order is one line of JSON, its answer JSON lines.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from functools import cache
from hashlib import sha256
from typing import Any

from bot.hosts import wire
from bot.hosts.backup_ends import Why, reason
from bot.hosts.errors import BackupError
from bot.hosts.probes import ProofKind
from bot.hosts.words import Proof

#: The far side may look around for so long; what it has not seen by then it says.
SURVEY_WITHIN = timedelta(seconds=45)
#: The far side takes a caller for gone who is silent for a minute.
HEARTBEAT = timedelta(seconds=10)
#: A line of an answer, and lines that are none of ours.
MOST_LINE_BYTES, MOST_LINES = 1 << 17, 200_000
_SHOWN = 60


class What(StrEnum):
    """What an item is."""

    CHECKPOINT = "checkpoint"
    FOLDER = "folder"
    #: layers and images of containers
    CONTAINERS = "containers"


@dataclass(frozen=True, kw_only=True, slots=True)
class Item:
    """A folder of one owner, or a checkpoint in one, on storage that can be lost."""

    path: bytes
    uid: int
    owner: str
    what: What
    #: the device that goes: `nvme0n1`, `memory`, `emptyDir`
    on: str
    size_bytes: int
    files: int
    #: changed within the time that the survey was asked for
    recent_files: int = 0
    recent_bytes: int = 0
    newest: datetime | None = None
    #: those that the names of shards give
    ranks: tuple[int, ...] = ()

    @property
    def id(self) -> str:
        """Return what tells it apart, short enough for a menu and no text of anybody's."""
        return sha256(self.path + b"\0" + self.what.encode()).hexdigest()[:16]

    @property
    def shown(self) -> str:
        """Return the path for people; odd bytes are escaped, and a long one is cut in front."""
        text = self.path.decode("utf-8", "backslashreplace")
        text = "".join(each if each.isprintable() else ascii(each)[1:-1] for each in text)
        return text if len(text) <= _SHOWN else f"…{text[-_SHOWN:]}"


@dataclass(frozen=True, kw_only=True, slots=True)
class Place:
    """A mounted file system that a copy may go to, or why it may not."""

    path: bytes
    kind: str
    source: str
    #: another machine holds it
    shared: bool
    free_bytes: int = 0
    size_bytes: int = 0
    #: why nothing is copied there; empty where it may be
    why: str = ""

    @property
    def id(self) -> str:
        """Return what tells it apart."""
        return sha256(self.path).hexdigest()[:16]

    @property
    def shown(self) -> str:
        """Return the path for people."""
        return self.path.decode("utf-8", "backslashreplace")


@dataclass(frozen=True, kw_only=True, slots=True)
class Survey:
    """What a machine's own storage holds, and where it can go."""

    items: tuple[Item, ...]
    places: tuple[Place, ...]
    #: folder → device, of everything that goes with the VM
    roots: Mapping[str, str]
    size_bytes: int
    files: int
    #: everything was seen within the time
    whole: bool
    #: folders and files that could not be looked at
    unread: int
    rsync: bool

    @property
    def offered(self) -> tuple[Place, ...]:
        """Return the places that may be copied to."""
        return tuple(one for one in self.places if not one.why)


@dataclass(frozen=True, kw_only=True, slots=True)
class Order:
    """What is to be copied, and where to."""

    to: bytes
    #: of the folder that is made there
    folder: str
    #: the same for each try of one backup: a try goes on where the one before was cut off
    run: str
    items: tuple[tuple[bytes, What], ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Kept:
    """The copy of one owner's files."""

    owner: str
    uid: int
    where: str
    files: int
    size_bytes: int
    #: SHA-256 of the manifest beside it; empty where something differs
    manifest: str = ""
    #: paths whose copy is not equal, and some of them with what differs
    differ: int = 0
    unread: int = 0
    samples: tuple[tuple[str, str], ...] = ()
    #: root may not write there, so that only the owner's own files were kept, as their owner
    as_owner: bool = False
    acls: bool = True
    xattrs: bool = True


@dataclass(frozen=True, kw_only=True, slots=True)
class Copied:
    """What came of a copy: the folders, or why there are none."""

    folders: tuple[Kept, ...] = ()
    why: Why | None = None
    detail: str = ""

    @property
    def proven(self) -> bool:
        """Tell whether both sides are equal, read again."""
        return self.why is None and bool(self.folders) and all(one.manifest for one in self.folders)


@dataclass(frozen=True, kw_only=True, slots=True)
class Going:
    """How far a copy is."""

    phase: str
    done_bytes: int
    total_bytes: int


@cache
def program() -> bytes:
    """Return the far side as one program."""
    return wire.gathered("backing") + b"\nmain()\n"


def command(*, sudo: bool = False, installed: str = "") -> str:
    """Return the command line; nothing that is asked is part of it."""
    return wire.command(sudo=sudo, installed=installed)


def preface(*, installed: bool) -> bytes:
    """Return what is read before the order."""
    return b"" if installed else b"%d\n%b" % (len(program()), program())


def survey_order(kind: ProofKind, proof: Proof, recent: timedelta) -> bytes:
    """Return the order to look around."""
    told = {
        "do": "survey", "proof": [kind, proof], "recent": int(recent.total_seconds()),
        "seconds": int(SURVEY_WITHIN.total_seconds()),
    }  # fmt: skip
    return json.dumps(told).encode() + b"\n"


def copy_order(kind: ProofKind, proof: Proof, order: Order) -> bytes:
    """Return the order to copy; paths go as base64, whatever their bytes."""
    told = {
        "do": "copy", "proof": [kind, proof], "to": base64.b64encode(order.to).decode(),
        "folder": order.folder, "run": order.run,
        "items": [
            {"path": base64.b64encode(path).decode(), "what": what} for path, what in order.items
        ],
    }  # fmt: skip
    return json.dumps(told).encode() + b"\n"


@dataclass(kw_only=True)
class Answer:
    """Reads an answer as it comes, in bounded memory; a machine may say anything."""

    items: list[Item] = field(default_factory=list)
    places: list[Place] = field(default_factory=list)
    end: dict[str, Any] | None = None
    why: Why | None = None
    detail: str = ""
    going: Going | None = None
    #: the program runs and waits for its order
    ready: bool = False
    _buffer: bytes = b""
    _lines: int = 0

    @property
    def over(self) -> bool:
        """Tell whether nothing more is to come."""
        return self.end is not None or self.why is not None

    def feed(self, data: bytes) -> None:
        """Take what came; raises BackupError where that is more than any answer of ours."""
        *lines, self._buffer = (self._buffer + data).split(b"\n")
        self._lines += len(lines)
        if len(self._buffer) > MOST_LINE_BYTES or self._lines > MOST_LINES:
            raise BackupError("The machine answers more than any answer of ours; it was left.")
        for line in lines:
            self.ready = self.ready or line.strip() == wire.HELPER.encode()
            if line.startswith(b"{"):
                self._take(line)

    def _take(self, line: bytes) -> None:
        try:
            told = json.loads(line)
            kind = told["kind"]
            if kind == "item":
                self.items.append(_item(told))
            elif kind == "place":
                self.places.append(_place(told))
            elif kind == "progress":
                self.going = Going(
                    phase=str(told["phase"])[:10], done_bytes=int(told["done"]),
                    total_bytes=int(told["total"]),
                )  # fmt: skip
            elif kind == "end":
                self.end = told
            elif kind in {"stopped", "refused"}:
                known = told["why"] in set(Why)
                self.why = Why(told["why"]) if known else Why.FAILED
                self.detail = ascii(str(told.get("detail", "")))[1:-1][:300]
        except (ValueError, KeyError, TypeError, OverflowError, OSError, RecursionError):
            return

    def survey(self) -> Survey:
        """Return what was found; raises BackupError where the answer is none."""
        if self.why is not None:
            raise BackupError(reason(self.why, self.detail))
        try:
            told = self.end or {}
            return Survey(
                items=tuple(self.items),
                places=tuple(self.places),
                roots={_text(path): str(on)[:60] for path, on in told["roots"]},
                size_bytes=int(told["bytes"]),
                files=int(told["files"]),
                whole=bool(told["whole"]),
                unread=int(told["unread"]),
                rsync=bool(told["rsync"]),
            )
        except (ValueError, KeyError, TypeError) as error:
            raise BackupError("The machine's answer on what it holds cannot be read.") from error

    def copied(self) -> Copied:
        """Return what came of the copy."""
        if self.why is not None:
            return Copied(why=self.why, detail=self.detail)
        if self.end is None:
            return Copied(why=Why.CUT)
        try:
            return Copied(folders=tuple(map(_kept, self.end["folders"])))
        except (ValueError, KeyError, TypeError):
            return Copied(why=Why.FAILED, detail="its answer cannot be read")


def _item(told: Mapping[str, Any]) -> Item:
    return Item(
        path=base64.b64decode(told["path"], validate=True),
        uid=int(told["uid"]),
        owner=str(told["owner"])[:40],
        what=What(told["what"]),
        on=str(told["on"])[:60],
        size_bytes=int(told["bytes"]),
        files=int(told["files"]),
        recent_files=int(told["recent_files"]),
        recent_bytes=int(told["recent_bytes"]),
        newest=datetime.fromtimestamp(float(told["newest"]), UTC) if told["newest"] else None,
        ranks=tuple(int(one) for one in told["ranks"]),
    )


def _place(told: Mapping[str, Any]) -> Place:
    return Place(
        path=base64.b64decode(told["path"], validate=True),
        kind=str(told["fs"])[:20],
        source=str(told["source"])[:80],
        shared=bool(told["shared"]),
        free_bytes=int(told.get("free", 0)),
        size_bytes=int(told.get("size", 0)),
        why=str(told["why"])[:100],
    )


def _kept(told: Mapping[str, Any]) -> Kept:
    return Kept(
        owner=str(told["owner"])[:40],
        uid=int(told["uid"]),
        where=_text(told["where"]),
        files=int(told["files"]),
        size_bytes=int(told["bytes"]),
        manifest=str(told.get("manifest", ""))[:64],
        differ=int(told["differ"]),
        unread=int(told["unread"]),
        samples=tuple((str(path)[:140], str(why)[:80]) for path, why in told["samples"]),
        as_owner=bool(told["as_owner"]),
        acls=bool(told["acls"]),
        xattrs=bool(told["xattrs"]),
    )


def _text(path: str) -> str:
    return base64.b64decode(path, validate=True).decode("utf-8", "backslashreplace")


def total(items: Sequence[Item]) -> int:
    """Return the bytes of items."""
    return sum(one.size_bytes for one in items)
