"""Shorten one text or one block so that it still reads, and says that it was shortened."""

from __future__ import annotations

import re
from collections.abc import Iterator

from bot.reports.limits import length
from bot.reports.slack.message import Json
from bot.reports.slack.reading import reading

#: Ends a text that was cut; its whole is attached.
WHOLE_ATTACHED = " … (whole text attached)"
#: The same in a view, which takes no files, and where there is no room for words.
ELLIPSIS = "…"
_ROOM_FOR_WORDS = 200
#: How far back a cut looks for the end of a line or a word.
_REACH = 80
_OPEN_TOKEN = re.compile(r"<[^<>]*\Z|&[a-z]{0,4}\Z")


def cut(text: str, most: int, mark: str = WHOLE_ATTACHED) -> str:
    """Return a text of at most `most` characters that ends in the mark.

    No token (`<…>`), entity (`&…;`), surrogate pair or backslash escape is cut through.
    """
    if most < _ROOM_FOR_WORDS:
        mark = ELLIPSIS
    kept = _prefix(text, max(most - length(mark), 0))
    if len(kept) > _ROOM_FOR_WORDS:
        end = max(kept.rfind("\n", -_REACH), kept.rfind(" ", -_REACH))
        kept = kept[:end] if end > 0 else kept
    kept = _OPEN_TOKEN.sub("", kept).rstrip()
    if (len(kept) - len(kept.rstrip("\\"))) % 2:
        kept = kept[:-1]
    return kept + mark


def _prefix(text: str, most: int) -> str:
    """Return as much of the beginning as has no more UTF-16 code units."""
    kept = text[:most]
    while (over := length(kept) - most) > 0:
        # an excess unit is at most one character, and no character has more than two
        kept = kept[: len(kept) - max(over // 2, 1)]
    return kept


def cut_rich(block: Json, most: int, mark: str) -> None:
    """Shorten a rich text block, in place, to so many characters over all its texts."""
    left = most - length(mark)
    for parent, leaf in list(_leaves(block)):
        size = length(_said(leaf))
        if size <= left:
            left -= size
            continue
        if left > 0 and leaf["type"] == "text":
            leaf["text"] = _prefix(leaf["text"], left).rstrip() or ELLIPSIS
        else:
            parent["elements"].remove(leaf)
        left = 0
    block["elements"] = [each for each in block["elements"] if each["elements"]]
    block["elements"].append(
        {"type": "rich_text_section", "elements": [{"type": "text", "text": mark.strip()}]}
    )


def rich_length(block: Json) -> int:
    """Count the characters of all texts of a rich text block."""
    return sum(length(_said(leaf)) for _, leaf in _leaves(block))


def _said(leaf: Json) -> str:
    return str(leaf.get("text") or leaf.get("fallback") or leaf.get("url") or "")


def _leaves(node: Json) -> Iterator[tuple[Json, Json]]:
    for each in node["elements"]:
        if "elements" in each:
            yield from _leaves(each)
        else:
            yield node, each


def cell_length(row: list[Json]) -> int:
    """Count the characters of a table's row."""
    return sum(length(reading(cell)) for cell in row)


def cut_table(block: Json, most: int, mark: str) -> None:
    """Shorten a table, in place: whole rows from its end, at last the cells of its first two."""
    rows: list[list[Json]] = block["rows"]
    width = len(rows[0])
    left = most - length(mark) - width
    while len(rows) > 2 and sum(map(cell_length, rows)) > left:  # noqa: PLR2004 - head and one row
        rows.pop()
    if sum(map(cell_length, rows)) > left:
        each = max(left // (width * len(rows)), 1)
        for row in rows:
            row[:] = [_shorter(cell, each) for cell in row]
    rows.append(last_row(mark, width))


def last_row(mark: str, width: int) -> list[Json]:
    """Return the row that ends a table that was cut."""
    return [_raw(mark.strip()), *(_raw(ELLIPSIS) for _ in range(width - 1))]


def _shorter(cell: Json, most: int) -> Json:
    text = reading(cell)
    return cell if length(text) <= most else _raw(_prefix(text, most - 1) + ELLIPSIS)


def _raw(text: str) -> Json:
    return {"type": "raw_text", "text": text}
