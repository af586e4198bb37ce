"""Prove what people can do at Slack's client, and what it does not let them do."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from playground.slack import clicking, modal
from playground.slack.acting import Acting
from playground.slack.app import AppConfig
from playground.slack.clicking import Press
from playground.slack.composing import composed
from playground.slack.errors import PlayError
from playground.slack.kit.values import MISSING
from playground.slack.model import View
from playground.slack.server import SlackServer, running
from tests.behaviour.slack_playground.apps import listening
from tests.behaviour.slack_playground.asking import (
    Json,
    actions,
    bot_client,
    button,
    modal_view,
    plain,
    text_input,
    until,
)

pytestmark = pytest.mark.anyio

CHANNEL = "C0TRAINING"
FILE_INPUT: Json = {
    "type": "input",
    "block_id": "file",
    "label": plain("File"),
    "element": {
        "type": "file_input",
        "action_id": "log",
        "filetypes": ["log", "txt"],
        "max_files": 2,
    },
}


async def shown(slack: SlackServer, *blocks: Json) -> View:
    """Open a modal of these blocks for ada."""
    trigger = slack.world.new_trigger("U0ENGINEER")
    answer = await bot_client(slack).views_open(trigger_id=trigger, view=modal_view(*blocks))
    return slack.world.views[str(answer["view"]["id"])]


#: typed → what apps get; docs.slack.dev/messaging/formatting-message-text
COMPOSED = {
    "a < b && c > d": "a &lt; b &amp;&amp; c &gt; d",
    "@nccl-dns check 48213": "<@U0PLAYBOT1> check 48213",
    "@approvers please": "<!subteam^S0APPROVER|@approvers> please",
    "@here and @nobody": "<!here> and @nobody",
    "see #general": "see <#C0GENERAL1|general>",
    "https://example.com/a?b=1&c=2": "<https://example.com/a?b=1&amp;c=2>",
    "node-3.cluster.example.com:29500 down": (
        "<http://node-3.cluster.example.com:29500|node-3.cluster.example.com:29500> down"
    ),
    "mail ada@example.com": "mail <mailto:ada@example.com|ada@example.com>",
    "```@here <x> node-3.example.com```": (
        "```@here &lt;x&gt; <http://node-3.example.com|node-3.example.com>```"
    ),
    "[c10d] node-3.internal:29500": "[c10d] node-3.internal:29500",
}


@pytest.mark.parametrize("typed", COMPOSED)
async def test_what_is_typed_reaches_apps_marked_up(slack: SlackServer, typed: str) -> None:
    """A pasted log comes with entities, and with links where Slack sees an address."""
    assert composed(slack.world, typed) == COMPOSED[typed]
    assert slack.act_as("ada").says(CHANNEL, typed).text == COMPOSED[typed]


async def test_a_fence_becomes_preformatted_text(slack: SlackServer) -> None:
    """The composer's rich text keeps what was typed, fences as blocks of their own."""
    message = slack.act_as("ada").says(CHANNEL, "see\n```\ngai <x>\n```\nplease")
    kinds = [one["type"] for one in message.blocks[0]["elements"]]
    assert kinds == ["rich_text_section", "rich_text_preformatted", "rich_text_section"]
    assert message.blocks[0]["elements"][1]["elements"][0]["text"] == "gai <x>"


#: who, and what they try
FORBIDDEN: dict[str, tuple[str, Callable[[Acting], object]]] = {
    "writing where one is no member": ("guest", lambda who: who.says("general", "x")),
    "writing in an archived channel": ("ada", lambda who: who.says("old-incidents", "x")),
    "writing where only admins may": ("ada", lambda who: who.says("announcements", "x")),
    "writing nothing": ("ada", lambda who: who.says(CHANNEL, " \n")),
    "writing too much": ("ada", lambda who: who.says(CHANNEL, "x" * 12_001)),
    "replying to nothing": ("ada", lambda who: who.says(CHANNEL, "x", thread_ts="1.000001")),
    "reacting to nothing": ("ada", lambda who: who.reacts(CHANNEL, "1.000001", "eyes")),
}


@pytest.mark.parametrize("case", FORBIDDEN)
async def test_what_the_client_does_not_allow(slack: SlackServer, case: str) -> None:
    """It is refused with a sentence, and nothing is posted."""
    name, act = FORBIDDEN[case]
    with pytest.raises(PlayError):
        act(slack.act_as(name))
    assert not any(channel.messages for channel in slack.world.channels.values())


async def test_admins_write_where_others_may_not(slack: SlackServer) -> None:
    """A channel's preference holds for those it names."""
    assert slack.act_as("grace").says("announcements", "x").ts


async def test_commands_that_slack_does_not_send(slack: SlackServer) -> None:
    """Threads, unknown commands and people of other workspaces have none."""
    ada = slack.act_as("ada")
    parent = ada.says(CHANNEL, "x")
    with pytest.raises(PlayError, match="not supported in threads"):
        await ada.commands(CHANNEL, "/nccl-dns", thread_ts=parent.ts)
    with pytest.raises(PlayError, match="not a valid command"):
        await ada.commands(CHANNEL, "/remind me")
    with pytest.raises(PlayError, match="not a valid command"):
        await slack.act_as("stranger").commands("shared-with-vendor", "/nccl-dns")
    with pytest.raises(PlayError, match="no global shortcut"):
        await ada.takes_shortcut("diagnose_log")


async def test_a_strangers_click_says_where_they_are_from(slack: SlackServer) -> None:
    """In a shared channel anybody can press; team and user name the other workspace."""
    card = [actions(button())]
    posted = await bot_client(slack).chat_postMessage(channel="C0SHARED01", text="x", blocks=card)
    async with listening(slack) as app:
        stranger = slack.act_as("stranger")
        press = Press(action_id="go")
        await clicking.in_message(stranger, "shared-with-vendor", str(posted["ts"]), press)
        stranger.says("shared-with-vendor", "@nccl-dns hello")
        await until(lambda: app.events("app_mention"))
    click = app.got[0].payload
    assert click["team"]["id"] == click["user"]["team_id"] == "T0ELSEWHER"
    mention = app.events("app_mention")[0].payload
    assert mention["is_ext_shared_channel"]
    assert (mention["team_id"], mention["event"]["team"]) == ("T0PLAY0001", "T0ELSEWHER")


#: a field with its rule → what is refused with which sentence, what is taken
FIELDS: dict[str, tuple[Json, str, str, str]] = {
    "required": (text_input(), "", MISSING, "x"),
    "at least": (
        text_input(min_length=3),
        "ab",
        "This field must have at least 3 characters.",
        "abc",
    ),
    "at most": (
        text_input(max_length=3),
        "abcd",
        "This field must have no more than 3 characters.",
        "abc",
    ),
    "3,000 at most": (
        text_input(),
        "x" * 3001,
        "This field must have no more than 3000 characters.",
        "x" * 3000,
    ),
    "email": (
        text_input(type="email_text_input"),
        "ada",
        "Please enter a valid email address.",
        "ada@example.com",
    ),
    "url": (
        text_input(type="url_text_input"),
        "example.com",
        "Please enter a valid URL.",
        "https://example.com",
    ),
    "whole number": (
        text_input(type="number_input", is_decimal_allowed=False),
        "1.5",
        "Please enter a whole number.",
        "48213",
    ),
    "number in a range": (
        text_input(type="number_input", is_decimal_allowed=True, min_value="1.5", max_value="3"),
        "1.4",
        "Please enter a number of at least 1.5.",
        "3",
    ),
}


@pytest.mark.parametrize("case", FIELDS)
async def test_the_client_checks_fields_before_anything_is_sent(
    slack: SlackServer, case: str
) -> None:
    """The app hears of a submission only when every field is as its element asks."""
    block, wrong, sentence, right = FIELDS[case]
    view = await shown(slack, block)
    ada = slack.act_as("ada")
    async with listening(slack) as app:
        outcome = await modal.submit(ada, view, {"log": {"typed": wrong}})
        assert outcome.failed == "not_sent"
        assert view.errors == {"log": sentence}
        await modal.submit(ada, view, {"log": {"typed": right}})
    (got,) = app.got
    assert got.payload["view"]["state"]["values"]["log"]["typed"]["value"] == right


async def test_an_optional_field_may_stay_empty(slack: SlackServer) -> None:
    """An empty optional field arrives as null."""
    view = await shown(slack, {**text_input(), "optional": True})
    async with listening(slack) as app:
        await modal.submit(slack.act_as("ada"), view, {})
    values = app.got[0].payload["view"]["state"]["values"]
    assert values["log"]["typed"] == {"type": "plain_text_input", "value": None}


async def test_files_in_a_modal(slack: SlackServer) -> None:
    """Type, size and number are checked; what is sent can be read by the app."""
    view = await shown(slack, FILE_INPUT)
    ada = slack.act_as("ada")
    log = ada.brings("job.log", bytes(10_000_000))
    wrong = (
        [ada.brings("job.png", b"x").id],
        [ada.brings("big.log", bytes(10_000_001)).id],
        [slack.act_as("grace").brings("hers.log", b"x").id],
        [ada.brings(f"{n}.log", b"x").id for n in range(3)],
    )
    for ids in wrong:
        with pytest.raises(PlayError):
            modal.fill(ada, view, {"file": {"log": ids}})
    async with listening(slack) as app:
        await modal.submit(ada, view, {"file": {"log": [log.id]}})
    (sent,) = app.got[0].payload["view"]["state"]["values"]["file"]["log"]["files"]
    info = await bot_client(slack).files_info(file=sent["id"])
    assert info["file"]["size"] == 10_000_000


async def test_inputs_tell_the_app_at_once_only_if_asked_to(slack: SlackServer) -> None:
    """`dispatch_action` sends what was typed; without it the app waits for the submission."""
    loud = {**text_input("loud"), "dispatch_action": True}
    view = await shown(slack, text_input("quiet"), loud)
    ada = slack.act_as("ada")
    async with listening(slack) as app:
        for name in ("quiet", "loud"):
            press = Press(action_id="typed", block_id=name, value=f"{name} words")
            await clicking.in_view(ada, view, press)
    (got,) = app.got
    assert got.payload["actions"][0]["value"] == "loud words"
    values = got.payload["view"]["state"]["values"]
    assert values["quiet"]["typed"]["value"] == "quiet words"


async def test_inviting_the_bot(slack: SlackServer) -> None:
    """An invitation makes the bot a member, and what is said there reaches it from then on."""
    async with listening(slack) as app:
        ada = slack.act_as("ada")
        ada.says("general", "@nccl-dns before")
        ada.invites_bot("general")
        ada.says("general", "@nccl-dns after")
        await until(lambda: app.got)
    assert [one.payload["event"]["text"] for one in app.got] == ["<@U0PLAYBOT1> after"]


async def test_the_app_is_what_its_manifest_says() -> None:
    """Scopes, events, commands, shortcuts and features are read from a manifest."""
    manifest = {
        "display_information": {"name": "watcher"},
        "features": {
            "bot_user": {"display_name": "watcher-bot"},
            "app_home": {"home_tab_enabled": False, "messages_tab_enabled": True},
            "slash_commands": [{"command": "/watch", "description": "look"}],
            "shortcuts": [{"name": "Look", "type": "global", "callback_id": "look"}],
        },
        "oauth_config": {"scopes": {"bot": ["chat:write"]}},
        "settings": {
            "event_subscriptions": {"bot_events": ["app_mention"]},
            "interactivity": {"is_enabled": False},
            "socket_mode_enabled": True,
        },
    }
    app = AppConfig.from_manifest(manifest)
    assert app.shortcuts == (("look", "global"),)
    async with running(app=app) as slack:
        answer = await bot_client(slack).auth_test()
        assert answer["user"] == "watcher-bot"
        assert answer.headers["X-OAuth-Scopes"] == "chat:write"
        ada = slack.act_as("ada")
        with pytest.raises(PlayError, match="no Home tab"):
            ada.opens_home()
        # Without `commands` among the scopes there is no command.
        with pytest.raises(PlayError, match="not a valid command"):
            await ada.commands(CHANNEL, "/watch")
        outcome = await ada.takes_shortcut("look")
        assert outcome.failed == "interactivity_disabled"
