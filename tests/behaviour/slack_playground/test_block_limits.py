"""Prove that each documented limit of Block Kit holds at its number and not one further.

Every row says on which page of docs.slack.dev/reference/block-kit the number stands; the error of
all of them, `invalid_blocks`, is on docs.slack.dev/reference/methods/chat.postMessage.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import pytest
from slack_sdk.web.async_client import AsyncWebClient

from tests.behaviour.slack_playground.asking import (
    Json,
    actions,
    button,
    mrkdwn,
    plain,
    refusal,
    section,
    text_input,
)

pytestmark = pytest.mark.anyio

CHANNEL = "C0TRAINING"
LONG = "must be less than {over} characters"
MANY = "no more than {most} items allowed"


@dataclass(frozen=True, kw_only=True)
class Limit:
    """A limit: a message of so many, the most there may be, and what is said of one more."""

    #: the page with the number
    page: str
    most: int
    blocks: Callable[[int], list[Json]]
    said: str = LONG
    at: str


def address(size: int) -> str:
    """Return a URL of so many characters."""
    return "https://example.com/".ljust(size, "x")


def options(count: int, size: int = 1) -> list[Json]:
    """Return so many options, their texts so long."""
    return [{"text": plain("x" * size), "value": f"v{n}"} for n in range(count)]


def select(**more: object) -> Json:
    """Return a menu with one option unless others are given."""
    menu = {"type": "static_select", "action_id": "pick", "options": options(1)}
    return actions({**menu, **more})


def grouped(groups: list[Json]) -> Json:
    """Return a menu whose options are in groups."""
    return actions({"type": "static_select", "action_id": "pick", "option_groups": groups})


def confirm(**more: Json) -> Json:
    """Return a button that asks first."""
    asks = {"title": plain("t"), "text": plain("x"), "confirm": plain("y"), "deny": plain("n")}
    return actions(button(confirm={**asks, **more}))


def table(rows: int = 1, columns: int = 1, **more: object) -> Json:
    """Return a table of one-letter cells."""
    cells = [[{"type": "raw_text", "text": "x"}] * columns] * rows
    return {"type": "table", "rows": cells, **more}


def image(**more: object) -> Json:
    """Return an image block."""
    return {"type": "image", "image_url": "https://example.com/a.png", "alt_text": "a", **more}


LIMITS = [
    Limit(
        page="blocks (50 in a message)", most=50, said=MANY, at="/blocks",
        blocks=lambda n: [{"type": "divider"}] * n,
    ),
    Limit(
        page="blocks/section-block (text)", most=3000, at="/blocks/0/text/text",
        blocks=lambda n: [section("x" * n)],
    ),
    Limit(
        page="blocks/section-block (fields)", most=10, said=MANY, at="/blocks/0/fields",
        blocks=lambda n: [{"type": "section", "fields": [mrkdwn("x")] * n}],
    ),
    Limit(
        page="blocks/section-block (a field)", most=2000, at="/blocks/0/fields/0/text",
        blocks=lambda n: [{"type": "section", "fields": [mrkdwn("x" * n)]}],
    ),
    Limit(
        page="blocks (block_id)", most=255, at="/blocks/0/block_id",
        blocks=lambda n: [section(block_id="x" * n)],
    ),
    Limit(
        page="blocks/header-block", most=150, at="/blocks/0/text/text",
        blocks=lambda n: [{"type": "header", "text": plain("x" * n)}],
    ),
    Limit(
        page="blocks/context-block (elements)", most=10, said=MANY, at="/blocks/0/elements",
        blocks=lambda n: [{"type": "context", "elements": [mrkdwn("x")] * n}],
    ),
    Limit(
        page="composition-objects/text-object", most=3000, at="/blocks/0/elements/0/text",
        blocks=lambda n: [{"type": "context", "elements": [mrkdwn("x" * n)]}],
    ),
    Limit(
        page="blocks/actions-block (elements)", most=25, said=MANY, at="/blocks/0/elements",
        blocks=lambda n: [actions(*(button(f"a{i}") for i in range(n)))],
    ),
    Limit(
        page="block-elements/button-element (text)", most=75, at="/blocks/0/elements/0/text/text",
        blocks=lambda n: [actions(button(text=plain("x" * n)))],
    ),
    Limit(
        page="block-elements/button-element (value)", most=2000, at="/blocks/0/elements/0/value",
        blocks=lambda n: [actions(button(value="x" * n))],
    ),
    Limit(
        page="block-elements/button-element (url)", most=3000, at="/blocks/0/elements/0/url",
        blocks=lambda n: [actions(button(url=address(n)))],
    ),
    Limit(
        page="block-elements/button-element (action_id)", most=255,
        at="/blocks/0/elements/0/action_id", blocks=lambda n: [actions(button("x" * n))],
    ),
    Limit(
        page="block-elements/button-element (accessibility_label)", most=75,
        at="/blocks/0/elements/0/accessibility_label",
        blocks=lambda n: [actions(button(accessibility_label="x" * n))],
    ),
    Limit(
        page="composition-objects/confirmation-dialog-object (title)", most=100,
        at="/blocks/0/elements/0/confirm/title/text",
        blocks=lambda n: [confirm(title=plain("x" * n))],
    ),
    Limit(
        page="composition-objects/confirmation-dialog-object (text)", most=300,
        at="/blocks/0/elements/0/confirm/text/text",
        blocks=lambda n: [confirm(text=plain("x" * n))],
    ),
    Limit(
        page="composition-objects/confirmation-dialog-object (confirm)", most=30,
        at="/blocks/0/elements/0/confirm/confirm/text",
        blocks=lambda n: [confirm(confirm=plain("x" * n))],
    ),
    Limit(
        page="composition-objects/confirmation-dialog-object (deny)", most=30,
        at="/blocks/0/elements/0/confirm/deny/text",
        blocks=lambda n: [confirm(deny=plain("x" * n))],
    ),
    Limit(
        page="block-elements/select-menu-element (options)", most=100, said=MANY,
        at="/blocks/0/elements/0/options", blocks=lambda n: [select(options=options(n))],
    ),
    Limit(
        page="block-elements/select-menu-element (placeholder)", most=150,
        at="/blocks/0/elements/0/placeholder/text",
        blocks=lambda n: [select(placeholder=plain("x" * n))],
    ),
    Limit(
        page="composition-objects/option-object (text)", most=75,
        at="/blocks/0/elements/0/options/0/text/text",
        blocks=lambda n: [select(options=options(1, n))],
    ),
    Limit(
        page="composition-objects/option-object (value)", most=150,
        at="/blocks/0/elements/0/options/0/value",
        blocks=lambda n: [select(options=[{"text": plain("x"), "value": "v" * n}])],
    ),
    Limit(
        page="composition-objects/option-object (description)", most=75,
        at="/blocks/0/elements/0/options/0/description/text",
        blocks=lambda n: [
            select(options=[{"text": plain("x"), "value": "v", "description": plain("x" * n)}])
        ],
    ),
    Limit(
        page="composition-objects/option-group-object (label)", most=75,
        at="/blocks/0/elements/0/option_groups/0/label/text",
        blocks=lambda n: [grouped([{"label": plain("x" * n), "options": options(1)}])],
    ),
    Limit(
        page="composition-objects/option-group-object (options)", most=100, said=MANY,
        at="/blocks/0/elements/0/option_groups/0/options",
        blocks=lambda n: [grouped([{"label": plain("x"), "options": options(n)}])],
    ),
    Limit(
        page="block-elements/select-menu-element (option_groups)", most=100, said=MANY,
        at="/blocks/0/elements/0/option_groups",
        blocks=lambda n: [grouped([{"label": plain("x"), "options": options(1)}] * n)],
    ),
    Limit(
        page="block-elements/multi-select-menu-element (options)", most=100, said=MANY,
        at="/blocks/0/elements/0/options",
        blocks=lambda n: [select(type="multi_static_select", options=options(n))],
    ),
    Limit(
        page="block-elements/image-element (alt_text)", most=2000,
        at="/blocks/0/elements/0/alt_text",
        blocks=lambda n: [{"type": "context", "elements": [image(alt_text="x" * n)]}],
    ),
    Limit(
        page="block-elements/overflow-menu-element (options)", most=5, said=MANY,
        at="/blocks/0/elements/0/options",
        blocks=lambda n: [
            actions({"type": "overflow", "action_id": "more", "options": options(n)})
        ],
    ),
    Limit(
        page="block-elements/checkboxes-element (options)", most=10, said=MANY,
        at="/blocks/0/elements/0/options",
        blocks=lambda n: [
            actions({"type": "checkboxes", "action_id": "tick", "options": options(n)})
        ],
    ),
    Limit(
        page="block-elements/radio-button-group-element (options)", most=10, said=MANY,
        at="/blocks/0/elements/0/options",
        blocks=lambda n: [
            actions({"type": "radio_buttons", "action_id": "one", "options": options(n)})
        ],
    ),
    Limit(
        page="blocks/image-block (alt_text)", most=2000, at="/blocks/0/alt_text",
        blocks=lambda n: [image(alt_text="x" * n)],
    ),
    Limit(
        page="blocks/image-block (image_url)", most=3000, at="/blocks/0/image_url",
        blocks=lambda n: [image(image_url=address(n))],
    ),
    Limit(
        page="blocks/image-block (title)", most=2000, at="/blocks/0/title/text",
        blocks=lambda n: [image(title=plain("x" * n))],
    ),
    Limit(
        page="blocks/table-block (rows)", most=100, said=MANY, at="/blocks/0/rows",
        blocks=lambda n: [table(rows=n)],
    ),
    Limit(
        page="blocks/table-block (cells)", most=20, said=MANY, at="/blocks/0/rows/0",
        blocks=lambda n: [table(columns=n)],
    ),
    Limit(
        page="blocks/table-block (column_settings)", most=20, said=MANY,
        at="/blocks/0/column_settings",
        blocks=lambda n: [table(column_settings=[{"align": "left"}] * n)],
    ),
    Limit(
        page="blocks/markdown-block", most=12_000, at="/blocks/0/text",
        blocks=lambda n: [{"type": "markdown", "text": "x" * n}],
    ),
    Limit(
        page="blocks/input-block (label)", most=2000, at="/blocks/0/label/text",
        blocks=lambda n: [
            {
                "type": "input",
                "label": plain("x" * n),
                "element": {"type": "plain_text_input", "action_id": "typed"},
            }
        ],
    ),
    Limit(
        page="blocks/input-block (hint)", most=2000, at="/blocks/0/hint/text",
        blocks=lambda n: [{**text_input(), "hint": plain("x" * n)}],
    ),
    Limit(
        page="block-elements/plain-text-input-element (min_length)", most=3000,
        said="must be less than {over}", at="/blocks/0/element/min_length",
        blocks=lambda n: [text_input(min_length=n)],
    ),
    Limit(
        page="block-elements/plain-text-input-element (placeholder)", most=150,
        at="/blocks/0/element/placeholder/text",
        blocks=lambda n: [text_input(placeholder=plain("x" * n))],
    ),
    Limit(
        page="block-elements/plain-text-input-element (max_length)", most=3000,
        said="must be less than {over}", at="/blocks/0/element/max_length",
        blocks=lambda n: [text_input(max_length=n)],
    ),
    Limit(
        page="blocks/card-block (title)", most=150, at="/blocks/0/title/text",
        blocks=lambda n: [{"type": "card", "title": mrkdwn("x" * n)}],
    ),
    Limit(
        page="blocks/card-block (body)", most=200, at="/blocks/0/body/text",
        blocks=lambda n: [{"type": "card", "body": mrkdwn("x" * n)}],
    ),
    Limit(
        page="blocks/card-block (subtitle)", most=150, at="/blocks/0/subtitle/text",
        blocks=lambda n: [{"type": "card", "title": mrkdwn("x"), "subtitle": mrkdwn("x" * n)}],
    ),
    Limit(
        page="blocks/card-block (actions)", most=3, said=MANY, at="/blocks/0/actions",
        blocks=lambda n: [{"type": "card", "actions": [button(f"a{i}") for i in range(n)]}],
    ),
    Limit(
        page="blocks/carousel-block (cards)", most=10, said=MANY, at="/blocks/0/elements",
        blocks=lambda n: [
            {"type": "carousel", "elements": [{"type": "card", "title": mrkdwn("x")}] * n}
        ],
    ),
    Limit(
        page="blocks/context-actions-block (elements)", most=5, said=MANY,
        at="/blocks/0/elements",
        blocks=lambda n: [
            {
                "type": "context_actions",
                "elements": [{"type": "icon_button", "icon": "trash", "text": plain("x")}] * n,
            }
        ],
    ),
]  # fmt: skip


@pytest.mark.parametrize("limit", LIMITS, ids=lambda limit: limit.page)
async def test_a_limit_holds_at_its_number_and_not_one_further(
    client: AsyncWebClient, limit: Limit
) -> None:
    """What is as large as documented is taken; one more is refused, with where and why."""
    taken = await client.chat_postMessage(
        channel=CHANNEL, text="x", blocks=limit.blocks(limit.most)
    )
    assert taken["ok"]
    body = await refusal(
        client.chat_postMessage(channel=CHANNEL, text="x", blocks=limit.blocks(limit.most + 1))
    )
    said = limit.said.format(most=limit.most, over=limit.most + 1)
    assert body["error"] == "invalid_blocks"
    assert body["errors"] == [f"{said} [json-pointer:{limit.at}]"]
    assert body["response_metadata"]["messages"] == [f"[ERROR] {said} [json-pointer:{limit.at}]"]


async def test_all_markdown_counts_together(client: AsyncWebClient) -> None:
    """12,000 characters are for all markdown blocks of a message (blocks/markdown-block)."""
    halves = [{"type": "markdown", "text": "x" * 6000}, {"type": "markdown", "text": "y" * 6000}]
    assert (await client.chat_postMessage(channel=CHANNEL, text="x", blocks=halves))["ok"]
    halves[1]["text"] += "y"
    body = await refusal(client.chat_postMessage(channel=CHANNEL, text="x", blocks=halves))
    assert body["error"] == "msg_blocks_too_long"  # methods/chat.postMessage


async def test_all_blocks_count_together(client: AsyncWebClient) -> None:
    """Blocks that are right one by one are too long together above about 13,000 characters."""
    blocks = [section("x" * 3000) for _ in range(4)] + [section("x" * 1172)]
    assert (await client.chat_postMessage(channel=CHANNEL, text="x", blocks=blocks))["ok"]
    blocks[-1] = section("x" * 1173)
    body = await refusal(client.chat_postMessage(channel=CHANNEL, text="x", blocks=blocks))
    assert body["error"] == "msg_blocks_too_long"  # methods/chat.postMessage
