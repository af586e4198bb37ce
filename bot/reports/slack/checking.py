"""Refuse what cannot be cut: ids that are too long or not unique are a mistake in the product."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from bot.reports import limits
from bot.reports.errors import UnsendableError
from bot.reports.limits import Unit, length
from bot.reports.slack.message import Json
from bot.reports.slack.walking import kind

#: Fields whose values name or address something.
_NAMING = ("block_id", "action_id", "value", "url")


def blocks(found: list[Json]) -> None:
    """Raise `UnsendableError` for an id that is too long, or that two of one place share."""
    _unique("block_id", [block["block_id"] for block in found if "block_id" in block])
    for block in found:
        names = list(_names(block, "block"))
        for owner, field, value in names:
            _short(f"{owner}.{field}", value, limits.most_of(owner, field, limits.most("any.url")))
        _unique("action_id", [value for _, field, value in names if field == "action_id"])


def fields(named: Mapping[str, str]) -> None:
    """Raise `UnsendableError` for a field of a modal that is too long."""
    for name, value in named.items():
        _short(f"modal.{name}", value, limits.most(f"modal.{name}"))


def metadata(found: Json) -> None:
    """Raise `UnsendableError` for metadata that is too large."""
    size = len(json.dumps(found).encode())
    if size > limits.most("message.metadata", Unit.BYTES):
        raise UnsendableError(
            f"The metadata of a message has {size} bytes, more than Slack takes. Nothing was "
            "sent; keep the data in the store and its id in the metadata."
        )


def _short(where: str, value: str, most: int) -> None:
    if length(value) > most:
        raise UnsendableError(
            f"A {where} has {length(value)} characters, Slack takes {most}. Nothing was sent; an "
            "id must not carry data."
        )


def _unique(field: str, values: list[str]) -> None:
    twice = sorted({value for value in values if values.count(value) > 1})
    if twice:
        raise UnsendableError(
            f"The {field} {twice[0]!r} stands twice in one place, which Slack refuses. Nothing "
            "was sent; give each its own."
        )


def _names(node: Any, owner: str) -> Iterator[tuple[str, str, str]]:  # noqa: ANN401
    if isinstance(node, list):
        for each in node:
            yield from _names(each, owner)
    elif isinstance(node, dict):
        owner = kind(node, owner)
        for name, value in node.items():
            if name in _NAMING and isinstance(value, str):
                yield owner, name, value
            yield from _names(value, owner)
