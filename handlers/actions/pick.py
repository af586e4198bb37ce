"""The menu of a job's VMs, where the placement is a guess; a button where they are too many."""

from __future__ import annotations

from slack_bolt.async_app import AsyncApp
from slack_bolt.context.ack.async_ack import AsyncAck

from bot.chat.buttons import pick, press
from bot.chat.desk import Desk
from bot.reports.slack.values import Action
from handlers.payloads import Json, of_click


def register(app: AsyncApp, desk: Desk) -> None:
    """Look at the VM that somebody picked."""

    @app.action(Action.PICK_VM.value)
    async def picked(ack: AsyncAck, body: Json) -> None:
        await ack()
        action: Json = body["actions"][0]
        asker = of_click(body)
        if "selected_option" not in action:
            return await press(desk, asker, Action.PICK_VM, str(action["value"]))
        incident = await desk.incident_in(asker.channel, asker.thread)
        if incident is None:
            return await desk.explain(asker, "This report is not known any more: ask again.")
        return await pick(desk, asker, incident.id, str(action["selected_option"]["value"]))
