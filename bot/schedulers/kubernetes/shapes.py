"""Read the JSON of the API: what is missing or of another type was not told. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import cast

Raw = Mapping[str, object]

#: RFC 1123 subdomain, as objects are named.
_NAME = re.compile(r"[a-z0-9](?:[-a-z0-9.]{0,251}[a-z0-9])?", re.ASCII)
_NOTHING: Raw = {}
_LONGEST = 300


def is_name(text: str) -> bool:
    """Tell whether a text can name an object of the API."""
    return _NAME.fullmatch(text) is not None


def part(raw: object, *path: str) -> Raw:
    """Return the object at a path; an empty one where there is none."""
    found = value(raw, *path)
    return cast("Raw", found) if isinstance(found, Mapping) else _NOTHING


def value(raw: object, *path: str) -> object:
    """Return whatever is at a path."""
    for key in path:
        raw = raw.get(key) if isinstance(raw, Mapping) else None
    return raw


def text(raw: object, *path: str) -> str:
    """Return the text at a path; empty where there is none."""
    found = value(raw, *path)
    return found if isinstance(found, str) else ""


def words(raw: object, *path: str) -> str:
    """Return the text at a path as one short printable line, for what people read."""
    return one_line(text(raw, *path))


def one_line(said: str) -> str:
    """Return a text as one short line of printable characters."""
    plain = " ".join("".join(c if c.isprintable() else " " for c in said[: 2 * _LONGEST]).split())
    return plain if len(plain) <= _LONGEST else f"{plain[: _LONGEST - 1]}…"


def whole(raw: object, *path: str) -> int | None:
    """Return the whole number at a path; None where there is none."""
    found = value(raw, *path)
    return found if isinstance(found, int) and not isinstance(found, bool) else None


def flag(raw: object, *path: str) -> bool:
    """Tell whether there is a `true` at a path."""
    return value(raw, *path) is True


def listed(raw: object, *path: str) -> list[Raw]:
    """Return the objects of the list at a path."""
    found = value(raw, *path)
    rows: Iterable[object] = found if isinstance(found, list) else ()
    return [cast("Raw", row) for row in rows if isinstance(row, Mapping)]


def strings(raw: object, *path: str) -> list[str]:
    """Return the texts of the list at a path."""
    found = value(raw, *path)
    rows: Iterable[object] = found if isinstance(found, list) else ()
    return [row for row in rows if isinstance(row, str)]


def table(raw: object, *path: str) -> dict[str, str]:
    """Return the names and texts of the object at a path: labels, annotations."""
    return {key: entry for key, entry in part(raw, *path).items() if isinstance(entry, str)}


def when(raw: object, *path: str) -> datetime | None:
    """Return the RFC 3339 time at a path, in UTC; None where there is none."""
    try:
        found = datetime.fromisoformat(text(raw, *path))
    except ValueError:
        return None
    return found.astimezone(UTC) if found.tzinfo else None


def name(raw: object) -> str:
    """Return an object's name; empty where it is none that the API could have given."""
    found = text(raw, "metadata", "name")
    return found if is_name(found) else ""


def namespace(raw: object) -> str:
    """Return an object's namespace."""
    found = text(raw, "metadata", "namespace")
    return found if is_name(found) else ""


def uid(raw: object) -> str:
    """Return an object's uid."""
    return text(raw, "metadata", "uid")


def labels(raw: object) -> dict[str, str]:
    """Return an object's labels."""
    return table(raw, "metadata", "labels")


def annotated(raw: object) -> dict[str, str]:
    """Return an object's annotations."""
    return table(raw, "metadata", "annotations")


def owner(raw: object) -> Raw:
    """Return the reference to the controller that an object belongs to; empty without one."""
    owners = listed(raw, "metadata", "ownerReferences")
    return next((one for one in owners if flag(one, "controller")), _NOTHING)


def condition(raw: object, wanted: str) -> Raw:
    """Return a condition that holds; empty where it does not."""
    found = listed(raw, "status", "conditions")
    holding = (one for one in found if text(one, "type") == wanted)
    return next((one for one in holding if text(one, "status") == "True"), _NOTHING)
