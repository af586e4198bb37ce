"""The three ways to patch an object, and what of it changed."""

from __future__ import annotations

import copy
import json
from typing import Any

from playground.kubernetes.resources import Kind
from playground.kubernetes.statuses import Refusal

MERGE = "application/merge-patch+json"
STRATEGIC = "application/strategic-merge-patch+json"
OPERATIONS = "application/json-patch+json"

#: Lists that a strategic merge joins by a key (patchMergeKey in the types of k8s.io/api).
_MERGE_KEYS = {
    "taints": "key",
    "conditions": "type",
    "containers": "name",
    "env": "name",
    "ownerReferences": "uid",
    "addresses": "type",
}


def patched(kind: Kind, old: dict[str, Any], media: str, body: bytes) -> dict[str, Any]:
    """Return an object after a patch; raises Refusal for a patch or type that is not taken."""
    media = media.partition(";")[0].strip()
    taken = [OPERATIONS, MERGE, *(() if kind.custom else (STRATEGIC,))]
    if media not in taken:
        accepted = ", ".join(taken)
        message = (
            "the body of the request was in an unknown format - accepted media types include: "
            f"{accepted}"
        )
        raise Refusal(415, message)
    try:
        change = json.loads(body)
    except ValueError as error:
        message = f"error decoding patch: {error}"
        raise Refusal(400, message) from None
    if media == OPERATIONS:
        return _operated(copy.deepcopy(old), change)
    if not isinstance(change, dict):
        raise Refusal(400, "error decoding patch: json: cannot unmarshal into Go value")
    result = _merged(copy.deepcopy(old), change, strategic=media == STRATEGIC)
    return result if isinstance(result, dict) else {}


def _merged(old: object, change: object, *, strategic: bool) -> object:
    """Merge as RFC 7396 says; a strategic merge also joins some lists by a key."""
    if not isinstance(change, dict):
        return change
    result: dict[str, Any] = dict(old) if isinstance(old, dict) else {}
    for key, entry in change.items():
        if strategic and key.startswith("$"):
            continue
        if entry is None:
            result.pop(key, None)
        elif strategic and isinstance(entry, list) and key in _MERGE_KEYS:
            result[key] = _joined(result.get(key) or [], entry, _MERGE_KEYS[key])
        else:
            result[key] = _merged(result.get(key), entry, strategic=strategic)
    return result


def _joined(old: list[Any], change: list[Any], by: str) -> list[Any]:
    result = list(old)
    for entry in change:
        if not isinstance(entry, dict) or by not in entry:
            message = f"map: {json.dumps(entry)} does not contain declared merge key: {by}"
            raise Refusal(400, message)
        place = next((i for i, one in enumerate(result) if one.get(by) == entry[by]), None)
        if entry.get("$patch") == "delete":
            result = [one for one in result if one.get(by) != entry[by]]
        elif place is None:
            result.append(entry)
        else:
            result[place] = _merged(result[place], entry, strategic=True)
    return result


def _operated(document: dict[str, Any], operations: object) -> dict[str, Any]:
    """Apply the operations of RFC 6902 that clients use: add, replace, remove, test."""
    if not isinstance(operations, list):
        raise Refusal(400, "error decoding patch: a JSON patch is a list")
    for one in operations:
        path = [part.replace("~1", "/").replace("~0", "~") for part in one["path"].split("/")[1:]]
        *parents, last = path
        place: Any = document
        try:
            for key in parents:
                place = place[int(key)] if isinstance(place, list) else place[key]
            _operate(place, last, one)
        except (KeyError, IndexError, ValueError, TypeError):
            message = "the server rejected our request due to an error in our request"
            raise Refusal(422, message) from None
    return document


def _operate(place: Any, last: str, one: dict[str, Any]) -> None:  # noqa: ANN401 - any JSON
    index: Any = last if isinstance(place, dict) else len(place) if last == "-" else int(last)
    match one["op"]:
        case "remove":
            del place[index]
        case "test":
            if place[index] != one["value"]:
                raise KeyError(last)
        case "add" if isinstance(place, list):
            place.insert(index, one["value"])
        case "add":
            place[index] = one["value"]
        case "replace":
            place[index] = (place[index], one["value"])[1]
        case _:
            raise KeyError(one["op"])


def changed(old: object, new: object) -> dict[str, Any]:
    """Return the fields that differ, as `fieldsV1` writes them; lists count as one field."""
    before = old if isinstance(old, dict) else {}
    after = new if isinstance(new, dict) else {}
    found: dict[str, Any] = {}
    for key in sorted(before.keys() | after.keys()):
        if before.get(key) != after.get(key):
            inner = after.get(key)
            found[f"f:{key}"] = changed(before.get(key), inner) if isinstance(inner, dict) else {}
    return found
