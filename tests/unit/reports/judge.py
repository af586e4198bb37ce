"""Judge what would be sent: Slack's documented limits, written here a second time, and the SDK's.

https://docs.slack.dev/reference/block-kit/ and https://docs.slack.dev/reference/views
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from slack_sdk.models.blocks import Block
from slack_sdk.models.views import View as SdkView

from bot.reports.slack.message import Json, Message, View

#: (type of the owner, field) → characters
_TEXTS = {
    ("header", "text"): 150,
    ("section", "text"): 3000,
    ("section", "fields"): 2000,
    ("button", "text"): 75,
    ("option", "text"): 75,
    ("option", "description"): 75,
    ("group", "label"): 75,
    ("input", "label"): 2000,
    ("input", "hint"): 2000,
    ("alert", "text"): 200,
    ("modal", "title"): 24,
    ("modal", "submit"): 24,
    ("modal", "close"): 24,
}
_LISTS = {
    ("context", "elements"): 10,
    ("actions", "elements"): 25,
    ("section", "fields"): 10,
    ("overflow", "options"): 5,
    ("static_select", "options"): 100,
    ("static_select", "option_groups"): 100,
    ("group", "options"): 100,
    ("table", "rows"): 100,
}
_IDS = {"block_id": 255, "action_id": 255, "value": 2000, "url": 3000}


def judge(sent: Message | View) -> None:
    """Raise `AssertionError` where Slack would refuse what is sent."""
    whole = sent.to_post() if isinstance(sent, Message) else sent.to_view()
    json.dumps(whole, ensure_ascii=False).encode()  # no half of a surrogate pair
    blocks = whole["blocks"]
    assert 0 < len(blocks) <= (50 if isinstance(sent, Message) else 100)
    for block in Block.parse_all(blocks):
        block.to_dict()  # the SDK's own checks
    _unique(each["block_id"] for each in blocks if "block_id" in each)
    for block in blocks:
        _unique(each["action_id"] for each in objects(block) if "action_id" in each)
    for owner, kind in _kinds(whole):
        _judge_one(owner, kind)
    _judge_sums(blocks)
    if isinstance(sent, Message):
        assert 0 < len(whole["text"].encode()) <= 4000
        assert len(json.dumps(whole["metadata"]).encode()) <= 8000
        assert len(json.dumps(blocks, ensure_ascii=False, separators=(",", ":"))) <= 13_000
    else:
        assert len(json.dumps(whole).encode()) <= 250_000
        assert len(whole.get("private_metadata", "")) <= 3000
        if sent.type == "modal":
            SdkView(**{**whole, "blocks": blocks}).to_dict()


def _judge_one(owner: Json, kind: str) -> None:
    for field, value in owner.items():
        for text in value if isinstance(value, list) else [value]:
            if isinstance(text, dict) and text.get("type") in {"plain_text", "mrkdwn"}:
                most = 150 if field == "placeholder" else _TEXTS.get((kind, field), 3000)
                assert 0 < len(text["text"]) <= most, (kind, field, len(text["text"]))
        if isinstance(value, list) and (kind, field) in _LISTS:
            assert 0 < len(value) <= _LISTS[kind, field], (kind, field, len(value))
        if field in _IDS and isinstance(value, str):
            assert 0 < len(value) <= (150 if kind == "option" else _IDS[field]), (kind, field)
    if kind == "table":
        assert all(0 < len(row) <= 20 for row in owner["rows"])


def _judge_sums(blocks: list[Json]) -> None:
    cells = [
        cell
        for block in blocks
        if block["type"] == "table"
        for row in block["rows"]
        for cell in row
    ]
    written = ["".join(_written(cell)) for cell in cells]
    assert all(written)
    assert sum(block["type"] == "table" for block in blocks) <= 1
    assert sum(map(len, written)) <= 10_000
    assert sum(len(block["text"]) for block in blocks if block["type"] == "markdown") <= 12_000


def _written(cell: Json) -> Iterator[str]:
    """Yield the texts of a table's cell: raw, or rich with times in it."""
    for each in objects(cell):
        yield str(each.get("text") or each.get("fallback") or "")


def _unique(ids: Iterator[str]) -> None:
    listed = list(ids)
    assert len(set(listed)) == len(listed), listed


def _kinds(node: Any) -> Iterator[tuple[Json, str]]:  # noqa: ANN401 - any part of a JSON tree
    for each in objects(node):
        if "type" in each:
            yield each, each["type"]
        elif "options" in each:
            yield each, "group"
        elif "value" in each:
            yield each, "option"


def objects(node: Any) -> Iterator[Json]:  # noqa: ANN401 - any part of a JSON tree
    """Return every JSON object at or below a node."""
    if isinstance(node, dict):
        yield node
    for each in node.values() if isinstance(node, dict) else node if isinstance(node, list) else ():
        yield from objects(each)


def strings(node: Any) -> Iterator[str]:  # noqa: ANN401 - any part of a JSON tree
    """Return every text at or below a node."""
    if isinstance(node, str):
        yield node
    for each in node.values() if isinstance(node, dict) else node if isinstance(node, list) else ():
        yield from strings(each)
