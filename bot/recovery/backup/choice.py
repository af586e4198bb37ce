"""What a person chose to back up: ids alone, so that no foreign text is kept or sent back. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from bot.hosts.backups import Item, Place, Survey, What
from bot.recovery.errors import RefusedStepError

#: Where it stands in what an approval keeps of what was seen.
KEPT_AS = "backup"
#: Most entries that a menu takes; what is beyond them is chosen as one.
MOST_LISTED = 90
#: The rest of an owner's items, as one entry of the menu.
_REST = "rest-of-"
_OTHERS = "all-of-"


@dataclass(frozen=True, kw_only=True, slots=True)
class Choice:
    """Where to, and which entries of the menu."""

    place: str
    entries: tuple[str, ...]

    def kept(self) -> dict[str, Any]:
        """Return it as an approval keeps it."""
        return {KEPT_AS: {"place": self.place, "entries": list(self.entries)}}

    @classmethod
    def of(cls, seen: Mapping[str, Any]) -> Choice:
        """Read it from what an approval keeps; raises RefusedStepError where nothing was chosen."""
        told = seen.get(KEPT_AS)
        if not told:
            raise RefusedStepError("Nobody chose what to back up; press Back up again.")
        return cls(place=str(told["place"]), entries=tuple(map(str, told["entries"])))


@dataclass(frozen=True, kw_only=True, slots=True)
class Entry:
    """One entry of the menu: an item, or several that are chosen as one."""

    id: str
    items: tuple[Item, ...]
    #: chosen unless somebody says otherwise
    proposed: bool = False

    @property
    def size_bytes(self) -> int:
        """Return the bytes that it takes."""
        return sum(one.size_bytes for one in self.items)

    @property
    def listed(self) -> bool:
        """Tell whether its path may be shown: it is the job's owner's, and one item."""
        return not self.id.startswith((_REST, _OTHERS))


def entries(found: Survey, owner: str) -> tuple[Entry, ...]:
    """Return what can be chosen: the job owner's items one by one, everybody else's as one each.

    `owner` is who the job belongs to; where that is not known, nobody's paths are shown. Proposed
    are checkpoints and all folders of the owner with something in them but container layers, and
    other owners' data: what nobody chooses is lost.
    """
    own = [one for one in found.items if owner and one.owner == owner]
    listed = [
        Entry(id=one.id, items=(one,), proposed=one.what is not What.CONTAINERS)
        for one in own[:MOST_LISTED]
    ]
    if rest := tuple(own[MOST_LISTED:]):
        listed.append(Entry(id=f"{_REST}{rest[0].uid}", items=rest, proposed=True))
    uids = sorted({one.uid for one in found.items if one not in own})
    for uid in uids:
        theirs = tuple(one for one in found.items if one.uid == uid and one not in own)
        layers = all(one.what is What.CONTAINERS for one in theirs)
        listed.append(Entry(id=f"{_OTHERS}{uid}", items=theirs, proposed=not layers))
    return tuple(listed)


def chosen(found: Survey, owner: str, choice: Choice) -> tuple[Place, tuple[Entry, ...]]:
    """Return what a choice comes to now; raises RefusedStepError with what has changed."""
    place = next((one for one in found.places if one.id == choice.place), None)
    if place is None:
        raise RefusedStepError("The chosen destination is not mounted on the VM any more.")
    if place.why:
        raise RefusedStepError(f"Nothing is copied to {place.shown}: {place.why}.")
    wanted = set(choice.entries)
    picked = tuple(one for one in entries(found, owner) if one.id in wanted)
    if not picked:
        raise RefusedStepError("Nothing of what was chosen is on the VM any more.")
    return place, picked
