"""Find what limits apply to in a block's JSON: texts, lists, ids."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from bot.reports import limits
from bot.reports.limits import length
from bot.reports.slack.cutting import cell_length, rich_length
from bot.reports.slack.message import Json

_TEXT_OBJECTS = frozenset({"plain_text", "mrkdwn"})
#: Measured as a whole, by their own rules.
_OWN_RULES = frozenset({"rich_text", "table", "markdown"})


def kind(node: Json, outside: str) -> str:
    """Return the kind of an object as the table of limits names it."""
    if "type" in node:
        return str(node["type"])
    if "options" in node:
        return "option group"
    return "option" if "value" in node else outside


def texts(node: Any, owner: str, field: str = "") -> Iterator[tuple[Json, int]]:  # noqa: ANN401
    """Return every text object below a node with how many characters it may have."""
    if isinstance(node, list):
        for each in node:
            yield from texts(each, owner, field)
    elif isinstance(node, dict):
        if node.get("type") in _TEXT_OBJECTS:
            yield node, limits.most_of(owner, field, limits.most("text object.text"))
        elif node.get("type") not in _OWN_RULES:
            for name, value in node.items():
                yield from texts(value, kind(node, owner), name)


def rich_texts(node: Any) -> Iterator[Json]:  # noqa: ANN401 - any part of a JSON tree
    """Return every rich text block at or below a node; those in table cells count as cells."""
    if isinstance(node, list):
        for each in node:
            yield from rich_texts(each)
    elif isinstance(node, dict) and node.get("type") == "rich_text":
        yield node
    elif isinstance(node, dict) and node.get("type") != "table":
        for value in node.values():
            yield from rich_texts(value)


def lists(node: Any, owner: str = "") -> Iterator[tuple[str, str, list[Any]]]:  # noqa: ANN401
    """Return every list below a node, with its owner's kind and its field."""
    if isinstance(node, list):
        for each in node:
            yield from lists(each, owner)
    elif isinstance(node, dict):
        owner = kind(node, owner)
        for name, value in node.items():
            if isinstance(value, list):
                yield owner, name, value
            yield from lists(value, owner)


def size(block: Json) -> int:
    """Count the characters of a block that can be shortened; 0 for one that cannot."""
    match block["type"]:
        case "rich_text":
            return rich_length(block)
        case "table":
            return sum(map(cell_length, block["rows"]))
        case "markdown":
            return length(block["text"])
        case "section" if "text" in block:
            return length(block["text"]["text"])
        case "plan":
            return sum(map(rich_length, rich_texts(block)))
    return 0
