"""Look at a view as a person does: what it says, which controls it has."""

from __future__ import annotations

from bot.reports.slack.message import Json, Message, View
from bot.reports.slack.reading import reading
from tests.unit.reports.judge import objects


def said(view: Message | View) -> str:
    """Return everything that can be read in a view, controls left out."""
    shown = [block for block in view.blocks if block["type"] != "actions"]
    return reading(shown)


def controls(view: Message | View) -> list[Json]:
    """Return the buttons, menus and inputs of a view, in order."""
    kinds = {"button", "static_select", "overflow", "plain_text_input", "file_input"}
    return [each for each in objects(list(view.blocks)) if each.get("type") in kinds]


def buttons(view: Message | View) -> list[str]:
    """Return the labels of the buttons, in order."""
    return [each["text"]["text"] for each in controls(view) if each["type"] == "button"]


def primary(view: Message | View) -> list[str]:
    """Return the labels of the buttons that stand out."""
    found = (each for each in controls(view) if each.get("style") == "primary")
    return [each["text"]["text"] for each in found]


def menu(view: Message | View) -> list[str]:
    """Return what is behind `⋯`."""
    found = [each for each in controls(view) if each["type"] == "overflow"]
    return [option["text"]["text"] for each in found for option in each["options"]]
