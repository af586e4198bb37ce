"""Prove that blocks of a wrong shape are refused, and right ones taken.

The shapes are those of docs.slack.dev/reference/block-kit; the error, `invalid_blocks`, is on
docs.slack.dev/reference/methods/chat.postMessage.
"""

from __future__ import annotations

import pytest
from slack_sdk.models.blocks import (
    ActionsBlock,
    ButtonElement,
    ContextBlock,
    DividerBlock,
    HeaderBlock,
    MarkdownTextObject,
    OverflowMenuElement,
    SectionBlock,
    StaticSelectElement,
)
from slack_sdk.models.blocks.basic_components import ConfirmObject, Option
from slack_sdk.web.async_client import AsyncWebClient

from playground.slack.server import SlackServer
from tests.behaviour.slack_playground.asking import (
    Json,
    actions,
    button,
    mrkdwn,
    plain,
    refusal,
    section,
    text_input,
)

pytestmark = pytest.mark.anyio

CHANNEL = "C0TRAINING"


def rich(*elements: Json) -> Json:
    """Return a rich text block."""
    return {"type": "rich_text", "elements": list(elements)}


def line(*leaves: Json) -> Json:
    """Return a line of rich text."""
    return {"type": "rich_text_section", "elements": list(leaves)}


WRONG: dict[str, tuple[list[Json], str]] = {
    "no type": ([{}], "missing required field: type [json-pointer:/blocks/0]"),
    "unknown type": ([{"type": "lamp"}], "unsupported type: lamp [json-pointer:/blocks/0/type]"),
    "unknown field": (
        [section(colour="red")],
        "invalid additional property: colour [json-pointer:/blocks/0]",
    ),
    "section of nothing": (
        [{"type": "section"}],
        "must provide at least one of: text, fields [json-pointer:/blocks/0]",
    ),
    "empty text": (
        [section("")],
        "must be more than 0 characters [json-pointer:/blocks/0/text/text]",
    ),
    "text that is no object": (
        [{"type": "section", "text": "hello"}],
        "must be an object [json-pointer:/blocks/0/text]",
    ),
    "mrkdwn header": (
        [{"type": "header", "text": mrkdwn("*hello*")}],
        "must be one of: plain_text [json-pointer:/blocks/0/text/type]",
    ),
    "input inside actions": (
        [actions({"type": "plain_text_input", "action_id": "typed"})],
        "unsupported type: plain_text_input [json-pointer:/blocks/0/elements/0/type]",
    ),
    "actions of nothing": (
        [actions()],
        "must be at least 1 items [json-pointer:/blocks/0/elements]",
    ),
    "unknown style": (
        [actions(button(style="green"))],
        "must be one of: primary, danger [json-pointer:/blocks/0/elements/0/style]",
    ),
    "flag as a word": (
        [{"type": "section", "text": {**plain("x"), "emoji": "true"}}],
        "must be a boolean [json-pointer:/blocks/0/text/emoji]",
    ),
    "the same block_id twice": (
        [section(block_id="one"), section(block_id="one")],
        '`block_id` "one" already exists [json-pointer:/blocks/1/block_id]',
    ),
    "the same action_id twice in a block": (
        [actions(button("go"), button("go"))],
        '`action_id` "go" already exists [json-pointer:/blocks/0]',
    ),
    "options and groups": (
        [
            actions(
                {
                    "type": "static_select",
                    "options": [{"text": plain("x"), "value": "x"}],
                    "option_groups": [],
                }
            )
        ],
        "must provide exactly one of: options, option_groups [json-pointer:/blocks/0/elements/0]",
    ),
    "rich text without elements": (
        [{"type": "rich_text"}],
        "missing required field: elements [json-pointer:/blocks/0]",
    ),
    "text straight in rich text": (
        [rich({"type": "text", "text": "x"})],
        "unsupported type: text [json-pointer:/blocks/0/elements/0/type]",
    ),
    "empty text in rich text": (
        [rich(line({"type": "text", "text": ""}))],
        "must be more than 0 characters [json-pointer:/blocks/0/elements/0/elements/0/text]",
    ),
    "a mention in preformatted text": (
        [
            rich(
                {
                    "type": "rich_text_preformatted",
                    "elements": [{"type": "user", "user_id": "U0ENGINEER"}],
                }
            )
        ],
        "unsupported type: user [json-pointer:/blocks/0/elements/0/elements/0/type]",
    ),
    "a list of texts": (
        [rich({"type": "rich_text_list", "style": "bullet", "elements": [{"type": "text"}]})],
        "unsupported type: text [json-pointer:/blocks/0/elements/0/elements/0/type]",
    ),
    "an address without a scheme": (
        [actions(button(url="example.com"))],
        "must be a valid url [json-pointer:/blocks/0/elements/0/url]",
    ),
    "a number for a text": (
        [actions(button(value=17))],
        "must be a string [json-pointer:/blocks/0/elements/0/value]",
    ),
    "a word for a number": (
        [text_input(max_length="3000")],
        "must be an integer [json-pointer:/blocks/0/element/max_length]",
    ),
    "a file of Slack's that is not there": (
        [{"type": "image", "alt_text": "x", "slack_file": {"id": "F0NONE0001"}}],
        "invalid slack file [json-pointer:/blocks/0/slack_file]",
    ),
    "an empty cell": (
        [{"type": "table", "rows": [[{"type": "raw_text", "text": ""}]]}],
        "must be more than 0 characters [json-pointer:/blocks/0/rows/0/0/text]",
    ),
    "a task without an id": (
        [{"type": "task_card", "title": "Back up"}],
        "missing required field: task_id [json-pointer:/blocks/0]",
    ),
    "a plan of sections": (
        [{"type": "plan", "title": "Repair", "tasks": [section()]}],
        "unsupported type: section [json-pointer:/blocks/0/tasks/0/type]",
    ),
    # docs.slack.dev/blocks.json: «available in surfaces: Modals»
    "an alert in a message": (
        [{"type": "alert", "text": plain("x")}],
        "unsupported type: alert [json-pointer:/blocks/0/type]",
    ),
    # block-elements/file-input-element: modals only
    "a file input in a message": (
        [{"type": "input", "label": plain("x"), "element": {"type": "file_input"}}],
        "unsupported type: file_input [json-pointer:/blocks/0/element/type]",
    ),
    "an image from two places": (
        [
            {
                "type": "image",
                "alt_text": "x",
                "image_url": "https://example.com/a.png",
                "slack_file": {"id": "F1"},
            }
        ],
        "must provide exactly one of: image_url, slack_file [json-pointer:/blocks/0]",
    ),
}


@pytest.mark.parametrize("case", WRONG)
async def test_a_wrong_shape_is_refused_with_where_and_why(
    client: AsyncWebClient, case: str
) -> None:
    """The first finding names the place by a JSON pointer."""
    blocks, said = WRONG[case]
    body = await refusal(client.chat_postMessage(channel=CHANNEL, text="x", blocks=blocks))
    assert body["error"] == "invalid_blocks"
    assert said in body["errors"]


RIGHT: dict[str, list[Json]] = {
    "rich text of every kind": [
        rich(
            line(
                {"type": "text", "text": "x", "style": {"bold": True, "code": True}},
                {"type": "link", "url": "https://example.com", "text": "there"},
                {"type": "user", "user_id": "U0ENGINEER"},
                {"type": "usergroup", "usergroup_id": "S0APPROVER"},
                {"type": "channel", "channel_id": CHANNEL},
                {"type": "emoji", "name": "wave"},
                {"type": "broadcast", "range": "here"},
                {"type": "date", "timestamp": 1720710212, "format": "{date_num}"},
            ),
            {"type": "rich_text_list", "style": "ordered", "elements": [line()], "indent": 1},
            {
                "type": "rich_text_preformatted",
                "elements": [{"type": "text", "text": "[c10d] …"}],
                "border": 0,
            },
            {"type": "rich_text_quote", "elements": [{"type": "text", "text": "x"}]},
        )
    ],
    "a plan with a task of each status": [
        {
            "type": "plan",
            "title": "Repair",
            "tasks": [
                {
                    "type": "task_card",
                    "task_id": status,
                    "title": "Step",
                    "status": status,
                    "output": rich(line({"type": "text", "text": "done"})),
                }
                for status in ("pending", "in_progress", "complete", "error")
            ],
        }
    ],
    "a table with a rich cell": [
        {
            "type": "table",
            "column_settings": [{"is_wrapped": True}, {"align": "right"}],
            "rows": [
                [{"type": "raw_text", "text": "Rank"}, {"type": "raw_text", "text": "VM"}],
                [{"type": "raw_text", "text": "64"}, rich(line({"type": "text", "text": "n8"}))],
            ],
        }
    ],
    "an input": [text_input()],
    "the same action_id in two blocks": [actions(button("go")), actions(button("go"))],
}


@pytest.mark.parametrize("case", RIGHT)
async def test_a_right_shape_is_taken(client: AsyncWebClient, case: str) -> None:
    """What the reference shows is taken."""
    assert (await client.chat_postMessage(channel=CHANNEL, text="x", blocks=RIGHT[case]))["ok"]


async def test_a_message_has_one_table(client: AsyncWebClient) -> None:
    """The second one is refused, under a name of its own (blocks/table-block)."""
    table = {"type": "table", "rows": [[{"type": "raw_text", "text": "x"}]]}
    body = await refusal(client.chat_postMessage(channel=CHANNEL, text="x", blocks=[table] * 2))
    assert body["error"] == "invalid_attachments"
    assert body["errors"] == ["only_one_table_allowed"]


async def test_a_picture_is_a_file_that_slack_can_show(
    client: AsyncWebClient, slack: SlackServer
) -> None:
    """A PNG that was uploaded is taken by its id or its URL, a log is not (slack-file-object)."""
    picture = slack.act_as("ada").brings("chart.png", b"\x89PNG")
    log = slack.act_as("ada").brings("job.log", b"x")
    url = f"{slack.base_url}/files-pri/T0PLAY0001-{picture.id}/chart.png"

    def image(**file: str) -> Json:
        return {"type": "image", "alt_text": "x", "slack_file": file}

    shown = [image(id=picture.id), {"type": "context", "elements": [image(url=url)]}]
    assert (await client.chat_postMessage(channel=CHANNEL, text="x", blocks=shown))["ok"]
    shown[1]["elements"] = [image(id=log.id)]
    body = await refusal(client.chat_postMessage(channel=CHANNEL, text="x", blocks=shown))
    pointer = "/blocks/1/elements/0/slack_file"
    assert body["errors"] == [f"invalid slack file [json-pointer:{pointer}]"]


async def test_what_the_sdk_builds_is_taken(client: AsyncWebClient) -> None:
    """The workspace adds no rule of its own to what Slack's own models write."""
    choices = [Option(value="1", text="One"), Option(value="2", text="Two")]
    blocks = [
        HeaderBlock(text="Rank 64"),
        SectionBlock(text=MarkdownTextObject(text="*VM*"), fields=["a", "b"]),
        ContextBlock(elements=[MarkdownTextObject(text="read 10 s ago")]),
        DividerBlock(),
        ActionsBlock(
            elements=[
                ButtonElement(
                    text="Restart",
                    action_id="restart",
                    value="17",
                    style="danger",
                    confirm=ConfirmObject(title="Sure?", text="It restarts.", confirm="Yes"),
                ),
                StaticSelectElement(action_id="vm", placeholder="VM", options=choices),
                OverflowMenuElement(action_id="more", options=choices),
            ]
        ),
    ]
    answer = await client.chat_postMessage(channel=CHANNEL, text="x", blocks=blocks)
    posted = answer["message"]["blocks"]
    assert [one["type"] for one in posted] == [
        "header",
        "section",
        "context",
        "divider",
        "actions",
    ]
    assert all(one["block_id"] for one in posted)
