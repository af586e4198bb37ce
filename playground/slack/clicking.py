"""Press buttons and choose from menus, in messages, modals and Home tabs.

Source: docs.slack.dev/reference/interaction-payloads/block_actions-payload.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from playground.slack.acting import Acting
from playground.slack.delivery import Outcome
from playground.slack.errors import PlayError
from playground.slack.kit.payload import elements
from playground.slack.kit.rules import Json
from playground.slack.kit.values import chosen, initial
from playground.slack.model import View
from playground.slack.show import message_json


class NeedsConfirmationError(PlayError):
    """The element asks first; `dialog` is what the person is to be shown."""

    def __init__(self, dialog: Json) -> None:
        super().__init__("The person has to confirm this first.")
        self.dialog = dialog


@dataclass(frozen=True, kw_only=True, slots=True)
class Press:
    """What is pressed or chosen."""

    action_id: str
    #: needed where several blocks hold the action
    block_id: str = ""
    #: the chosen option's value, the text typed, a list for several
    value: Any = None
    #: the confirmation dialog was answered with yes
    confirmed: bool = False


async def in_message(who: Acting, channel: str, ts: str, press: Press) -> Outcome:
    """Press something in a message; raise PlayError if it is not there."""
    where = who.channel(channel)
    message = who.world.message(where.id, ts, who.id)
    if message is None:
        raise PlayError("The message is gone.")
    block, element = found(message.blocks, press)
    _confirmed(element, press)
    value = chosen(element, press.value)
    held = message.values.setdefault(who.id, {})
    _keep(held, block, element, value)
    payload: Json = {
        **who.about(),
        "type": "block_actions",
        "container": {
            "type": "message",
            "message_ts": ts,
            "channel_id": where.id,
            "is_ephemeral": bool(message.only_for),
            **({"thread_ts": message.thread_ts} if message.thread_ts else {}),
        },
        "trigger_id": who.world.new_trigger(who.id),
        "channel": {"id": where.id, "name": where.name or "directmessage"},
        "state": {"values": current(message.blocks, held)},
        "response_url": who.world.new_response_url(who.id, where.id, message=message),
        "actions": [_action(who, block, element, value)],
    }
    # An ephemeral message is not sent along: Slack does not keep it.
    if not message.only_for:
        payload["message"] = message_json(who.world, message)
    return await who.delivery.interactive(payload)


async def in_view(who: Acting, view: View, press: Press) -> Outcome | None:
    """Press something in a modal or a Home tab; None where the app is not told of it."""
    block, element = found(view.payload["blocks"], press)
    _confirmed(element, press)
    value = chosen(element, press.value)
    _keep(view.values, block, element, value)
    view.errors.pop(block["block_id"], None)
    if block["type"] == "input" and not block.get("dispatch_action"):
        return None
    payload: Json = {
        **who.about(),
        "type": "block_actions",
        "container": {"type": "view", "view_id": view.id},
        "trigger_id": who.world.new_trigger(who.id, view=view.id),
        "view": view.shown() | {"state": {"values": current(view.payload["blocks"], view.values)}},
        "actions": [_action(who, block, element, value)],
    }
    return await who.delivery.interactive(payload)


def current(blocks: list[Json], held: dict[str, Json]) -> Json:
    """Return what every stateful element holds: what was chosen, else what it began with."""
    values: Json = {}
    for block in blocks:
        for element in elements(block):
            name = element.get("action_id", "")
            value = held.get(block["block_id"], {}).get(name) or initial(element)
            if value is not None:
                values.setdefault(block["block_id"], {})[name] = value
    return values


def found(blocks: list[Json], press: Press) -> tuple[Json, Json]:
    """Return the block and the element that is pressed; raise PlayError if it is gone."""
    for block in blocks:
        if press.block_id in ("", block["block_id"]):
            for element in elements(block):
                if element.get("action_id") == press.action_id:
                    return block, element
    raise PlayError(f"There is no «{press.action_id}» to press any more.")


def _confirmed(element: Json, press: Press) -> None:
    options = [*element.get("options", [])]
    dialog = element.get("confirm")
    if dialog and not press.confirmed:
        raise NeedsConfirmationError(dialog)
    if element["type"] == "overflow" and not any(one["value"] == press.value for one in options):
        raise PlayError(f"There is no choice «{press.value}» in this menu.")


def _keep(held: dict[str, Json], block: Json, element: Json, value: Json) -> None:
    """Remember a choice, unless the element does not: buttons and overflow menus."""
    if initial(element) is not None:
        held.setdefault(block["block_id"], {})[element["action_id"]] = value


def _action(who: Acting, block: Json, element: Json, value: Json) -> Json:
    return {
        "action_id": element["action_id"],
        "block_id": block["block_id"],
        **value,
        "action_ts": who.world.new_ts(),
    }
