"""The objects of a cluster, their versions and what became of them, for lists and watches."""

from __future__ import annotations

import asyncio
import copy
import json
import uuid
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from playground.kubernetes.patches import changed, patched
from playground.kubernetes.resources import Kind, Object
from playground.kubernetes.statuses import conflict, invalid, not_found

#: Fields that nobody may change after an object was made.
_FIXED = ("name", "namespace", "uid", "creationTimestamp")


@dataclass(frozen=True, kw_only=True, slots=True)
class Event:
    """One change of one object."""

    version: int
    kind: Kind
    #: ADDED, MODIFIED or DELETED
    what: str
    new: Object
    old: Object | None


@dataclass(kw_only=True)
class Store:
    """What the server holds."""

    #: changes that are remembered for watches
    memory: int = 1000
    now: Callable[[], datetime] = lambda: datetime.now(UTC)
    version: int = 1000
    objects: dict[tuple[str, str], dict[tuple[str, str], Object]] = field(default_factory=dict)
    events: deque[Event] = field(default_factory=deque)
    #: told of each change, as controllers are
    listeners: list[Callable[[Event], None]] = field(default_factory=list)
    #: set, and replaced, at each change
    moved: asyncio.Event = field(default_factory=asyncio.Event)
    #: the version before the oldest change that is remembered
    forgotten: int = 1000

    def time(self) -> str:
        """Return the time as objects have it."""
        return self.now().astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")

    def of(self, kind: Kind) -> list[Object]:
        """Return the objects of a kind, by namespace and name."""
        return [one for _, one in sorted(self.objects.get(kind.key, {}).items())]

    def get(self, kind: Kind, namespace: str, name: str) -> Object:
        """Return one object; raises Refusal."""
        try:
            return self.objects[kind.key][namespace, name]
        except KeyError:
            raise not_found(kind, name) from None

    def create(self, kind: Kind, raw: Object, *, manager: str = "kubectl-create") -> Object:
        """Add an object, with what the server itself adds."""
        made = copy.deepcopy(raw)
        metadata = made.setdefault("metadata", {})
        metadata.update(uid=str(uuid.uuid4()), creationTimestamp=self.time())
        self._manage({}, made, manager)
        made.update(apiVersion=kind.api_version, kind=kind.kind)
        key = metadata.get("namespace", ""), metadata["name"]
        self.objects.setdefault(kind.key, {})[key] = made
        self._happened(kind, "ADDED", made, None)
        return made

    def update(self, kind: Kind, new: Object, *, manager: str) -> Object:
        """Put an object in the place of its former self; what changed nothing is no change."""
        metadata = new["metadata"]
        key = metadata.get("namespace", ""), metadata["name"]
        old = self.objects[kind.key][key]
        if new == old:
            return old
        self._manage(old, new, manager)
        self.objects[kind.key][key] = new
        self._happened(kind, "MODIFIED", new, old)
        return new

    def change(
        self, kind: Kind, one: Object, edit: Callable[[Object], None], *, manager: str
    ) -> Object:
        """Edit a copy of the object that is stored, as a controller does."""
        metadata = one["metadata"]
        new = copy.deepcopy(self.get(kind, metadata.get("namespace", ""), metadata["name"]))
        edit(new)
        return self.update(kind, new, manager=manager)

    def patch(
        self, kind: Kind, namespace: str, name: str, media: str, body: bytes, *, manager: str
    ) -> Object:
        """Patch an object; raises Refusal where it is another one by now, or may not be so."""
        old = self.get(kind, namespace, name)
        new = patched(kind, old, media, body)
        metadata = new.get("metadata", {})
        if metadata.get("resourceVersion") != old["metadata"]["resourceVersion"]:
            raise conflict(kind, name)
        for one in _FIXED:
            if metadata.get(one) != old["metadata"].get(one):
                raise invalid(kind, name, f"metadata.{one}", "field is immutable")
        notes = metadata.get("annotations") or {}
        if not all(isinstance(said, str) for said in notes.values()):
            raise invalid(kind, name, "metadata.annotations", "must be strings")
        return self.update(kind, new, manager=manager)

    def delete(self, kind: Kind, one: Object) -> None:
        """Take an object away."""
        metadata = one["metadata"]
        gone = self.objects[kind.key].pop((metadata.get("namespace", ""), metadata["name"]))
        self._happened(kind, "DELETED", copy.deepcopy(gone), gone)

    def forget(self) -> None:
        """Forget every change so far, as a compaction does."""
        self.events.clear()
        self.forgotten = self.version

    def _happened(self, kind: Kind, what: str, new: Object, old: Object | None) -> None:
        self.version += 1
        new["metadata"]["resourceVersion"] = str(self.version)
        event = Event(version=self.version, kind=kind, what=what, new=copy.deepcopy(new), old=old)
        self.events.append(event)
        while len(self.events) > self.memory:
            self.forgotten = self.events.popleft().version
        moved, self.moved = self.moved, asyncio.Event()
        moved.set()
        for listener in list(self.listeners):
            listener(event)

    def _manage(self, old: Object, new: Object, manager: str) -> None:
        """Record who changed which fields, as server-side apply made every server do."""
        hidden = {"managedFields", "resourceVersion", "uid", "creationTimestamp"}
        before, after = (_without(one, hidden) for one in (old, new))
        fields = changed(before, after)
        if not fields:
            return
        entries: list[dict[str, Any]] = json.loads(
            json.dumps(new["metadata"].get("managedFields") or [])
        )
        for entry in entries:
            _take_from(entry["fieldsV1"], fields)
        mine = next((one for one in entries if one["manager"] == manager), None)
        if mine is None:
            mine = {
                "manager": manager,
                "operation": "Update",
                "fieldsType": "FieldsV1",
                "fieldsV1": {},
            }
            entries.append(mine)
        _add_to(mine["fieldsV1"], fields, after)
        mine["time"] = self.time()
        new["metadata"]["managedFields"] = [one for one in entries if one["fieldsV1"]]


def _without(one: Object, hidden: set[str]) -> Object:
    metadata = {key: entry for key, entry in one.get("metadata", {}).items() if key not in hidden}
    rest = {key: entry for key, entry in one.items() if key not in {"apiVersion", "kind"}}
    return {**rest, "metadata": metadata}


def _take_from(owned: dict[str, Any], fields: dict[str, Any]) -> None:
    """Take fields away from who had them; an object that is left empty goes, too."""
    for key, inner in fields.items():
        if key not in owned:
            continue
        if inner and owned[key]:
            _take_from(owned[key], inner)
            if owned[key]:
                continue
        del owned[key]


def _add_to(owned: dict[str, Any], fields: dict[str, Any], after: object) -> None:
    """Give fields to who set them; nobody has what was removed."""
    for key, inner in fields.items():
        told = after.get(key.removeprefix("f:")) if isinstance(after, dict) else None
        if told is not None:
            _add_to(owned.setdefault(key, {}), inner, told)
