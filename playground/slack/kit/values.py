"""What a person chooses or types, as payloads carry it, and what Slack's client says to it.

Source: docs.slack.dev/reference/interaction-payloads/block_actions-payload and the pages of the
elements.
"""

from __future__ import annotations

import re
from typing import Any

from playground.slack.errors import PlayError
from playground.slack.kit.rules import Json

#: Element → the member that holds what was chosen.
MEMBERS = {
    "plain_text_input": "value",
    "email_text_input": "value",
    "url_text_input": "value",
    "number_input": "value",
    "datepicker": "selected_date",
    "timepicker": "selected_time",
    "datetimepicker": "selected_date_time",
    "users_select": "selected_user",
    "multi_users_select": "selected_users",
    "conversations_select": "selected_conversation",
    "multi_conversations_select": "selected_conversations",
    "channels_select": "selected_channel",
    "multi_channels_select": "selected_channels",
    "file_input": "files",
    "static_select": "selected_option",
    "external_select": "selected_option",
    "radio_buttons": "selected_option",
    "overflow": "selected_option",
    "checkboxes": "selected_options",
    "multi_static_select": "selected_options",
    "multi_external_select": "selected_options",
}

#: Menus whose options the app gives as the person types; a choice is the whole option.
EXTERNAL = ("external_select", "multi_external_select")

_INITIAL = {
    "value": "initial_value",
    "selected_date": "initial_date",
    "selected_time": "initial_time",
    "selected_date_time": "initial_date_time",
    "selected_user": "initial_user",
    "selected_users": "initial_users",
    "selected_conversation": "initial_conversation",
    "selected_conversations": "initial_conversations",
    "selected_channel": "initial_channel",
    "selected_channels": "initial_channels",
    "selected_option": "initial_option",
    "selected_options": "initial_options",
}

#: What the client says under a field.
MISSING = "Please complete this required field."
_EMAIL = re.compile(r"[^@\s]+@[^@\s]+\.[^@\s]+")
_URL = re.compile(r"https?://[^\s/]+\S*")


def _options(element: Json) -> list[Json]:
    groups = element.get("option_groups", [])
    return [*element.get("options", []), *(one for group in groups for one in group["options"])]


def _option(element: Json, value: object) -> Json:
    if element["type"] in EXTERNAL and isinstance(value, dict):
        return value
    for one in _options(element):
        if one["value"] == value:
            return one
    raise PlayError(f"There is no choice «{value}» in this menu.")


def chosen(element: Json, given: Any) -> Json:  # noqa: ANN401 # a text, a list or nothing
    """Return a choice as payloads have it: options by value, everything else as given.

    An external menu's option is given whole, as the app suggested it.

    Raises PlayError where the element has no such choice.
    """
    kind = element["type"]
    if kind not in MEMBERS:
        kept = ("text", "value", "style", "url")
        return {"type": kind} | {name: element[name] for name in kept if name in element}
    member = MEMBERS[kind]
    if given in (None, "", []):
        return {"type": kind, member: [] if member.endswith("s") else None}
    if member == "selected_option":
        return {"type": kind, member: _option(element, given)}
    if member == "selected_options":
        return {"type": kind, member: [_option(element, one) for one in given]}
    return {"type": kind, member: given}


def initial(element: Json) -> Json | None:
    """Return what an element holds before anybody touched it; None for buttons and menus."""
    kind = element["type"]
    if kind not in MEMBERS or kind == "overflow":
        return None
    member = MEMBERS[kind]
    empty: Any = [] if member.endswith("s") else None
    return {"type": kind, member: element.get(_INITIAL.get(member, ""), empty)}


def complaint(block: Json, state: Json | None) -> str:
    """Return what Slack's client says to an input before it sends the modal; empty is good."""
    element = block["element"]
    value = (state or {}).get(MEMBERS[element["type"]])
    if value in (None, "", []):
        return "" if block.get("optional") else MISSING
    judge = _JUDGES.get(element["type"])
    return judge(element, value) if judge else ""


def _text(element: Json, value: str) -> str:
    if len(value) < element.get("min_length", 0):
        return f"This field must have at least {element['min_length']} characters."
    if len(value) > element.get("max_length", 3000):
        return f"This field must have no more than {element.get('max_length', 3000)} characters."
    return ""


def _email(element: Json, value: str) -> str:
    del element
    return "" if _EMAIL.fullmatch(value) else "Please enter a valid email address."


def _url(element: Json, value: str) -> str:
    del element
    return "" if _URL.fullmatch(value) else "Please enter a valid URL."


def _number(element: Json, value: str) -> str:
    decimals = element["is_decimal_allowed"]
    if not re.fullmatch(r"-?\d+(\.\d+)?" if decimals else r"-?\d+", value):
        return "Please enter a number." if decimals else "Please enter a whole number."
    if "min_value" in element and float(value) < float(element["min_value"]):
        return f"Please enter a number of at least {element['min_value']}."
    if "max_value" in element and float(value) > float(element["max_value"]):
        return f"Please enter a number of at most {element['max_value']}."
    return ""


_JUDGES = {
    "plain_text_input": _text,
    "email_text_input": _email,
    "url_text_input": _url,
    "number_input": _number,
}
