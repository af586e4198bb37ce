"""mrkdwn put together from foreign text and our own tokens: mentions and times.

The text beside the blocks is such: what a lock screen shows and a screen reader reads.
"""

from __future__ import annotations

from datetime import UTC, datetime

from slack_sdk.models.blocks import MarkdownTextObject

from bot.reports.slack import escaping
from bot.reports.slack.ids import is_group, is_user


class Markup(str):
    """mrkdwn in which everything foreign is escaped; made by this module alone."""

    __slots__ = ()


def mention(user: str) -> Markup:
    """Return the token that mentions a person or a user group; empty for anything but an id."""
    if is_user(user):
        return Markup(f"<@{user}>")
    return Markup(f"<!subteam^{user}>" if is_group(user) else "")


def clock(at: datetime) -> Markup:
    """Return a time that Slack shows in the reader's zone, with its day."""
    fallback = f"{at.astimezone(UTC):%Y-%m-%d %H:%M} UTC"
    return Markup(f"<!date^{int(at.timestamp())}^{{date_short_pretty}} {{time}}|{fallback}>")


def bold(text: str) -> Markup:
    """Return an escaped text in bold."""
    return Markup(f"*{escaping.mrkdwn(text)}*")


def joined(*parts: str, by: str = " ") -> Markup:
    """Return parts as one text, whatever is not markup escaped and what is empty left out."""
    said = (part if isinstance(part, Markup) else escaping.mrkdwn(part) for part in parts if part)
    return Markup(by.join(said))


def marked(*rows: Markup) -> MarkdownTextObject:
    """Return lines as a text object in which Slack looks for no names and links of its own."""
    return MarkdownTextObject(text="\n".join(row for row in rows if row), verbatim=True)


def notification(*sentences: str, mentioned: tuple[str, ...] = ()) -> str:
    """Return sentences as one text; whoever is mentioned is notified by it.

    Slack takes mentions from this text; an edit notifies nobody.
    """
    return str(joined(*map(mention, mentioned), *sentences))
