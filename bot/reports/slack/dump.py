"""Turn models of `slack_sdk` into JSON without its checks, which raise where `fitting` cuts."""

from __future__ import annotations

from slack_sdk.models.basic_objects import JsonObject
from slack_sdk.models.blocks import Option, OptionGroup, PlainTextObject

from bot.reports.slack.message import Json


def unchecked(model: JsonObject) -> Json:
    """Return the JSON of a block or an element as the SDK would make it, whatever its length."""
    if isinstance(model, Option):
        return _option(model)
    if isinstance(model, OptionGroup):
        options = [_value(option) for option in model.options or ()]
        return {"label": _plain(model.label or ""), "options": options}
    named = {name: getattr(model, name, None) for name in sorted(model.attributes)}
    rich = str(named.get("type")).startswith("rich_text")
    # an empty list is a field that was not given, save in rich text
    given = (name for name, value in named.items() if value is not None and (rich or value != []))
    return {name: _value(named[name]) for name in given}


def _value(value: object) -> object:
    if isinstance(value, JsonObject):
        return unchecked(value)
    if isinstance(value, list | tuple):
        return [_value(each) for each in value]
    if hasattr(value, "to_dict"):
        return value.to_dict()
    return value


def _option(option: Option) -> Json:
    """Return an option's JSON; the SDK keeps its texts as bare strings."""
    described = {"description": _plain(option.description)} if option.description else {}
    return {"text": _plain(option.text or ""), "value": option.value, **described}


def _plain(text: str) -> object:
    return unchecked(PlainTextObject(text=text, emoji=False))
