"""Ask the app for the options of an external menu, as the person types.

Source: docs.slack.dev/reference/interaction-payloads/block_suggestion-payload.
"""

from __future__ import annotations

from playground.slack.acting import Acting
from playground.slack.clicking import Press, found
from playground.slack.errors import PlayError
from playground.slack.kit.objects import OPTION_GROUP, PLAIN_OPTION
from playground.slack.kit.rules import Findings, Items, Json, Shape
from playground.slack.kit.values import EXTERNAL
from playground.slack.model import View
from playground.slack.show import message_json

#: Typed characters before the app is asked, where the element does not say.
_LEAST = 3

_ANSWER = Shape(
    fields={
        "options": Items(each=PLAIN_OPTION, most=100),
        "option_groups": Items(each=OPTION_GROUP, most=100),
    },
    one_of=("options", "option_groups"),
)


async def in_view(who: Acting, view: View, press: Press) -> list[Json]:
    """Return what the app offers for what was typed into a view's menu."""
    about: Json = {
        "container": {"type": "view", "view_id": view.id},
        "view": view.shown(),
    }
    return await _asked(who, view.payload["blocks"], press, about)


async def in_message(who: Acting, channel: str, ts: str, press: Press) -> list[Json]:
    """Return what the app offers for what was typed into a message's menu."""
    where = who.channel(channel)
    message = who.world.message(where.id, ts, who.id)
    if message is None:
        raise PlayError("The message is gone.")
    about: Json = {
        "container": {"type": "message", "message_ts": ts, "channel_id": where.id},
        "channel": {"id": where.id, "name": where.name},
        "message": message_json(who.world, message),
    }
    return await _asked(who, message.blocks, press, about)


async def _asked(who: Acting, blocks: list[Json], press: Press, about: Json) -> list[Json]:
    block, element = found(blocks, press)
    if element["type"] not in EXTERNAL:
        raise PlayError("This menu has its own options.")
    typed = str(press.value or "")
    if len(typed) < element.get("min_query_length", _LEAST):
        return []
    payload: Json = {
        **who.about(),
        "type": "block_suggestion",
        "action_id": element["action_id"],
        "block_id": block["block_id"],
        "value": typed,
        **about,
    }
    outcome = await who.delivery.interactive(payload)
    findings = Findings(surface="message")
    _ANSWER.check(outcome.body, "", findings)
    if outcome.failed or findings.found:
        raise PlayError("The menu could not be loaded.")
    body: Json = outcome.body
    groups = body.get("option_groups", [])
    return [*body.get("options", []), *(one for group in groups for one in group["options"])]
