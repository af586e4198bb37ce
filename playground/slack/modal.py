"""Fill in, submit and close modals, as Slack's client and server do together.

Source: docs.slack.dev/surfaces/modals and …/interaction-payloads/view-interactions-payload.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import PurePosixPath
from typing import Any

from playground.slack.acting import FILE_INPUT_MOST, Acting
from playground.slack.api.views import judged, put_on_top, replace
from playground.slack.clicking import current
from playground.slack.delivery import Outcome
from playground.slack.errors import PlayError, SlackRefusal
from playground.slack.kit.payload import elements
from playground.slack.kit.rules import Json
from playground.slack.kit.values import chosen, complaint
from playground.slack.model import View
from playground.slack.show import file_json
from playground.slack.workspace import Workspace

#: Shown over a modal whose submission the app did not answer, or answered wrongly.
TROUBLE = "We had some trouble connecting. Try again?"

#: What a person types into a modal: block id → action id → value.
Typed = dict[str, dict[str, Any]]


def fill(who: Acting, view: View, typed: Typed) -> None:
    """Type into inputs without sending anything; raise PlayError for what is not there."""
    blocks = {block["block_id"]: block for block in view.payload["blocks"]}
    for block_id, actions in typed.items():
        for action_id, value in actions.items():
            element = _element(blocks.get(block_id), action_id)
            held = chosen(element, value)
            if element["type"] == "file_input" and value:
                held["files"] = [_file(who, element, one) for one in value]
                _count(element, held["files"])
            view.values.setdefault(block_id, {})[action_id] = held


def _element(block: Json | None, action_id: str) -> Json:
    for element in elements(block) if block else ():
        if element.get("action_id") == action_id:
            return element
    raise PlayError(f"There is no field «{action_id}» in this modal.")


def _file(who: Acting, element: Json, file_id: str) -> Json:
    file = who.world.files.get(file_id)
    if file is None or file.user != who.id:
        raise PlayError("That file was not uploaded by this person.")
    if file.size > FILE_INPUT_MOST:
        raise PlayError("Files here may have at most 10 MB.")
    kinds = element.get("filetypes")
    if kinds and not {file.filetype, PurePosixPath(file.name).suffix[1:]}.intersection(kinds):
        raise PlayError(f"Files here must be one of: {', '.join(kinds)}.")
    file.given_to_app = True
    return file_json(who.world, file)


def _count(element: Json, files: list[Json]) -> None:
    most = element.get("max_files", 10)
    if len(files) > most:
        raise PlayError(f"At most {most} files fit here.")


async def submit(who: Acting, view: View, typed: Typed) -> Outcome:
    """Press Submit. Afterwards the modal is closed, changed, or shows `view.errors`.

    Nothing is sent while an input is not as its block asks.
    """
    fill(who, view, typed)
    values = current(view.payload["blocks"], view.values)
    view.errors = {
        block["block_id"]: sentence
        for block in view.payload["blocks"]
        if block["type"] == "input" and (sentence := complaint(block, _held(block, values)))
    }
    if view.errors:
        who.world.feed.tell("modal", user=who.id)
        return Outcome(failed="not_sent")
    payload: Json = {
        **who.about(),
        "type": "view_submission",
        "trigger_id": who.world.new_trigger(who.id, view=view.id),
        "view": view.shown() | {"state": {"values": values}},
        "response_urls": _response_urls(who, view, values),
    }
    outcome = await who.delivery.interactive(payload)
    if outcome.failed or not _answered(who, view, outcome.body):
        view.errors = {"": TROUBLE}
    who.world.feed.tell("modal", user=who.id)
    return outcome


def _held(block: Json, values: Json) -> Json | None:
    held: Json | None = values.get(block["block_id"], {}).get(block["element"]["action_id"])
    return held


def _response_urls(who: Acting, view: View, values: Json) -> list[Json]:
    urls = []
    for block in view.payload["blocks"]:
        for element in elements(block):
            held = values.get(block["block_id"], {}).get(element.get("action_id"), {})
            channel = held.get("selected_conversation") or held.get("selected_channel")
            if element.get("response_url_enabled") and channel in who.world.channels:
                urls.append(
                    {
                        "block_id": block["block_id"],
                        "action_id": element["action_id"],
                        "channel_id": channel,
                        "response_url": who.world.new_response_url(who.id, channel),
                    }
                )
    return urls


def _answered(who: Acting, view: View, body: object) -> bool:
    """Do what the app's answer asks for; return whether it could be done."""
    if not body:
        _pop(who.world, who.id, view)
        return True
    if not isinstance(body, dict):
        return False
    act = _ANSWERS.get(str(body.get("response_action")))
    try:
        return act is not None and act(who, view, body)
    except SlackRefusal:
        return False


def _clear(who: Acting, view: View, body: Json) -> bool:
    del view, body
    who.world.modals.pop(who.id, None)
    return True


def _errors(who: Acting, view: View, body: Json) -> bool:
    """Show the app's sentences; each must be for an input block of this view."""
    del who
    errors = body.get("errors")
    inputs = {one["block_id"] for one in view.payload["blocks"] if one["type"] == "input"}
    if not isinstance(errors, dict) or not errors or not set(errors) <= inputs:
        return False
    if not all(isinstance(one, str) and one for one in errors.values()):
        return False
    view.errors = dict(errors)
    return True


def _update(who: Acting, view: View, body: Json) -> bool:
    replace(who.world, view, judged(body.get("view"), "modal"))
    return True


def _push(who: Acting, view: View, body: Json) -> bool:
    del view
    put_on_top(who.world, judged(body.get("view"), "modal"), who.id)
    return True


_ANSWERS: dict[str, Callable[[Acting, View, Json], bool]] = {
    "clear": _clear,
    "errors": _errors,
    "update": _update,
    "push": _push,
}


def _pop(world: Workspace, user: str, view: View) -> None:
    stack = world.modals.get(user, [])
    if view.id in stack:
        del stack[stack.index(view.id) :]
    if not stack:
        world.modals.pop(user, None)


async def close(who: Acting, view: View, *, everything: bool = False) -> None:
    """Press Close, or the cross for `everything`; the app is told where the view says so."""
    stack = who.world.modals.get(who.id, [])
    everything = everything or bool(view.payload.get("clear_on_close"))
    closed = list(reversed(stack)) if everything else [view.id]
    if everything:
        who.world.modals.pop(who.id, None)
    else:
        _pop(who.world, who.id, view)
    who.world.feed.tell("modal", user=who.id)
    for one in closed:
        gone = who.world.views[one]
        if gone.payload.get("notify_on_close"):
            payload: Json = {
                **who.about(),
                "type": "view_closed",
                "view": gone.shown(),
                "is_cleared": everything,
            }
            await who.delivery.interactive(payload)
