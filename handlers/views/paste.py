"""The form that asks what to look at."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from slack_bolt.async_app import AsyncApp
from slack_bolt.context.ack.async_ack import AsyncAck

from bot.chat.asking import answer
from bot.chat.desk import Desk
from bot.chat.looking import Wanted, look
from bot.chat.threads import files_of
from bot.reports.slack.values import Callback, Input
from handlers.payloads import Json, of_click

_NOTHING = "Fill in one of the fields: lines, a file, or a job."


@dataclass(frozen=True, kw_only=True, slots=True)
class Filled:
    """What a person filled in."""

    text: str
    job: str
    files: tuple[str, ...]

    @classmethod
    def of(cls, view: Json) -> Filled:
        """Read a submitted view; a job that was typed goes before one that was picked."""
        picked = (_field(view, Input.RECENT).get("selected_option") or {}).get("value")
        typed = str(_field(view, Input.JOB).get("value") or "").strip()
        files = _field(view, Input.FILE).get("files") or ()
        return cls(
            text=str(_field(view, Input.TEXT).get("value") or "").strip(),
            job=typed or str(picked or ""),
            files=tuple(str(one["id"]) for one in files),
        )


def _field(view: Json, name: Input) -> Mapping[str, Any]:
    values: Json = view["state"]["values"]
    found: Mapping[str, Any] = values.get(name.value, {}).get(name.value) or {}
    return found


def complaint(view: Json) -> Json | None:
    """Return Slack's answer to a form in which nothing was filled in; None for any other."""
    if view.get("callback_id") != Callback.PASTE.value:
        return None
    filled = Filled.of(view)
    if filled.text or filled.job or filled.files:
        return None
    return {"response_action": "errors", "errors": {Input.TEXT.value: _NOTHING}}


def register(app: AsyncApp, desk: Desk) -> None:
    """Look at what was filled in, where the form was opened."""

    @app.view(Callback.PASTE.value)
    async def submitted(ack: AsyncAck, body: Json) -> None:
        await ack()
        view: Json = body["view"]
        asker = replace(of_click(body), thread="", trigger="")
        asker = replace(
            asker, channel=str(view.get("private_metadata") or await desk.chat.direct(asker.user))
        )
        filled = Filled.of(view)
        files = await files_of(desk, filled.files)
        if filled.job and not filled.text:
            await answer(desk, asker, f"check {filled.job}", files=files)
            return
        job = filled.job or None
        await look(desk, asker, Wanted(job=job, text=filled.text, files=files))
