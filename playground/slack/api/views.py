"""`views.*`: modals, and the Home tab."""

from __future__ import annotations

import secrets

from playground.slack.api.call import Call
from playground.slack.errors import SlackRefusal, with_messages
from playground.slack.kit.payload import judge_view, view_too_large, with_ids
from playground.slack.kit.rules import Json
from playground.slack.model import Trigger, View
from playground.slack.workspace import APP_ID, BOT_ID, TEAM, Workspace

#: Views in one modal (docs.slack.dev/surfaces/modals).
STACK_MOST = 3


def opened(call: Call) -> Json:
    """Open a modal for whoever made the trigger."""
    payload = judged(call.structure("view"), "modal")
    trigger = _exchange(call)
    _unused(call.world, payload)
    view = new_view(call.world, payload, trigger.user)
    call.world.modals[trigger.user] = [view.id]
    call.world.feed.tell("modal", user=trigger.user)
    return {"view": view.shown()}


def push(call: Call) -> Json:
    """Put a view on top of the modal that the trigger was made in."""
    payload = judged(call.structure("view"), "modal")
    trigger = _exchange(call)
    stack = call.world.modals.get(trigger.user, [])
    if not trigger.view or trigger.view not in stack:
        raise SlackRefusal("not_found")
    _unused(call.world, payload)
    return {"view": put_on_top(call.world, payload, trigger.user).shown()}


def put_on_top(world: Workspace, payload: Json, user: str) -> View:
    """Add a view to a person's modal; raise SlackRefusal beyond three."""
    stack = world.modals.get(user)
    if not stack:
        raise SlackRefusal("not_found")
    if len(stack) >= STACK_MOST:
        raise SlackRefusal("push_limit_reached")
    view = new_view(world, payload, user)
    view.previous, view.root = stack[-1], stack[0]
    stack.append(view.id)
    world.feed.tell("modal", user=user)
    return view


def update(call: Call) -> Json:
    """Change a view, wherever in the modal it is."""
    payload = judged(call.structure("view"))
    view = _wanted(call)
    if view.payload["type"] != payload["type"]:
        raise with_messages("invalid_arguments", ["view type cannot be changed"])
    _fresh(view, call.text("hash"))
    if payload.get("external_id") != view.payload.get("external_id"):
        _unused(call.world, payload)
    replace(call.world, view, payload)
    return {"view": view.shown()}


def replace(world: Workspace, view: View, payload: Json) -> None:
    """Change what a view holds; values stay where block and action ids do."""
    view.payload = payload
    view.hash = _hash(world)
    view.errors = {}
    kept = {block["block_id"] for block in payload["blocks"]}
    view.values = {block: values for block, values in view.values.items() if block in kept}
    world.feed.tell("modal" if payload["type"] == "modal" else "home", user=view.user)


def publish(call: Call) -> Json:
    """Show a Home tab to one person."""
    payload = judged(call.structure("view"), "home")
    user = call.need("user_id")
    if user not in call.world.people:
        raise with_messages("invalid_arguments", ["invalid `user_id`"])
    if not call.world.app.home_tab:
        raise SlackRefusal("not_enabled")
    view = call.world.views.get(call.world.homes.get(user, ""))
    if view is None:
        view = new_view(call.world, payload, user)
        call.world.homes[user] = view.id
        call.world.feed.tell("home", user=user)
    else:
        _fresh(view, call.text("hash"))
        replace(call.world, view, payload)
    return {"view": view.shown()}


def judged(payload: object, surface: str = "") -> Json:
    """Return a view that is right, with its ids filled in; raise SlackRefusal otherwise."""
    if view_too_large(payload):
        raise SlackRefusal("view_too_large")
    if wrong := judge_view(payload, surface):
        raise with_messages("invalid_arguments", wrong)
    assert isinstance(payload, dict)  # noqa: S101 # judged above
    with_ids(payload["blocks"])
    return payload


def new_view(world: Workspace, payload: Json, user: str) -> View:
    """Add a view of a person's."""
    view = View(
        id=world.new_id("V"),
        payload=payload,
        user=user,
        team=TEAM,
        app_id=APP_ID,
        bot_id=BOT_ID,
        hash=_hash(world),
    )
    world.views[view.id] = view
    return view


def _hash(world: Workspace) -> str:
    return f"{world.seconds()}.{secrets.token_hex(4)}"


def _exchange(call: Call) -> Trigger:
    wanted = call.need("trigger_id")
    trigger = call.world.triggers.get(wanted)
    if trigger is None:
        raise SlackRefusal("invalid_trigger_id")
    if trigger.used:
        raise SlackRefusal("exchanged_trigger_id")
    if call.world.clock.now() > trigger.expires:
        raise SlackRefusal("expired_trigger_id")
    trigger.used = True
    return trigger


def _unused(world: Workspace, payload: Json) -> None:
    wanted = payload.get("external_id")
    if wanted and any(one.payload.get("external_id") == wanted for one in world.views.values()):
        raise SlackRefusal("duplicate_external_id")


def _wanted(call: Call) -> View:
    view_id, external = call.text("view_id"), call.text("external_id")
    if not view_id and not external:
        raise with_messages("invalid_arguments", ["must provide view_id or external_id"])
    for view in call.world.views.values():
        if view_id == view.id or (external and view.payload.get("external_id") == external):
            return view
    raise SlackRefusal("not_found")


def _fresh(view: View, given: str) -> None:
    if given and given != view.hash:
        raise SlackRefusal("hash_conflict")
