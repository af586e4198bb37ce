"""Block elements: one row for each, with its fields and their limits.

Source: docs.slack.dev/reference/block-kit/block-elements and the page of each element.
"""

from __future__ import annotations

from playground.slack.kit.objects import (
    ANY_OPTION,
    CONFIRM,
    CONVERSATIONS,
    DISPATCH,
    ID,
    OPTION_GROUP,
    PLAIN_OPTION,
    SLACK_FILE,
    URL,
    option,
    plain,
)
from playground.slack.kit.rules import Flag, Items, Rule, Shape, Text, Whole, Word, shape

_ACTION: dict[str, Rule] = {"action_id": ID}
_CONFIRM: dict[str, Rule] = {**_ACTION, "confirm": CONFIRM}
_FOCUS: dict[str, Rule] = {**_ACTION, "focus_on_load": Flag()}
_PICK: dict[str, Rule] = {**_CONFIRM, **_FOCUS, "placeholder": plain(150)}
_TYPED: dict[str, Rule] = {
    **_FOCUS,
    "placeholder": plain(150),
    "dispatch_action_config": DISPATCH,
}
_MANY: dict[str, Rule] = {**_PICK, "max_selected_items": Whole(least=1, most=1000)}
_NUMBER = Text(least=1, pattern=r"-?\d+(\.\d+)?")
_NAMES = Items(each=Text(least=1))
_MENU: dict[str, Rule] = {
    "options": Items(each=PLAIN_OPTION, least=1, most=100),
    "option_groups": Items(each=OPTION_GROUP, least=1, most=100),
}
_MENU_CHOICE = ("options", "option_groups")
_FEEDBACK = Shape(
    fields={
        "text": plain(75),
        "value": Text(least=1, most=2000),
        "accessibility_label": Text(least=1, most=75),
    },
    required=("text", "value"),
)

ELEMENTS: dict[str, Shape] = dict(
    [
        shape(
            "button",
            {
                **_CONFIRM,
                "text": plain(75),
                "url": URL,
                "value": Text(most=2000),
                "style": Word(("primary", "danger")),
                "accessibility_label": Text(least=1, most=75),
            },
            "text",
        ),
        shape(
            "checkboxes",
            {
                **_CONFIRM,
                **_FOCUS,
                "options": Items(each=ANY_OPTION, least=1, most=10),
                "initial_options": Items(each=ANY_OPTION, least=1, most=10),
            },
            "options",
        ),
        shape(
            "radio_buttons",
            {
                **_CONFIRM,
                **_FOCUS,
                "options": Items(each=ANY_OPTION, least=1, most=10),
                "initial_option": ANY_OPTION,
            },
            "options",
        ),
        shape(
            "overflow",
            {**_CONFIRM, "options": Items(each=option("plain_text", url=True), least=1, most=5)},
            "options",
        ),
        shape("datepicker", {**_PICK, "initial_date": Text(pattern=r"\d{4}-\d\d-\d\d")}),
        shape(
            "timepicker",
            {**_PICK, "initial_time": Text(pattern=r"\d\d:\d\d"), "timezone": Text(least=1)},
        ),
        shape(
            "datetimepicker",
            {**_CONFIRM, **_FOCUS, "initial_date_time": Whole(least=10**9, most=10**10 - 1)},
        ),
        shape(
            "static_select", {**_PICK, **_MENU, "initial_option": PLAIN_OPTION},
            one_of=_MENU_CHOICE,
        ),
        shape(
            "multi_static_select",
            {**_MANY, **_MENU, "initial_options": Items(each=PLAIN_OPTION, least=1, most=100)},
            one_of=_MENU_CHOICE,
        ),
        shape(
            "external_select",
            {**_PICK, "initial_option": PLAIN_OPTION, "min_query_length": Whole(least=0, most=150)},
        ),
        shape(
            "multi_external_select",
            {
                **_MANY,
                "initial_options": Items(each=PLAIN_OPTION, least=1, most=100),
                "min_query_length": Whole(least=0, most=150),
            },
        ),
        shape("users_select", {**_PICK, "initial_user": Text(least=1)}),
        shape("multi_users_select", {**_MANY, "initial_users": _NAMES}),
        shape(
            "conversations_select",
            {
                **_PICK,
                "initial_conversation": Text(least=1),
                "default_to_current_conversation": Flag(),
                "response_url_enabled": Flag(),
                "filter": CONVERSATIONS,
            },
        ),
        shape(
            "multi_conversations_select",
            {
                **_MANY,
                "initial_conversations": _NAMES,
                "default_to_current_conversation": Flag(),
                "filter": CONVERSATIONS,
            },
        ),
        shape(
            "channels_select",
            {**_PICK, "initial_channel": Text(least=1), "response_url_enabled": Flag()},
        ),
        shape("multi_channels_select", {**_MANY, "initial_channels": _NAMES}),
        shape(
            "plain_text_input",
            {
                **_TYPED,
                "initial_value": Text(most=3000),
                "multiline": Flag(),
                "min_length": Whole(least=0, most=3000),
                "max_length": Whole(least=1, most=3000),
            },
        ),
        shape("email_text_input", {**_TYPED, "initial_value": Text()}),
        shape("url_text_input", {**_TYPED, "initial_value": Text()}),
        shape(
            "number_input",
            {
                **_TYPED,
                "is_decimal_allowed": Flag(),
                "initial_value": _NUMBER,
                "min_value": _NUMBER,
                "max_value": _NUMBER,
            },
            "is_decimal_allowed",
        ),
        shape(
            "file_input",
            {
                **_ACTION,
                "filetypes": Items(each=Text(least=1), least=1),
                "max_files": Whole(least=1, most=10),
            },
        ),
        shape(
            "image",
            {"image_url": URL, "slack_file": SLACK_FILE, "alt_text": Text(least=1, most=2000)},
            "alt_text",
            one_of=("image_url", "slack_file"),
        ),
        shape(
            "feedback_buttons",
            {**_ACTION, "positive_button": _FEEDBACK, "negative_button": _FEEDBACK},
            "positive_button",
            "negative_button",
        ),
        shape(
            "icon_button",
            {
                **_CONFIRM,
                "icon": Word(("trash",)),
                "text": plain(75),
                "value": Text(most=2000),
                "accessibility_label": Text(least=1, most=75),
                "visible_to_user_ids": Items(each=Text(least=1), most=10),
            },
            "icon",
            "text",
        ),
        shape("url", {"url": URL, "text": Text(least=1)}, "url", "text"),
    ]
)  # fmt: skip

_SELECTS = (
    "static_select", "external_select", "users_select", "conversations_select", "channels_select",
)  # fmt: skip
_MENUS = (*_SELECTS, *(f"multi_{kind}" for kind in _SELECTS))
_PICKERS = ("checkboxes", "datepicker", "radio_buttons", "timepicker", *_MENUS)

#: Which elements a block may hold; each block's page has the list.
IN_ACTIONS = ("button", "overflow", "datetimepicker", *_PICKERS)
IN_SECTION = ("button", "overflow", "image", *_PICKERS)
IN_INPUT = (
    "plain_text_input", "email_text_input", "url_text_input", "number_input", "file_input",
    "datetimepicker", *_PICKERS,
)  # fmt: skip
