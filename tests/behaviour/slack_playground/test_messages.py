"""Prove what may be posted where, and what each refusal is called.

Every error names the page of docs.slack.dev/reference/methods that lists it.
"""

from __future__ import annotations

import json
from typing import Any

import aiohttp
import pytest
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from playground.slack.server import SlackServer
from playground.slack.web import Outage
from tests.behaviour.slack_playground.asking import error, refusal, section

pytestmark = pytest.mark.anyio

CHANNEL = "C0TRAINING"

#: where → error of chat.postMessage
REFUSED_PLACES = {
    "C0NOWHERE1": "channel_not_found",  # chat.postMessage
    "C0SECRET01": "channel_not_found",  # chat.postMessage: private, and the bot is not in it
    "C0GENERAL1": "not_in_channel",  # chat.postMessage
    "C0ARCHIVED": "is_archived",  # chat.postMessage
    "C0ANNOUNCE": "restricted_action",  # chat.postMessage
}


@pytest.mark.parametrize("channel", REFUSED_PLACES)
async def test_a_place_that_the_bot_may_not_post_to(client: AsyncWebClient, channel: str) -> None:
    """Each reason has its own error, as an operator needs it to know what to do."""
    refused = await error(client.chat_postMessage(channel=channel, text="x"))
    assert refused == REFUSED_PLACES[channel]


async def test_places_that_the_bot_may_post_to(client: AsyncWebClient) -> None:
    """A channel goes by id or name, a person by id; direct messages open by themselves."""
    for channel in (CHANNEL, "#training-oncall", "training-oncall", "C0PRIVATE1"):
        assert (await client.chat_postMessage(channel=channel, text="x"))["ok"]
    posted = await client.chat_postMessage(channel="U0ENGINEER", text="x")
    assert str(posted["channel"]).startswith("D")


async def test_a_public_channel_is_open_to_those_with_the_scope(
    client: AsyncWebClient, slack: SlackServer
) -> None:
    """`chat:write.public` lets a bot post where it is no member (scopes/chat.write.public)."""
    slack.world.tokens[slack.bot_token].scopes |= {"chat:write.public"}
    assert (await client.chat_postMessage(channel="C0GENERAL1", text="x"))["ok"]


async def test_a_message_needs_something_to_say(client: AsyncWebClient) -> None:
    """Neither text nor blocks is refused; blocks alone are enough."""
    # The SDK's own methods warn of a missing text before they send.
    empty = {"channel": CHANNEL, "text": ""}
    assert await error(client.api_call("chat.postMessage", json=empty)) == "no_text"
    full = {"channel": CHANNEL, "blocks": [section()]}
    assert (await client.api_call("chat.postMessage", json=full))["ok"]


async def test_a_text_of_4000_characters_fits_and_one_more_does_not(
    client: AsyncWebClient,
) -> None:
    """The limit holds for new messages and for changed ones."""
    posted = await client.chat_postMessage(channel=CHANNEL, text="x" * 4000)
    # chat.update
    over = "x" * 4001
    assert await error(client.chat_postMessage(channel=CHANNEL, text=over)) == "msg_too_long"
    changed = client.chat_update(channel=CHANNEL, ts=posted["ts"], text=over)
    assert await error(changed) == "msg_too_long"


async def test_blocks_that_are_no_list(client: AsyncWebClient) -> None:
    """What is not a JSON array of objects is told from blocks that are wrong."""
    for wrong in ("{", '{"type": "section"}', '["section"]'):
        refused = client.api_call(
            "chat.postMessage", data={"channel": CHANNEL, "text": "x", "blocks": wrong}
        )
        assert await error(refused) == "invalid_blocks_format"  # chat.postMessage


async def test_markdown_text_stands_alone(client: AsyncWebClient) -> None:
    """`markdown_text` cannot go with text or blocks, and holds 12,000 characters."""
    call = client.chat_postMessage
    # chat.postMessage
    refused = await error(call(channel=CHANNEL, text="x", markdown_text="y"))
    assert refused == "markdown_text_conflict"
    assert (await call(channel=CHANNEL, markdown_text="x" * 12_000))["ok"]
    assert await error(call(channel=CHANNEL, markdown_text="x" * 12_001)) == "msg_too_long"


async def test_metadata_comes_back_only_when_asked_for(
    client: AsyncWebClient, slack: SlackServer
) -> None:
    """Whoever looks for its own message finds it by the metadata it was posted with."""
    about = {"event_type": "incident", "event_payload": {"row": 17}}
    posted = await client.chat_postMessage(channel=CHANNEL, text="x", metadata=about)
    with_it = await client.conversations_history(channel=CHANNEL, include_all_metadata=True)
    assert with_it["messages"][0]["metadata"] == about
    without = await client.conversations_history(channel=CHANNEL)
    assert "metadata" not in without["messages"][0]
    await client.chat_update(channel=CHANNEL, ts=posted["ts"], text="y")
    assert slack.channel(CHANNEL).messages[str(posted["ts"])].metadata == about


async def test_metadata_of_a_wrong_form(client: AsyncWebClient) -> None:
    """Format, schema and size each have their error."""
    wrong = {
        "{": "invalid_metadata_format",  # chat.postMessage
        json.dumps({"event_type": "x"}): "invalid_metadata_schema",  # chat.postMessage
        json.dumps(
            {"event_type": "x", "event_payload": {"a": "b" * 16_000}}
        ): "metadata_too_large",  # chat.postMessage
    }
    for metadata, name in wrong.items():
        asked = {"channel": CHANNEL, "text": "x", "metadata": metadata}
        assert await error(client.api_call("chat.postMessage", data=asked)) == name


async def test_attachments(client: AsyncWebClient) -> None:
    """A hundred are the most, and their blocks are judged, too."""
    one = {"fallback": "x", "text": "x"}
    call = client.chat_postMessage
    assert (await call(channel=CHANNEL, text="x", attachments=[one] * 100))["ok"]
    # chat.postMessage
    refused = await error(call(channel=CHANNEL, text="x", attachments=[one] * 101))
    assert refused == "too_many_attachments"
    wrong = {"fallback": "x", "blocks": [{"type": "lamp"}]}
    body = await refusal(call(channel=CHANNEL, text="x", attachments=[wrong]))
    assert body["error"] == "invalid_attachments"
    pointer = "/attachments/0/blocks/0/type"
    assert body["errors"] == [f"unsupported type: lamp [json-pointer:{pointer}]"]


async def test_a_thread(client: AsyncWebClient) -> None:
    """Replies hang at their parent, whichever message of the thread is named."""
    parent = await client.chat_postMessage(channel=CHANNEL, text="parent")
    first = await client.chat_postMessage(channel=CHANNEL, text="1", thread_ts=parent["ts"])
    await client.chat_postMessage(channel=CHANNEL, text="2", thread_ts=first["ts"])
    thread = await client.conversations_replies(channel=CHANNEL, ts=parent["ts"])
    assert [one["text"] for one in thread["messages"]] == ["parent", "1", "2"]
    assert thread["messages"][0]["reply_count"] == 2
    history = await client.conversations_history(channel=CHANNEL)
    assert [one["text"] for one in history["messages"]] == ["parent"]
    link = await client.chat_getPermalink(channel=CHANNEL, message_ts=first["ts"])
    assert f"thread_ts={parent['ts']}" in link["permalink"]


async def test_a_thread_that_is_not_there(client: AsyncWebClient) -> None:
    """A reply to nothing is refused, and so is reading it."""
    nowhere = "1700000000.000001"
    posted = client.chat_postMessage(channel=CHANNEL, text="x", thread_ts=nowhere)
    assert await error(posted) == "thread_not_found"
    # conversations.replies
    read = client.conversations_replies(channel=CHANNEL, ts=nowhere)
    assert await error(read) == "thread_not_found"


async def test_a_reply_that_the_channel_sees(client: AsyncWebClient) -> None:
    """`reply_broadcast` shows a reply in the channel's history, too."""
    parent = await client.chat_postMessage(channel=CHANNEL, text="parent")
    await client.chat_postMessage(
        channel=CHANNEL, text="news", thread_ts=parent["ts"], reply_broadcast=True
    )
    history = await client.conversations_history(channel=CHANNEL)
    assert [one["text"] for one in history["messages"]] == ["news", "parent"]


async def test_a_changed_message_says_so_and_loses_what_was_not_given(
    client: AsyncWebClient,
) -> None:
    """An update is the whole new content: blocks that are not sent again are gone."""
    posted = await client.chat_postMessage(channel=CHANNEL, text="x", blocks=[section()])
    await client.chat_update(channel=CHANNEL, ts=posted["ts"], text="y")
    message = (await client.conversations_history(channel=CHANNEL))["messages"][0]
    assert message["text"] == "y"
    assert message["edited"]["user"] == message["user"]
    assert "blocks" not in message


async def test_only_its_own_messages_are_changed_and_taken_away(
    client: AsyncWebClient, slack: SlackServer
) -> None:
    """Another's message, a message that is gone and an archived channel are told apart."""
    theirs = slack.act_as("ada").says(CHANNEL, "mine")
    update, delete = client.chat_update, client.chat_delete
    refused = await error(update(channel=CHANNEL, ts=theirs.ts, text="x"))
    assert refused == "cant_update_message"  # chat.update
    # chat.delete
    assert await error(delete(channel=CHANNEL, ts=theirs.ts)) == "cant_delete_message"
    own = await client.chat_postMessage(channel=CHANNEL, text="x")
    slack.channel(CHANNEL).archived = True
    refused = await error(update(channel=CHANNEL, ts=own["ts"], text="y"))
    assert refused == "is_inactive"  # chat.update
    await delete(channel=CHANNEL, ts=own["ts"])
    # chat.update, chat.delete
    slack.channel(CHANNEL).archived = False
    refused = await error(update(channel=CHANNEL, ts=own["ts"], text="y"))
    assert refused == "message_not_found"
    assert await error(delete(channel=CHANNEL, ts=own["ts"])) == "message_not_found"


async def test_an_ephemeral_message_is_for_one_member(
    client: AsyncWebClient, slack: SlackServer
) -> None:
    """It is in no history, cannot be changed, and needs its reader in the channel."""
    post = client.chat_postEphemeral
    sent = await post(channel=CHANNEL, user="U0ENGINEER", text="psst")
    assert [one.text for one in slack.channel(CHANNEL).ephemeral] == ["psst"]
    assert (await client.conversations_history(channel=CHANNEL))["messages"] == []
    changed = client.chat_update(channel=CHANNEL, ts=sent["message_ts"], text="x")
    assert await error(changed) == "message_not_found"  # chat.update
    # chat.postEphemeral
    refused = await error(post(channel=CHANNEL, user="U0STRANGER", text="psst"))
    assert refused == "user_not_in_channel"


async def test_reactions(client: AsyncWebClient) -> None:
    """A second time, a wrong name and a missing message are each refused."""
    posted = await client.chat_postMessage(channel=CHANNEL, text="x")
    about = {"channel": CHANNEL, "timestamp": posted["ts"]}
    await client.reactions_add(name="eyes", **about)
    # reactions.add
    assert await error(client.reactions_add(name="eyes", **about)) == "already_reacted"
    assert await error(client.reactions_add(name="no such!", **about)) == "invalid_name"
    wrong = client.reactions_add(name="eyes", channel=CHANNEL, timestamp="1.000001")
    assert await error(wrong) == "message_not_found"
    wrong = client.reactions_add(name="eyes", channel=CHANNEL, timestamp="yesterday")
    assert await error(wrong) == "bad_timestamp"


async def test_history_by_time_and_by_page(client: AsyncWebClient) -> None:
    """`oldest` leaves itself out unless `inclusive`; a cursor leads to the next page."""
    stamps = [(await client.chat_postMessage(channel=CHANNEL, text=str(n)))["ts"] for n in range(5)]

    async def texts(**asked: Any) -> list[str]:  # noqa: ANN401 # arguments of the SDK's
        answer = await client.conversations_history(channel=CHANNEL, **asked)
        return [one["text"] for one in answer["messages"]]

    assert await texts(oldest=stamps[3]) == ["4"]
    assert await texts(oldest=stamps[3], inclusive=True) == ["4", "3"]
    assert await texts(latest=stamps[1]) == ["0"]
    page = await client.conversations_history(channel=CHANNEL, limit=2)
    assert page["has_more"]
    cursor = page["response_metadata"]["next_cursor"]
    assert await texts(limit=2, cursor=cursor) == ["2", "1"]
    # conversations.history
    refused = await error(client.conversations_history(channel=CHANNEL, cursor="nonsense"))
    assert refused == "invalid_cursor"
    refused = await error(client.conversations_history(channel=CHANNEL, oldest="soon"))
    assert refused == "invalid_ts_oldest"


async def test_a_body_has_a_type_that_slack_reads(slack: SlackServer) -> None:
    """Forms and JSON are read; broken JSON, no object and other types have their errors."""
    url, head = f"{slack.api_url}auth.test", {"Authorization": f"Bearer {slack.bot_token}"}
    json_type = {**head, "Content-Type": "application/json"}
    wrong = (
        (b"{", json_type, "invalid_json"),  # auth.test
        (b"[]", json_type, "json_not_object"),  # auth.test
        (b"x", {**head, "Content-Type": "text/plain"}, "invalid_post_type"),  # auth.test
    )
    async with aiohttp.ClientSession() as session:
        for data, headers, name in wrong:
            async with session.post(url, data=data, headers=headers) as answer:
                assert answer.status == 200
                assert (await answer.json())["error"] == name


async def test_json_is_not_read_where_the_page_names_forms_alone(slack: SlackServer) -> None:
    """`users.info` takes a form; a member of a JSON body is as if it were not there."""
    head = {"Authorization": f"Bearer {slack.bot_token}"}
    asked, url = {"user": "U0ENGINEER"}, f"{slack.api_url}users.info"
    async with aiohttp.ClientSession(headers=head) as session:
        async with session.post(url, json=asked) as answer:
            assert (await answer.json())["error"] == "invalid_arguments"  # users.info
        async with session.post(url, data=asked) as answer:
            assert (await answer.json())["ok"]


async def test_slack_can_be_away(client: AsyncWebClient, slack: SlackServer) -> None:
    """An outage is status 503 without JSON, or no answer at all, and then it is over."""
    await slack.go_away(Outage.REFUSE)
    with pytest.raises(SlackApiError) as refused:
        await client.auth_test()
    assert refused.value.response.status_code == 503
    await slack.go_away(Outage.DROP)
    with pytest.raises(aiohttp.ClientError):
        await client.auth_test()
    await slack.come_back()
    assert (await client.auth_test())["ok"]


async def test_a_method_that_there_is_not(client: AsyncWebClient) -> None:
    """It has its own error, and a missing argument is named."""
    assert await error(client.api_call("chat.shout")) == "unknown_method"  # every page
    body = await refusal(client.api_call("chat.postMessage", data={"text": "x"}))
    assert body["error"] == "invalid_arguments"  # chat.postMessage
    assert body["errors"] == ["missing required field: channel"]
