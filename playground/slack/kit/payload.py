"""Judge whole messages and views: what no single block can tell."""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterator

from playground.slack.kit.blocks import BLOCKS
from playground.slack.kit.objects import plain
from playground.slack.kit.rules import Findings, Flag, Items, Json, Rule, Shape, Text, Word

#: Blocks in one payload (docs.slack.dev/reference/block-kit/blocks).
MOST_BLOCKS = {"message": 50, "modal": 100, "home": 100}

#: Characters of all markdown blocks of one payload (…/blocks/markdown-block).
MARKDOWN_MOST = 12_000

#: Characters of all blocks of one message together. Slack documents the error alone
#: (`msg_blocks_too_long`); the number is what github.com/slackapi/bolt-js/issues/2509 measured
#: with a divider beside the text, the lower of the two there.
ALL_BLOCKS_MOST = 13_172

#: A view as JSON (docs.slack.dev/reference/methods/views.open, `view_too_large`).
VIEW_BYTES_MOST = 250 * 1000

#: Fields whose strings are seen by a reader.
_SEEN = frozenset({"text", "alt_text", "title", "label", "url"})

_VIEW: dict[str, Rule] = {
    "private_metadata": Text(most=3000),
    "callback_id": Text(most=255),
    "external_id": Text(most=255),
}

#: docs.slack.dev/reference/views/modal-views and …/home-tab-views
VIEWS: dict[str, Shape] = {
    "modal": Shape(
        fields={
            **_VIEW,
            "type": Word(("modal",)),
            "title": plain(24),
            "submit": plain(24),
            "close": plain(24),
            "clear_on_close": Flag(),
            "notify_on_close": Flag(),
            "blocks": Items(each=BLOCKS["modal"], most=MOST_BLOCKS["modal"]),
        },
        required=("type", "title", "blocks"),
    ),
    "home": Shape(
        fields={
            **_VIEW,
            "type": Word(("home",)),
            "blocks": Items(each=BLOCKS["home"], most=MOST_BLOCKS["home"]),
        },
        required=("type", "blocks"),
    ),
}


def judge_blocks(blocks: object, at: str = "/blocks") -> list[str]:
    """Return what is wrong with the blocks of a message, in Slack's words; empty is good."""
    findings = Findings(surface="message")
    rule = Items(each=BLOCKS["message"], most=MOST_BLOCKS["message"])
    rule.check(blocks, at, findings)
    if not findings.found and isinstance(blocks, list):
        _unique(blocks, at, findings)
    return [str(one) for one in findings.found]


def several_tables(blocks: list[Json]) -> bool:
    """Tell whether a message has more than its one table (…/blocks/table-block)."""
    return len([one for one in blocks if one["type"] == "table"]) > 1


def too_long(blocks: list[Json]) -> bool:
    """Tell whether blocks that are right one by one are too long together."""
    markdown = sum(len(one["text"]) for one in blocks if one["type"] == "markdown")
    return markdown > MARKDOWN_MOST or seen_characters(blocks) > ALL_BLOCKS_MOST


def seen_characters(value: object, name: str = "") -> int:
    """Count the characters of all strings that a reader sees."""
    if isinstance(value, str):
        return len(value) if name in _SEEN else 0
    if isinstance(value, list):
        return sum(seen_characters(one, name) for one in value)
    if isinstance(value, dict):
        return sum(seen_characters(one, key) for key, one in value.items())
    return 0


def judge_view(view: object, surface: str = "") -> list[str]:
    """Return what is wrong with a view; a surface refuses views of another type."""
    kind = view.get("type") if isinstance(view, dict) else None
    rule = VIEWS.get(kind) if isinstance(kind, str) else None
    if not isinstance(view, dict) or rule is None or surface not in ("", kind):
        return [f"unsupported type: {kind} [json-pointer:/view/type]"]
    findings = Findings(surface=str(kind))
    rule.check(view, "/view", findings)
    if not findings.found:
        _unique(view["blocks"], "/view/blocks", findings)
        inputs = any(block["type"] == "input" for block in view["blocks"])
        if kind == "modal" and inputs and "submit" not in view:
            findings.add("missing required field: submit", "/view")
        _one_focus(view["blocks"], findings)
    return [str(one) for one in findings.found]


def view_too_large(view: object) -> bool:
    """Tell whether a view is over its limit of bytes."""
    return len(json.dumps(view).encode()) > VIEW_BYTES_MOST


def _unique(blocks: list[Json], at: str, findings: Findings) -> None:
    """Refuse a `block_id` used twice in the payload, an `action_id` used twice in a block."""
    seen: set[str] = set()
    for place, block in enumerate(blocks):
        block_id = block.get("block_id")
        if block_id in seen:
            findings.add(f'`block_id` "{block_id}" already exists', f"{at}/{place}/block_id")
        seen |= {block_id} if block_id else set()
        actions: set[str] = set()
        for element in elements(block):
            action = element.get("action_id")
            if action in actions:
                findings.add(f'`action_id` "{action}" already exists', f"{at}/{place}")
            actions |= {action} if action else set()


def _one_focus(blocks: list[Json], findings: Findings) -> None:
    """Refuse a second `focus_on_load` in a view (the page of each element that has it)."""
    focused = [one for block in blocks for one in elements(block) if one.get("focus_on_load")]
    if len(focused) > 1:
        findings.add("only one element can have focus_on_load", "/view/blocks")


def elements(block: Json) -> Iterator[Json]:
    """Give the interactive elements of a block, wherever its type keeps them."""
    kind = block["type"]
    if kind in ("actions", "context_actions"):
        yield from block["elements"]
    elif kind == "section" and "accessory" in block:
        yield block["accessory"]
    elif kind == "input":
        yield block["element"]
    elif kind == "card":
        yield from block.get("actions", [])
    elif kind == "carousel":
        for card in block["elements"]:
            yield from elements(card)


def with_ids(blocks: list[Json]) -> list[Json]:
    """Give each block and element the id that Slack makes up where the app gave none."""
    for block in blocks:
        block.setdefault("block_id", secrets.token_hex(3))
        for element in elements(block):
            if element["type"] != "image":
                element.setdefault("action_id", secrets.token_hex(3))
    return blocks
