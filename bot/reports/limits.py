"""What Slack accepts at most, as a table; `fitting` cuts by it, and every message passes it.

Pages are those of https://docs.slack.dev/reference/block-kit/ unless they say otherwise.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum


class Unit(StrEnum):
    """What is counted."""

    #: UTF-16 code units: no less than any other way to count characters
    CHARACTERS = "characters"
    #: bytes of UTF-8
    BYTES = "bytes"
    ITEMS = "items"


@dataclass(frozen=True, kw_only=True, slots=True)
class Limit:
    """One limit."""

    #: kind of the owner, a dot, and its field
    where: str
    most: int
    unit: Unit = Unit.CHARACTERS
    #: where that is written
    page: str


_C, _B, _I = Unit.CHARACTERS, Unit.BYTES, Unit.ITEMS


def _of(page: str, unit: Unit, *rows: tuple[str, int]) -> tuple[Limit, ...]:
    return tuple(Limit(where=where, most=most, unit=unit, page=page) for where, most in rows)


LIMITS: tuple[Limit, ...] = (
    *_of("blocks", _I, ("message.blocks", 50), ("modal.blocks", 100), ("home.blocks", 100)),
    *_of("composition-objects/text-object", _C, ("text object.text", 3000)),
    *_of("blocks/section-block", _C, ("section.text", 3000), ("section.fields", 2000)),
    *_of("blocks/section-block", _I, ("section.fields", 10)),
    *_of("blocks/header-block", _C, ("header.text", 150)),
    *_of("blocks/context-block", _I, ("context.elements", 10)),
    *_of("blocks/actions-block", _I, ("actions.elements", 25)),
    *_of("blocks/input-block", _C, ("input.label", 2000), ("input.hint", 2000)),
    *_of("blocks/alert-block", _C, ("alert.text", 200)),
    # over all markdown blocks of a message
    *_of("blocks/markdown-block", _C, ("markdown.text", 12_000)),
    *_of("blocks/table-block", _I, ("table.rows", 100), ("table.cells", 20)),
    # a second one is refused as only_one_table_allowed
    *_of("../methods/chat.postMessage", _I, ("message.tables", 1)),
    # over all cells of all tables of a message
    *_of("blocks/table-block", _C, ("table.cells", 10_000)),
    # no page names a limit; a text object's is taken
    *_of("blocks/rich-text-block", _C, ("rich_text.elements", 3000)),
    *_of("block-elements/button-element", _C, ("button.text", 75)),
    *_of("block-elements/overflow-menu-element", _I, ("overflow.options", 5)),
    *_of("block-elements/select-menu-element", _I, ("static_select.options", 100)),
    *_of("block-elements/select-menu-element", _I, ("static_select.option_groups", 100)),
    *_of("block-elements/select-menu-element", _C, ("any.placeholder", 150)),
    *_of("composition-objects/option-group-object", _I, ("option group.options", 100)),
    *_of("composition-objects/option-group-object", _C, ("option group.label", 75)),
    *_of("composition-objects/option-object", _C, ("option.text", 75), ("option.description", 75)),
    *_of("block-elements/plain-text-input-element", _C, ("plain_text_input.value", 3000)),
    *_of("block-elements/file-input-element", _B, ("file_input.file", 10 << 20)),
    *_of("block-elements/file-input-element", _I, ("file_input.files", 10)),
    *_of(
        "../views/modal-views", _C, ("modal.title", 24), ("modal.submit", 24), ("modal.close", 24)
    ),
    # these name things, so they are never cut: a longer one is our own mistake
    *_of("blocks/section-block", _C, ("any.block_id", 255)),
    *_of("block-elements/button-element", _C, ("any.action_id", 255), ("any.url", 3000)),
    *_of("block-elements/button-element", _C, ("button.value", 2000)),
    *_of("composition-objects/option-object", _C, ("option.value", 150)),
    *_of("../views/modal-views", _C, ("modal.callback_id", 255), ("modal.private_metadata", 3000)),
    *_of("../methods/views.open", _B, ("modal.all", 250_000)),
    *_of("../methods/views.publish", _B, ("home.all", 250_000)),
    # chat.update refuses a longer one (msg_too_long); chat.postMessage advises the same
    *_of("../methods/chat.update", _B, ("message.text", 4000)),
    *_of("../../messaging/message-metadata", _B, ("message.metadata", 8000)),
    # not documented: seen as msg_blocks_too_long between 13,172 and 13,297 characters
    # (https://github.com/slackapi/bolt-js/issues/2509); the JSON of all blocks is held below it
    *_of("blocks", _C, ("message.all", 13_000)),
)

_BY_PLACE: Mapping[tuple[str, Unit], int] = {
    (limit.where, limit.unit): limit.most for limit in LIMITS
}


def most(where: str, unit: Unit = Unit.CHARACTERS) -> int:
    """Return a limit by its place, such as `button.text`."""
    return _BY_PLACE[where, unit]


def most_of(owner: str, field: str, default: int) -> int:
    """Return how many characters a field of one kind of object, or of any kind, may have."""
    for where in (f"{owner}.{field}", f"any.{field}"):
        if (where, Unit.CHARACTERS) in _BY_PLACE:
            return _BY_PLACE[where, Unit.CHARACTERS]
    return default


def most_items(owner: str, field: str) -> int | None:
    """Return how many items a list may have, or None where no limit is known."""
    return _BY_PLACE.get((f"{owner}.{field}", Unit.ITEMS))


def length(text: str) -> int:
    """Count the characters of a text in UTF-16 code units, of which an emoji has two or more."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2
