"""Composition objects: texts, options, confirmations, filters.

Source of every limit here: docs.slack.dev/reference/block-kit/composition-objects and the pages
below it, one for each object.
"""

from __future__ import annotations

from playground.slack.kit.rules import Flag, Items, Rule, Shape, Text, Word

#: text-object: at least 1 and at most 3,000 characters
TEXT_MOST = 3000


def text(most: int = TEXT_MOST, *kinds: str) -> Shape:
    """Return the rule for a text object of at most so many characters, of either kind or of one."""
    allowed = kinds or ("plain_text", "mrkdwn")
    return Shape(
        fields={
            "type": Word(allowed),
            "text": Text(least=1, most=most),
            "emoji": Flag(),
            "verbatim": Flag(),
        },
        required=("type", "text"),
    )


def plain(most: int) -> Shape:
    """Return the rule for a `plain_text` object."""
    return text(most, "plain_text")


#: `action_id` and `block_id`
ID = Text(least=1, most=255)
URL = Text(least=1, most=3000, pattern=r"https?://[^\s/].*", form="a valid url")

#: confirmation-dialog-object
CONFIRM = Shape(
    fields={
        "title": plain(100),
        "text": text(300),
        "confirm": plain(30),
        "deny": plain(30),
        "style": Word(("primary", "danger")),
    },
    required=("title", "text", "confirm", "deny"),
)


def option(*kinds: str, url: bool = False) -> Shape:
    """Return the rule for an option-object; only one in an overflow menu may have a `url`."""
    fields: dict[str, Rule] = {
        "text": text(75, *kinds),
        "value": Text(least=1, most=150),
        "description": text(75, *kinds),
    }
    return Shape(fields=fields | ({"url": URL} if url else {}), required=("text", "value"))


PLAIN_OPTION = option("plain_text")
ANY_OPTION = option()

#: option-group-object
OPTION_GROUP = Shape(
    fields={"label": plain(75), "options": Items(each=PLAIN_OPTION, least=1, most=100)},
    required=("label", "options"),
)

#: conversation-filter-object
CONVERSATIONS = Shape(
    fields={
        "include": Items(each=Word(("im", "mpim", "private", "public")), least=1),
        "exclude_external_shared_channels": Flag(),
        "exclude_bot_users": Flag(),
    },
    any_of=("include", "exclude_external_shared_channels", "exclude_bot_users"),
)

#: dispatch-action-configuration-object
DISPATCH = Shape(
    fields={
        "trigger_actions_on": Items(
            each=Word(("on_enter_pressed", "on_character_entered")), least=1, most=2
        )
    }
)

#: slack-file-object: a URL or an id, never both
SLACK_FILE = Shape(fields={"url": URL, "id": Text(least=1)}, one_of=("url", "id"))
