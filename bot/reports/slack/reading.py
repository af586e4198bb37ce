"""Read blocks as plain text: for the file that holds what was cut, and where no text is given."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

from bot.reports.slack.message import Json

_ENTITIES = {"&amp;": "&", "&lt;": "<", "&gt;": ">"}
_TOKEN = re.compile(r"<([^<>|]+)(?:\|([^<>]*))?>")
_TEXTS = frozenset({"plain_text", "mrkdwn", "raw_text", "markdown"})


def reading(node: Any) -> str:  # noqa: ANN401 - any part of a JSON tree
    """Return what a person reads in a block or in a part of one, line by line."""
    if isinstance(node, list):
        return "\n".join(_lines(node))
    if not isinstance(node, dict):
        return ""
    kind = node.get("type", "")
    if kind in _TEXTS:
        text = str(node["text"])
        return unescaped(text) if kind == "mrkdwn" else text
    if kind == "table":
        return "\n".join("\t".join(map(reading, row)) for row in node["rows"])
    if kind.startswith("rich_text"):
        return _rich(node)
    parts = (node[name] for name in _READ if name in node)
    return "\n".join(_lines(parts))


#: Fields that hold something to read, in the order in which it is shown.
_READ = (
    "title",
    "label",
    "text",
    "description",
    "fields",
    "hint",
    "elements",
    "accessory",
    "element",
    "tasks",
    "details",
    "output",
    "option_groups",
    "options",
)


def _lines(parts: Iterable[Any]) -> Iterator[str]:
    for part in parts:
        text = part if isinstance(part, str) else reading(part)
        if text:
            yield text


def _rich(node: Json) -> str:
    kind = node["type"]
    if kind == "rich_text":
        return "\n".join(_rich(each).rstrip("\n") for each in node["elements"])
    if kind == "rich_text_list":
        ordered = node.get("style") == "ordered"
        entries = enumerate(map(_rich, node["elements"]), 1)
        return "\n".join(f"{f'{n}.' if ordered else '•'} {entry}" for n, entry in entries)
    return "".join(map(_inline, node["elements"]))


def _inline(node: Json) -> str:
    kind = node["type"]
    if kind == "link":
        return f"{node.get('text') or ''} ({node['url']})".strip()
    if kind == "date":
        return str(node.get("fallback", ""))
    if kind == "channel":
        return f"#{node['channel_id']}"
    if kind in {"user", "usergroup"}:
        return f"@{node[f'{kind}_id']}"
    return str(node.get("text", ""))


def unescaped(text: str) -> str:
    """Return mrkdwn without its entities and tokens: links and dates by their labels."""
    bare = _TOKEN.sub(lambda found: found[2] or found[1].lstrip("!#"), text)
    return re.sub("&(?:amp|lt|gt);", lambda found: _ENTITIES[found[0]], bare)
