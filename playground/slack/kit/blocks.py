"""Blocks: one row for each, with its fields, their limits and the surfaces that take it.

Source: docs.slack.dev/reference/block-kit/blocks, the page of each block, and
docs.slack.dev/blocks.json for the surfaces.
"""

from __future__ import annotations

from playground.slack.kit.elements import ELEMENTS, IN_ACTIONS, IN_INPUT, IN_SECTION
from playground.slack.kit.objects import ID, SLACK_FILE, URL, plain, text
from playground.slack.kit.richtext import RICH_TEXT
from playground.slack.kit.rules import (
    ByType,
    Findings,
    Flag,
    Items,
    Json,
    Rule,
    Shape,
    Text,
    Word,
    shape,
)

EVERYWHERE = ("message", "modal", "home")
VIEWS = ("modal", "home")
MESSAGES = ("message",)

_BLOCK: dict[str, Rule] = {"block_id": ID}


def _elements(*kinds: str) -> ByType:
    return ByType({kind: ELEMENTS[kind] for kind in kinds})


_TEXTS_AND_IMAGES = ByType(
    {
        "image": ELEMENTS["image"],
        "plain_text": text(3000, "plain_text"),
        "mrkdwn": text(3000, "mrkdwn"),
    }
)


def _image_of_slack(block: Json, at: str, findings: Findings) -> None:
    if ("image_url" in block) == ("slack_file" in block):
        findings.add("must provide exactly one of: image_url, slack_file", at)


def _only_in_modals(block: Json, at: str, findings: Findings) -> None:
    """Refuse a file input elsewhere (docs.slack.dev/…/file-input-element)."""
    element = block.get("element")
    kind = element.get("type") if isinstance(element, dict) else None
    if kind == "file_input" and findings.surface != "modal":
        findings.add("unsupported type: file_input", f"{at}/element/type")


_RAW_TEXT = shape("raw_text", {"text": Text(least=1)}, "text")
_CELL = ByType(dict([_RAW_TEXT, ("rich_text", RICH_TEXT)]))

_TASK = shape(
    "task_card",
    {
        **_BLOCK,
        "task_id": Text(least=1),
        "title": Text(least=1),
        "details": RICH_TEXT,
        "output": RICH_TEXT,
        "sources": Items(each=_elements("url")),
        "status": Word(("pending", "in_progress", "complete", "error")),
    },
    "task_id",
    "title",
)

_CARD = shape(
    "card",
    {
        **_BLOCK,
        "hero_image": _elements("image"),
        "icon": _elements("image"),
        "title": text(150, "mrkdwn"),
        "subtitle": text(150, "mrkdwn"),
        "body": text(200, "mrkdwn"),
        "subtext": text(200, "mrkdwn"),
        "actions": Items(each=_elements("button"), least=1, most=3),
    },
    any_of=("hero_image", "title", "actions", "body"),
)

#: Each block with the surfaces that take it.
_ROWS: tuple[tuple[tuple[str, Shape], tuple[str, ...]], ...] = (
    (
        shape(
            "actions",
            {**_BLOCK, "elements": Items(each=_elements(*IN_ACTIONS), least=1, most=25)},
            "elements",
        ),
        EVERYWHERE,
    ),
    (
        shape(
            "alert",
            {
                **_BLOCK,
                "text": text(200),
                "level": Word(("default", "info", "warning", "error", "success")),
            },
            "text",
        ),
        # blocks.json names modals alone, though an example elsewhere shows one in a message.
        ("modal",),
    ),
    (_CARD, EVERYWHERE),
    (
        shape(
            "carousel",
            {**_BLOCK, "elements": Items(each=ByType(dict([_CARD])), least=1, most=10)},
            "elements",
        ),
        ("message", "home"),
    ),
    (
        shape(
            "context",
            {**_BLOCK, "elements": Items(each=_TEXTS_AND_IMAGES, least=1, most=10)},
            "elements",
        ),
        EVERYWHERE,
    ),
    (
        shape(
            "context_actions",
            {
                **_BLOCK,
                "elements": Items(
                    each=_elements("feedback_buttons", "icon_button"), least=1, most=5
                ),
            },
            "elements",
        ),
        MESSAGES,
    ),
    (shape("divider", _BLOCK), EVERYWHERE),
    (shape("header", {**_BLOCK, "text": plain(150)}, "text"), EVERYWHERE),
    (
        shape(
            "image",
            {
                **_BLOCK,
                "image_url": URL,
                "slack_file": SLACK_FILE,
                "alt_text": Text(least=1, most=2000),
                "title": plain(2000),
            },
            "alt_text",
            also=_image_of_slack,
        ),
        EVERYWHERE,
    ),
    (
        shape(
            "input",
            {
                **_BLOCK,
                "label": plain(2000),
                "hint": plain(2000),
                "optional": Flag(),
                "dispatch_action": Flag(),
                "element": _elements(*IN_INPUT),
            },
            "label",
            "element",
            also=_only_in_modals,
        ),
        EVERYWHERE,
    ),
    (shape("markdown", {**_BLOCK, "text": Text(least=1, most=12_000)}, "text"), MESSAGES),
    (
        shape(
            "plan",
            {**_BLOCK, "title": Text(least=1), "tasks": Items(each=ByType(dict([_TASK])))},
            "title",
        ),
        MESSAGES,
    ),
    (("rich_text", RICH_TEXT), EVERYWHERE),
    (
        shape(
            "section",
            {
                **_BLOCK,
                "text": text(3000),
                "fields": Items(each=text(2000), least=1, most=10),
                "accessory": _elements(*IN_SECTION),
                "expand": Flag(),
            },
            any_of=("text", "fields"),
        ),
        EVERYWHERE,
    ),
    (
        shape(
            "table",
            {
                **_BLOCK,
                "rows": Items(each=Items(each=_CELL, least=1, most=20), least=1, most=100),
                "column_settings": Items(
                    each=Shape(
                        fields={"align": Word(("left", "center", "right")), "is_wrapped": Flag()}
                    ),
                    most=20,
                ),
            },
            "rows",
        ),
        MESSAGES,
    ),
    (_TASK, MESSAGES),
    (
        shape(
            "video",
            {
                **_BLOCK,
                "video_url": URL,
                "thumbnail_url": URL,
                "alt_text": Text(least=1, most=200),
                "title": plain(199),
                "title_url": URL,
                "author_name": Text(most=49),
                "provider_name": Text(most=50),
                "provider_icon_url": URL,
                "description": plain(200),
            },
            "video_url",
            "thumbnail_url",
            "alt_text",
            "title",
        ),
        EVERYWHERE,
    ),
)

#: The blocks that a surface takes.
BLOCKS: dict[str, ByType] = {
    surface: ByType({kind: rule for (kind, rule), surfaces in _ROWS if surface in surfaces})
    for surface in EVERYWHERE
}
