"""Prove the limits of modals and Home tabs, and the life of a trigger.

Numbers: docs.slack.dev/reference/views/modal-views. Errors: the pages of docs.slack.dev/reference/
methods that are named beside them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta

import pytest
from slack_sdk.web.async_client import AsyncWebClient

from playground.slack.clock import HandClock
from playground.slack.server import SlackServer
from tests.behaviour.slack_playground.asking import (
    Json,
    error,
    modal_view,
    plain,
    refusal,
    section,
    text_input,
)

pytestmark = pytest.mark.anyio

ADA = "U0ENGINEER"

#: where the finding points → a view of so many, and the most there may be
VIEW_LIMITS: dict[str, tuple[Callable[[int], Json], int]] = {
    "/view/title/text": (lambda n: modal_view(title=plain("x" * n)), 24),
    "/view/submit/text": (lambda n: modal_view(submit=plain("x" * n)), 24),
    "/view/close/text": (lambda n: modal_view(close=plain("x" * n)), 24),
    "/view/private_metadata": (lambda n: modal_view(private_metadata="x" * n), 3000),
    "/view/callback_id": (lambda n: modal_view(callback_id="x" * n), 255),
    "/view/external_id": (lambda n: modal_view(external_id="x" * n), 255),
    "/view/blocks": (lambda n: modal_view(*[{"type": "divider"}] * n), 100),
    "/view/blocks/0/element/initial_value": (
        lambda n: modal_view(text_input(initial_value="x" * n)),
        3000,
    ),
    "/view/blocks/0/element/max_files": (
        lambda n: modal_view(
            {
                "type": "input",
                "label": plain("x"),
                "element": {"type": "file_input", "max_files": n},
            }
        ),
        10,
    ),
    # blocks/alert-block
    "/view/blocks/0/text/text": (
        lambda n: modal_view({"type": "alert", "level": "warning", "text": plain("x" * n)}),
        200,
    ),
}


@pytest.mark.parametrize("pointer", VIEW_LIMITS)
async def test_a_limit_of_views(client: AsyncWebClient, slack: SlackServer, pointer: str) -> None:
    """What is as large as documented opens; one more is refused with where."""
    view, most = VIEW_LIMITS[pointer]
    trigger = slack.world.new_trigger
    assert (await client.views_open(trigger_id=trigger(ADA), view=view(most)))["ok"]
    body = await refusal(client.views_open(trigger_id=trigger(ADA), view=view(most + 1)))
    assert body["error"] == "invalid_arguments"  # views.open
    assert body["errors"][0].endswith(f"[json-pointer:{pointer}]")
    assert len(body["errors"]) == 1


async def test_a_modal_with_inputs_needs_a_submit(
    client: AsyncWebClient, slack: SlackServer
) -> None:
    """`submit` may only be left out where there is nothing to send."""
    view = modal_view()
    del view["submit"]
    body = await refusal(client.views_open(trigger_id=slack.world.new_trigger(ADA), view=view))
    assert body["errors"] == ["missing required field: submit [json-pointer:/view]"]
    shows = modal_view(section())
    del shows["submit"]
    opened = await client.views_open(trigger_id=slack.world.new_trigger(ADA), view=shows)
    assert opened["view"]["submit"] is None


async def test_one_field_gets_the_focus(client: AsyncWebClient, slack: SlackServer) -> None:
    """A second `focus_on_load` is refused (block-elements/plain-text-input-element)."""
    two = [text_input(name, focus_on_load=True) for name in ("a", "b")]
    opened = client.views_open
    assert (await opened(trigger_id=slack.world.new_trigger(ADA), view=modal_view(two[0])))["ok"]
    body = await refusal(opened(trigger_id=slack.world.new_trigger(ADA), view=modal_view(*two)))
    pointer = "/view/blocks"
    assert body["errors"] == [f"only one element can have focus_on_load [json-pointer:{pointer}]"]


async def test_markdown_and_tables_are_for_messages(
    client: AsyncWebClient, slack: SlackServer
) -> None:
    """A view refuses blocks that only messages take (docs.slack.dev/blocks.json)."""
    for block in (
        {"type": "markdown", "text": "x"},
        {"type": "table", "rows": [[{"type": "raw_text", "text": "x"}]]},
    ):
        body = await refusal(
            client.views_open(trigger_id=slack.world.new_trigger(ADA), view=modal_view(block))
        )
        kind = block["type"]
        assert body["errors"] == [f"unsupported type: {kind} [json-pointer:/view/blocks/0/type]"]


async def test_a_view_of_too_many_bytes(client: AsyncWebClient, slack: SlackServer) -> None:
    """250 kB are the most, however right the blocks are."""
    fat = modal_view(*[section("x" * 3000) for _ in range(90)])
    refused = client.views_open(trigger_id=slack.world.new_trigger(ADA), view=fat)
    assert await error(refused) == "view_too_large"  # views.open


async def test_a_trigger_lives_three_seconds_and_works_once(
    client: AsyncWebClient, slack: SlackServer, clock: HandClock
) -> None:
    """At three seconds it still opens a modal; later, again or made up it does not."""
    opened = client.views_open
    trigger = slack.world.new_trigger(ADA)
    await clock.advance(timedelta(seconds=3))
    assert (await opened(trigger_id=trigger, view=modal_view()))["ok"]
    # views.open
    refused = await error(opened(trigger_id=trigger, view=modal_view()))
    assert refused == "exchanged_trigger_id"
    late = slack.world.new_trigger(ADA)
    await clock.advance(timedelta(seconds=3, microseconds=1))
    assert await error(opened(trigger_id=late, view=modal_view())) == "expired_trigger_id"
    refused = await error(opened(trigger_id="1.2.abc", view=modal_view()))
    assert refused == "invalid_trigger_id"


async def test_three_views_fit_on_each_other(client: AsyncWebClient, slack: SlackServer) -> None:
    """A trigger from inside the modal pushes a view; a fourth finds no place."""
    world = slack.world
    first = (await client.views_open(trigger_id=world.new_trigger(ADA), view=modal_view()))["view"]
    on_top = first["id"]
    for _ in range(2):
        trigger = world.new_trigger(ADA, view=on_top)
        pushed = (await client.views_push(trigger_id=trigger, view=modal_view()))["view"]
        assert pushed["root_view_id"] == first["id"]
        assert pushed["previous_view_id"] == on_top
        on_top = pushed["id"]
    full = client.views_push(trigger_id=world.new_trigger(ADA, view=on_top), view=modal_view())
    assert await error(full) == "push_limit_reached"  # views.push
    outside = client.views_push(trigger_id=world.new_trigger(ADA), view=modal_view())
    assert await error(outside) == "not_found"  # views.push


async def test_a_view_is_changed_by_its_newest_hash(
    client: AsyncWebClient, slack: SlackServer
) -> None:
    """Whoever changes what they have not seen is refused; an external id works, too."""
    view = modal_view(external_id="one")
    first = await client.views_open(trigger_id=slack.world.new_trigger(ADA), view=view)
    old = first["view"]["hash"]
    update = client.views_update
    changed = await update(external_id="one", view=view, hash=old)
    assert changed["view"]["hash"] != old
    # views.update
    stale = update(view_id=first["view"]["id"], view=view, hash=old)
    assert await error(stale) == "hash_conflict"
    assert await error(update(view_id="V0NONE0001", view=view)) == "not_found"
    again = client.views_open(trigger_id=slack.world.new_trigger(ADA), view=view)
    assert await error(again) == "duplicate_external_id"  # views.open


async def test_what_was_typed_stays_where_the_block_does(
    client: AsyncWebClient, slack: SlackServer
) -> None:
    """An update keeps values of inputs whose block and action ids it keeps (modal-views)."""
    opened = await client.views_open(
        trigger_id=slack.world.new_trigger(ADA), view=modal_view(text_input("a"), text_input("b"))
    )
    view = slack.world.views[str(opened["view"]["id"])]
    view.values = {name: {"typed": {"value": name}} for name in ("a", "b")}
    await client.views_update(view_id=view.id, view=modal_view(text_input("b")))
    assert view.values == {"b": {"typed": {"value": "b"}}}


async def test_a_home_tab(client: AsyncWebClient, slack: SlackServer) -> None:
    """Each person has one, it takes no modal, and an app without the feature has none."""
    home = {"type": "home", "blocks": [section()]}
    first = await client.views_publish(user_id=ADA, view=home)
    again = await client.views_publish(user_id=ADA, view=home)
    assert first["view"]["id"] == again["view"]["id"]
    # views.publish
    stale = client.views_publish(user_id=ADA, view=home, hash=first["view"]["hash"])
    assert await error(stale) == "hash_conflict"
    wrong = client.views_publish(user_id=ADA, view=modal_view())
    assert await error(wrong) == "invalid_arguments"
    titled = client.views_publish(user_id=ADA, view={**home, "title": plain("Home")})
    assert await error(titled) == "invalid_arguments"
    slack.world.app = replace(slack.world.app, home_tab=False)
    assert await error(client.views_publish(user_id=ADA, view=home)) == "not_enabled"
