"""Bring messages and views within Slack's limits: what is too long is cut and attached whole."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from slack_sdk.models.basic_objects import JsonObject

from bot.reports import limits
from bot.reports.errors import UnsendableError
from bot.reports.limits import Unit, length
from bot.reports.slack import checking, cutting, escaping, walking
from bot.reports.slack.dump import unchecked
from bot.reports.slack.message import Attachment, Json, Message, View
from bot.reports.slack.reading import reading

Surface = Literal["message", "modal", "home"]
#: Nothing is cut shorter than this to make room for other blocks.
_LEAST = 200
#: Blocks that hold controls, or a value that a person enters: they always stay.
_CONTROLS = frozenset({"actions", "input"})
#: Room in a view for its labels and metadata, in bytes.
_AROUND_BLOCKS = 16_000


def message(
    *, blocks: Sequence[JsonObject], text: str = "", about: Mapping[str, str | int] | None = None
) -> Message:
    """Return a message within Slack's limits.

    `text` is escaped mrkdwn; without one it is read from the blocks. Raises `UnsendableError` for
    ids that Slack would refuse.
    """
    sheet = _Sheet("message", blocks, cutting.WHOLE_ATTACHED)
    made = Message(
        text=sheet.notification(text),
        blocks=tuple(sheet.fitted()),
        about=dict(about or {}),
        attachments=tuple(sheet.attachments),
    )
    checking.metadata(made.metadata)
    return made


def modal(
    *,
    blocks: Sequence[JsonObject],
    title: str,
    callback_id: str,
    submit: str = "",
    close: str = "",
    private_metadata: str = "",
) -> View:
    """Return a modal within Slack's limits; its labels are plain text.

    Raises `UnsendableError` for ids that Slack would refuse.
    """
    sheet = _Sheet("modal", blocks, cutting.ELLIPSIS)
    checking.fields({"callback_id": callback_id, "private_metadata": private_metadata})
    return View(
        type="modal",
        blocks=tuple(sheet.fitted()),
        title=sheet.label("title", title),
        submit=sheet.label("submit", submit),
        close=sheet.label("close", close),
        callback_id=callback_id,
        private_metadata=private_metadata,
        attachments=tuple(sheet.attachments),
    )


def home(*, blocks: Sequence[JsonObject]) -> View:
    """Return a Home tab within Slack's limits."""
    sheet = _Sheet("home", blocks, cutting.ELLIPSIS)
    return View(type="home", blocks=tuple(sheet.fitted()), attachments=tuple(sheet.attachments))


class _Sheet:
    """The blocks of one message or view while they are cut."""

    def __init__(self, surface: Surface, blocks: Sequence[JsonObject], mark: str) -> None:
        self.surface = surface
        self.mark = mark
        self.blocks: list[Json] = [unchecked(block) for block in blocks]
        self.attachments: list[Attachment] = []
        self._wholes = {id(block): reading(block) for block in self.blocks}
        self._cut: list[Json] = []
        self._left_out: list[str] = []
        #: says in the message that blocks were left out
        self._notice: Json | None = None

    def fitted(self) -> list[Json]:
        """Return the blocks within all limits; what was cut is among the attachments."""
        for block in self.blocks:
            self._fit_lists(block)
            self._fit_texts(block)
        self._fit_kind("markdown", limits.most("markdown.text"))
        tables = [each for each in self.blocks if each["type"] == "table"]
        for block in tables[limits.most("message.tables", Unit.ITEMS) :]:
            self._leave_out(block)
        self._fit_kind("table", limits.most("table.cells"))
        self._fit_count()
        self._fit_all()
        for block in self._cut:
            self.keep(_name(block), self._wholes[id(block)])
        if self._left_out:
            self.keep("rest", "\n\n".join(self._left_out))
        checking.blocks(self.blocks)
        return self.blocks

    def keep(self, name: str, whole: str) -> None:
        """Add a text to the attachments, under a name that none of them has."""
        taken = {one.name for one in self.attachments}
        stem = escaping.file_name(name)
        names = (f"{stem}{f'-{n}' if n > 1 else ''}.txt" for n in range(1, len(taken) + 2))
        free = next(each for each in names if each not in taken)
        self.attachments.append(Attachment(name=free, content=escaping.file(whole)))

    def label(self, field: str, text: str) -> str:
        """Return a label of a modal, cut to its limit."""
        most = limits.most(f"modal.{field}")
        if length(text) <= most:
            return text
        self.keep(field, text)
        return cutting.cut(text, most, self.mark)

    def notification(self, text: str) -> str:
        """Return the text beside the blocks, cut to its limit; never empty."""
        text = text or escaping.mrkdwn(reading(self.blocks))
        short, room = text, length(text)
        while len(short.encode()) > limits.most("message.text", Unit.BYTES):
            room = room * 9 // 10
            short = cutting.cut(text, room, self.mark)
        if short != text:
            self.keep("text", text)
        return short

    def _touch(self, block: Json) -> None:
        if all(block is not each for each in self._cut):
            self._cut.append(block)

    def _fit_lists(self, block: Json) -> None:
        for owner, field, items in list(walking.lists(block)):
            most = limits.most_items(owner, field)
            if most is not None and len(items) > most:
                self._touch(block)
                self._shorten(owner, items, most)
        most = limits.most("table.cells", Unit.ITEMS)
        if block["type"] == "table" and max(map(len, block["rows"])) > most:
            self._touch(block)
            block["rows"] = [row[:most] for row in block["rows"]]

    def _shorten(self, owner: str, items: list[Any], most: int) -> None:
        if owner == "table":
            items[most - 1 :] = [cutting.last_row(self.mark, len(items[0]))]
        else:
            del items[most:]

    def _fit_texts(self, block: Json) -> None:
        for node, most in walking.texts(block, self.surface):
            if length(node["text"]) > most:
                self._touch(block)
                node["text"] = cutting.cut(node["text"], most, self.mark)
        most = limits.most("rich_text.elements")
        for node in walking.rich_texts(block):
            if cutting.rich_length(node) > most:
                self._touch(block)
                cutting.cut_rich(node, most, self.mark)

    def _fit_kind(self, kind: str, most: int) -> None:
        """Hold all blocks of one kind together below a limit: the first ones keep their room."""
        for block in [each for each in self.blocks if each["type"] == kind]:
            if walking.size(block) > most and most < _LEAST:
                self._leave_out(block)
                continue
            self._cut_to(block, most)
            most -= walking.size(block)

    def _cut_to(self, block: Json, most: int) -> None:
        if walking.size(block) <= most:
            return
        self._touch(block)
        match block["type"]:
            case "rich_text":
                cutting.cut_rich(block, most, self.mark)
            case "table":
                cutting.cut_table(block, most, self.mark)
            case "plan":
                outputs = list(walking.rich_texts(block))
                for each in outputs:
                    if cutting.rich_length(each) > most // len(outputs):
                        cutting.cut_rich(each, most // len(outputs), self.mark)
            case "markdown":
                block["text"] = cutting.cut(block["text"], most, self.mark)
            case _:
                block["text"]["text"] = cutting.cut(block["text"]["text"], most, self.mark)

    def _fit_count(self) -> None:
        most = limits.most(f"{self.surface}.blocks", Unit.ITEMS)
        while len(self.blocks) > most:
            self._leave_out(self._last_without_controls())

    def _fit_all(self) -> None:
        """Cut the longest blocks, then leave out the last ones, until all fit together."""
        while (over := self._over()) > 0:
            longest = max(self.blocks, key=walking.size)
            before = walking.size(longest)
            self._cut_to(longest, max(min(before - over, before * 9 // 10), _LEAST))
            if walking.size(longest) >= before:
                self._leave_out(self._last_without_controls())

    def _over(self) -> int:
        text = json.dumps(self.blocks, ensure_ascii=False, separators=(",", ":"))
        if self.surface == "message":
            return length(text) - limits.most("message.all")
        most = limits.most(f"{self.surface}.all", Unit.BYTES) - _AROUND_BLOCKS
        return len(text.encode()) - most

    def _last_without_controls(self) -> Json:
        for block in reversed(self.blocks[1:]):
            controls = block["type"] in _CONTROLS or "accessory" in block
            if not controls and block is not self._notice:
                return block
        raise UnsendableError(
            f"A {self.surface} of {len(self.blocks)} blocks is too large for Slack, and nothing "
            "but controls is left in it. Nothing was sent; show fewer choices."
        )

    def _leave_out(self, block: Json) -> None:
        self._left_out.insert(0, self._wholes[id(block)])
        self._cut[:] = [each for each in self._cut if each is not block]
        self.blocks[:] = [each for each in self.blocks if each is not block]
        if self._notice is None and self.surface == "message":
            text = {"type": "plain_text", "text": f"More did not fit{self.mark}", "emoji": False}
            self._notice = {"type": "context", "elements": [text]}
            self.blocks.append(self._notice)


def _name(block: Json) -> str:
    """Name the file of a block by what its id begins with."""
    return str(block.get("block_id", block["type"])).split(".", 1)[0]
