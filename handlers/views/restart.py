"""The form in which a person chooses a rung of the ladder."""

from __future__ import annotations

from dataclasses import replace

from slack_bolt.async_app import AsyncApp
from slack_bolt.context.ack.async_ack import AsyncAck

from bot.chat.desk import Desk
from bot.chat.restarting import Chosen, submitted
from bot.reports.slack.restart_form import chosen
from bot.reports.slack.values import Callback, Input
from handlers.payloads import Json, of_click

_NO_REASON = "Say why: the evidence does not call for this one."


def register(app: AsyncApp, desk: Desk) -> None:
    """Propose what was chosen, where the incident's report is."""

    @app.view(Callback.RESTART.value)
    async def sent(ack: AsyncAck, body: Json) -> None:
        await ack()
        told = of_form(body["view"])
        asker = of_click(body)
        incident = await desk.store.incidents.get(told.incident_id)
        if incident is None or incident.channel is None:
            return
        parent = await desk.parent(incident)
        thread = (parent.thread or parent.ts or "") if parent else ""
        await submitted(desk, replace(asker, channel=incident.channel, thread=thread), told)


def complaint(view: Json) -> Json | None:
    """Return Slack's answer to a choice that lacks its reason; None for any other form."""
    if view.get("callback_id") != Callback.RESTART.value:
        return None
    told = of_form(view)
    if not told.asked or told.why:
        return None
    return {"response_action": "errors", "errors": {Input.WHY.value: _NO_REASON}}


def of_form(view: Json) -> Chosen:
    """Read a submitted form."""
    values: Json = view["state"]["values"]

    def field(name: Input) -> Json:
        found: Json = (values.get(name.value) or {}).get(name.value) or {}
        return found

    incident_id, _, vm = str(view["private_metadata"]).partition(" ")
    option = (field(Input.RUNG).get("selected_option") or {}).get("value") or ""
    rung, asked = chosen(str(option))
    return Chosen(
        incident_id=incident_id,
        vm=vm,
        rung=rung,
        asked=asked,
        why=" ".join(str(field(Input.WHY).get("value") or "").split()),
    )
