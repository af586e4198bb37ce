"""The pieces that views are built of: lines, blocks and controls, their texts escaped here.

A bare `str` may be foreign wherever one is taken. What pings or links is made by `person`,
`moment` and `web` alone, from an id, a time or an address that fits its grammar.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from typing import Literal

from slack_sdk.models.blocks import (
    ActionsBlock,
    Block,
    ButtonElement,
    HeaderBlock,
    InteractiveElement,
    Option,
    OverflowMenuElement,
    PlainTextObject,
    RawTextObject,
    RichTextBlock,
    RichTextElement,
    RichTextElementParts,
    RichTextListElement,
    RichTextPreformattedElement,
    RichTextSectionElement,
    TableBlock,
    TableBlockColumnSettings,
)

from bot.reports.slack import escaping
from bot.reports.slack.ids import is_channel, is_group, is_user
from bot.reports.slack.values import LABELS, Action, Choice, Incident, Link, Purpose

_WEB = re.compile(r"https?://[^\s<>|\"'`\\]{1,2900}")
#: Older and later moments are shown with their day.
_SAME_DAY = timedelta(hours=12)
#: Cells of a bar.
_BAR = 20
_CLOCK = "{time_secs}"
_DAY_AND_CLOCK = "{date_short_pretty} {time_secs}"

Piece = RichTextElement | str
Line = tuple[RichTextElement, ...]
Style = Literal["primary", "danger"]


def plain(text: str) -> PlainTextObject:
    """Return a label: no markup, no emoji codes."""
    return PlainTextObject(text=escaping.plain_text(text), emoji=False)


def block_id(name: str, revision: int) -> str:
    """Name a block: Slack wants a new id in each edit of a message."""
    return f"{name}.{revision}"


class Names:
    """Names the blocks of one edit of a message."""

    def __init__(self, revision: int) -> None:
        """Count from the revision of what the message shows."""
        self._revision = revision

    def __call__(self, name: str) -> str:
        """Return the block's id."""
        return block_id(name, self._revision)


def about(incident: Incident, purpose: Purpose) -> dict[str, str | int]:
    """Return what a message's metadata says of it."""
    return {"incident": incident.id, "purpose": purpose.value, "revision": incident.revision}


# -- pieces of a line ------------------------------------------------------------------------


def words(text: str, *, bold: bool = False, code: bool = False) -> RichTextElement:
    """Return a piece of text that is shown as it is; blanks around it stay."""
    before, after = (" " if edge.isspace() else "" for edge in (text[:1], text[-1:]))
    style = {name: True for name, on in (("bold", bold), ("code", code)) if on}
    return RichTextElementParts.Text(
        text=f"{before}{escaping.rich(text)}{after}" if text.strip() else " ",
        style=style or None,
    )


def person(user: str) -> RichTextElement:
    """Return a mention of a person or a user group; anything but an id is shown as text."""
    if is_user(user):
        return RichTextElementParts.User(user_id=user)
    if is_group(user):
        return RichTextElementParts.UserGroup(usergroup_id=user)
    return words(user or "a watcher")


def channel(name: str) -> RichTextElement:
    """Return a channel that can be opened; anything but an id is shown as text."""
    if is_channel(name):
        return RichTextElementParts.Channel(channel_id=name)
    return words(name or "another channel")


def people(users: Sequence[str]) -> Iterator[Piece]:
    """Return mentions of several people, separated by commas."""
    for number, user in enumerate(users):
        if number:
            yield ", "
        yield person(user)


def moment(at: datetime, now: datetime) -> RichTextElement:
    """Return a time in the reader's zone; with its day where it is far from now."""
    return _date(at, now, "", "")


def aged(at: datetime, now: datetime) -> RichTextElement:
    """Return a time and its age, which the reader's client counts on: a message may be read late.

    The fallback has the age of when the message was made (`{ago}`:
    https://docs.slack.dev/messaging/formatting-message-text#date-formatting).
    """
    return _date(at, now, " ({ago})", f" ({age(now - at)} old)")


def _date(at: datetime, now: datetime, more: str, more_then: str) -> RichTextElement:
    near = abs(now - at) < _SAME_DAY
    told = f"{at.astimezone(UTC):{'%H:%M:%S' if near else '%Y-%m-%d %H:%M:%S'}} UTC"
    return RichTextElementParts.Date(
        timestamp=int(at.timestamp()),
        format=f"{_CLOCK if near else _DAY_AND_CLOCK}{more}",
        fallback=f"{told}{more_then}",
    )


def web(link: Link) -> RichTextElement | None:
    """Return a link; None for anything but a plain http or https address."""
    if not _WEB.fullmatch(link.url) or escaping.clean(link.url) != link.url:
        return None
    return RichTextElementParts.Link(url=link.url, text=escaping.rich(link.label))


def age(delta: timedelta) -> str:
    """Spell an age in one or two units: `8 s`, `4 min`, `2 h 5 min`, `3 d`."""
    seconds = max(int(delta.total_seconds()), 0)
    if seconds < 120:  # noqa: PLR2004 - two minutes
        return f"{seconds} s"
    minutes, hours, days = seconds // 60, seconds // 3600, seconds // 86400
    if minutes < 120:  # noqa: PLR2004 - two hours
        return f"{minutes} min"
    if hours < 48:  # noqa: PLR2004 - two days
        return f"{hours} h {minutes % 60} min"
    return f"{days} d"


def share_bar(done: int, total: int) -> str:
    """Spell how far something is as a bar with its share in percent; `total` is at least 1."""
    share = min(done / total, 1.0)
    full = round(share * _BAR)
    return f"{'█' * full}{'░' * (_BAR - full)} {share * 100:.0f} %"


def progress_bar(done: int, total: int, unit: str = "") -> str:
    """Spell how far something is: bar, share and counts, or the count alone without a total."""
    unit = f" {unit}" if unit else ""
    return f"{share_bar(done, total)} ({done:,} of {total:,}{unit})" if total else f"{done:,}{unit}"


# -- blocks ----------------------------------------------------------------------------------


def header(name: str, text: str) -> Block:
    """Return a header."""
    return HeaderBlock(block_id=name, text=plain(text))


def line(*pieces: Piece) -> Line:
    """Return one line of rich text."""
    return tuple(words(piece) if isinstance(piece, str) else piece for piece in pieces)


def lines(name: str, *each: Line) -> Block:
    """Return a block of lines: one section, since Slack does not say that two stand apart."""
    elements = list(each[0]) if each else []
    for one in each[1:]:
        elements += (RichTextElementParts.Text(text="\n"), *one)
    return RichTextBlock(block_id=name, elements=[RichTextSectionElement(elements=elements)])


def listed(
    name: str,
    entries: Iterable[Line],
    *,
    title: str = "",
    style: Literal["bullet", "ordered"] = "bullet",
) -> Block:
    """Return a list, below a title in bold."""
    head = [_section(line(words(title, bold=True)))] if title else []
    made = RichTextListElement(style=style, elements=[_section(entry) for entry in entries])
    return RichTextBlock(block_id=name, elements=[*head, made])


def _section(one: Line) -> RichTextSectionElement:
    return RichTextSectionElement(elements=list(one))


def quoted(name: str, text: str, *, title: str = "") -> Block:
    """Return foreign lines as they are, below a title in code."""
    shown = RichTextElementParts.Text(text=escaping.preformatted(text))
    head = [_section(line(words(title, code=True)))] if title else []
    made = RichTextPreformattedElement(elements=[shown])
    return RichTextBlock(block_id=name, elements=[*head, made])


def table(name: str, rows: Sequence[Sequence[str | Line]]) -> Block:
    """Return a table whose first row is its head; its cells wrap, and may hold times."""
    settings = [TableBlockColumnSettings(is_wrapped=True) for _ in rows[0]]
    return TableBlock(
        block_id=name, rows=[list(map(_table_cell, row)) for row in rows], column_settings=settings
    )


def _table_cell(cell: str | Line) -> RawTextObject | RichTextBlock:
    if isinstance(cell, str):
        return RawTextObject(text=escaping.preformatted(cell))
    return RichTextBlock(elements=[_section(cell)])


# -- controls --------------------------------------------------------------------------------


def button(
    action: Action, value: str, *, style: Style | None = None, label: str = "", url: str = ""
) -> ButtonElement:
    """Return a button that carries an id and nothing else."""
    return ButtonElement(
        action_id=action.value,
        value=value,
        text=plain(label or LABELS[action]),
        style=style,
        url=url or None,
    )


def menu(action: Action, entries: Iterable[Action], value: str) -> OverflowMenuElement:
    """Return the menu behind `⋯`; `chosen` reads what comes back."""
    options = [Option(value=f"{each.value}:{value}", text=plain(LABELS[each])) for each in entries]
    return OverflowMenuElement(action_id=action.value, options=options)


def chosen(value: str) -> tuple[Action, str] | None:
    """Return which entry of a menu was chosen and the id it is about; None for anything else."""
    action, _, about = value.partition(":")
    return (Action(action), about) if action in set(Action) and about else None


def options(choices: Sequence[Choice]) -> list[Option]:
    """Return the entries of a select menu."""
    labels = escaping.plain_texts(choice.label for choice in choices)
    notes = escaping.plain_texts(choice.note for choice in choices)
    return [
        Option(
            value=choice.id,
            text=PlainTextObject(text=label, emoji=False),
            description=PlainTextObject(text=note, emoji=False) if choice.note else None,
        )
        for choice, label, note in zip(choices, labels, notes, strict=True)
    ]


def actions(name: str, *elements: InteractiveElement) -> Block:
    """Return a row of controls."""
    return ActionsBlock(block_id=name, elements=elements)
