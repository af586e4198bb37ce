"""The structure of rich text.

Source: docs.slack.dev/reference/block-kit/blocks/rich-text-block.
"""

from __future__ import annotations

from playground.slack.kit.rules import ByType, Flag, Items, Rule, Shape, Text, Whole, Word, shape

_STYLE = Shape(
    fields={
        name: Flag()
        for name in (
            "bold", "italic", "strike", "code", "underline", "highlight", "client_highlight",
            "unlink",
        )
    }
)  # fmt: skip
_STYLED: dict[str, Rule] = {"style": _STYLE}
_BORDER: dict[str, Rule] = {"border": Word((0, 1))}

#: What stands in a line; an empty text is refused.
LEAVES: dict[str, Shape] = dict(
    [
        shape("text", {**_STYLED, "text": Text(least=1)}, "text"),
        shape(
            "link",
            {**_STYLED, "url": Text(least=1), "text": Text(), "unsafe": Flag()},
            "url",
        ),
        shape("user", {**_STYLED, "user_id": Text(least=1)}, "user_id"),
        shape("usergroup", {**_STYLED, "usergroup_id": Text(least=1)}, "usergroup_id"),
        shape("channel", {**_STYLED, "channel_id": Text(least=1)}, "channel_id"),
        shape("team", {**_STYLED, "team_id": Text(least=1)}, "team_id"),
        shape(
            "broadcast", {**_STYLED, "range": Word(("here", "channel", "everyone"))}, "range"
        ),
        shape(
            "emoji",
            {
                **_STYLED,
                "name": Text(least=1),
                "unicode": Text(),
                "skin_tone": Whole(least=1, most=6),
            },
            "name",
        ),
        shape("color", {**_STYLED, "value": Text(least=1)}, "value"),
        shape(
            "date",
            {
                **_STYLED,
                "timestamp": Whole(least=0, most=10**11),
                "format": Text(least=1),
                "url": Text(least=1),
                "fallback": Text(),
            },
            "timestamp",
            "format",
        ),
    ]
)  # fmt: skip

_LINE = Items(each=ByType(LEAVES))
#: Preformatted text takes texts and links only.
_CODE = Items(each=ByType({kind: LEAVES[kind] for kind in ("text", "link")}))
_SECTION = shape("rich_text_section", {"elements": _LINE}, "elements")

PARTS: dict[str, Shape] = dict(
    [
        _SECTION,
        shape(
            "rich_text_list",
            {
                **_BORDER,
                "style": Word(("bullet", "ordered")),
                "elements": Items(each=ByType(dict([_SECTION])), least=1),
                "indent": Whole(least=0, most=8),
                "offset": Whole(least=0, most=10**6),
            },
            "style",
            "elements",
        ),
        shape(
            "rich_text_preformatted",
            {**_BORDER, "elements": _CODE, "language": Text(least=1)},
            "elements",
        ),
        shape("rich_text_quote", {**_BORDER, "elements": _LINE}, "elements"),
    ]
)

#: A whole block, also where it stands in a table's cell or a task's card.
RICH_TEXT: Shape = dict(
    [
        shape(
            "rich_text",
            {"block_id": Text(least=1, most=255), "elements": Items(each=ByType(PARTS), least=1)},
            "elements",
        )
    ]
)["rich_text"]
