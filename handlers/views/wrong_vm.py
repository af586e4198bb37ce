"""The form in which a person says which VM it really is, and how they know."""

from __future__ import annotations

from dataclasses import replace

from slack_bolt.async_app import AsyncApp
from slack_bolt.context.ack.async_ack import AsyncAck

from bot.chat.buttons import pick
from bot.chat.desk import Desk
from bot.diagnosis.redact import redact
from bot.incidents.incident import Entry
from bot.reports.slack.values import Callback, Input
from handlers.payloads import Json, of_click


def register(app: AsyncApp, desk: Desk) -> None:
    """Record who says so and why, and look at that VM."""

    @app.view(Callback.WRONG_VM.value)
    async def submitted(ack: AsyncAck, body: Json) -> None:
        await ack()
        view: Json = body["view"]
        values: Json = view["state"]["values"]
        incident_id = str(view["private_metadata"])
        host = str(values[Input.VM.value][Input.VM.value]["selected_option"]["value"])
        why = str(values[Input.WHY.value][Input.WHY.value].get("value") or "")
        asker = of_click(body)
        incident = await desk.store.incidents.get(incident_id)
        if incident is None or incident.channel is None:
            return
        entry = Entry(
            at=desk.now(), kind="vm picked", who=asker.user, about=host, text=redact(why).text
        )
        await desk.store.incidents.record(incident_id, entry)
        await pick(desk, replace(asker, channel=incident.channel), incident_id, host)
