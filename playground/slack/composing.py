"""What Slack's client makes of the text that a person types.

Source: docs.slack.dev/messaging/formatting-message-text.
"""

from __future__ import annotations

import re

from playground.slack.kit.rules import Json
from playground.slack.workspace import Workspace

_FENCE = re.compile(r"```\n?(.*?)\n?```", re.DOTALL)
_MENTION = re.compile(r"(?<![\w<])@([\w.-]+\w)")
_CHANNEL = re.compile(r"(?<![\w<&])#([\w-]+)")
_BROADCAST = re.compile(r"(?<![\w<])@(here|channel|everyone)\b")
#: Addresses become links, and so do bare names that end like a domain: also those in a log.
_LINK = re.compile(
    r"(?P<full>https?://[^\s<>|]+)"
    r"|(?P<mail>(?<![\w.+-])[\w.+-]+@(?:[\w-]+\.)+[a-z]{2,}\b)"
    r"|(?<![\w./@:-])(?P<bare>(?:[\w-]+\.)+(?:com|net|org|io|ai|dev|cloud)(?::\d+)?)(?![\w.-])"
)


def escaped(text: str) -> str:
    """Write the three characters that mean something as entities."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def composed(world: Workspace, typed: str) -> str:
    """Return a message's text as apps get it: escaped, with mentions and links marked up."""
    parts = re.split(r"(```.*?```)", typed, flags=re.DOTALL)
    return "".join(
        _linked(escaped(part)) if part.startswith("```") else _marked(world, escaped(part))
        for part in parts
    )


def _linked(text: str) -> str:
    def link(match: re.Match[str]) -> str:
        if mail := match["mail"]:
            return f"<mailto:{mail}|{mail}>"
        bare = match["bare"]
        return f"<http://{bare}|{bare}>" if bare else f"<{match['full']}>"

    return _LINK.sub(link, text)


def _marked(world: Workspace, text: str) -> str:
    def mention(match: re.Match[str]) -> str:
        person = world.person(match[1])
        if person:
            return f"<@{person.id}>"
        group = next((one for one in world.groups.values() if one.handle == match[1]), None)
        return f"<!subteam^{group.id}|@{group.handle}>" if group else match[0]

    def channel(match: re.Match[str]) -> str:
        found = world.channel(match[1])
        return f"<#{found.id}|{found.name}>" if found else match[0]

    text = _linked(text)
    text = _BROADCAST.sub(r"<!\1>", text)
    return _CHANNEL.sub(channel, _MENTION.sub(mention, text))


def as_rich_text(typed: str) -> list[Json]:
    """Return the rich text block that Slack's composer makes of a message."""
    elements: list[Json] = []
    at = 0
    for fence in _FENCE.finditer(typed):
        elements += _section(typed[at : fence.start()])
        code = [{"type": "text", "text": fence[1]}] if fence[1] else []
        elements.append({"type": "rich_text_preformatted", "elements": code})
        at = fence.end()
    elements += _section(typed[at:])
    return [{"type": "rich_text", "block_id": "typed", "elements": elements}] if elements else []


def _section(text: str) -> list[Json]:
    if not text.strip():
        return []
    return [{"type": "rich_text_section", "elements": [{"type": "text", "text": text}]}]
