"""The form in which a person chooses what is backed up, or says that nothing is to be kept."""

from __future__ import annotations

from dataclasses import replace

from slack_bolt.async_app import AsyncApp
from slack_bolt.context.ack.async_ack import AsyncAck

from bot.chat.backing_up import Submitted, submitted
from bot.chat.desk import Desk
from bot.reports.slack.values import Callback, Input
from handlers.payloads import Json, of_click


def register(app: AsyncApp, desk: Desk) -> None:
    """Begin what was chosen."""

    @app.view(Callback.BACK_UP.value)
    async def sent(ack: AsyncAck, body: Json) -> None:
        await ack()
        told = of_form(body["view"])
        asker = of_click(body)
        incident = await desk.store.incidents.get(told.incident_id)
        if incident is None or incident.channel is None:
            return
        parent = await desk.parent(incident)
        thread = (parent.ts or "") if parent else ""
        await submitted(desk, replace(asker, channel=incident.channel, thread=thread), told)


def of_form(view: Json) -> Submitted:
    """Read a submitted form."""
    values: Json = view["state"]["values"]

    def field(name: Input) -> Json:
        found: Json = (values.get(name.value) or {}).get(name.value) or {}
        return found

    incident_id, _, vm = str(view["private_metadata"]).partition(" ")
    return Submitted(
        incident_id=incident_id,
        vm=vm,
        place=str((field(Input.PLACE).get("selected_option") or {}).get("value") or ""),
        entries=tuple(
            str(one["value"]) for one in field(Input.ITEMS).get("selected_options") or ()
        ),
        nothing=str(field(Input.NOTHING).get("value") or "").strip(),
    )
