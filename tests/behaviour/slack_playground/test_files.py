"""Prove how files come and go.

Errors: the pages of docs.slack.dev/reference/methods that are named beside them; private URLs:
docs.slack.dev/reference/objects/file-object.
"""

from __future__ import annotations

import json

import aiohttp
import pytest
from slack_sdk.web.async_client import AsyncWebClient

from playground.slack.server import SlackServer
from tests.behaviour.slack_playground.asking import Json, bot_client, error

pytestmark = pytest.mark.anyio

CHANNEL = "C0TRAINING"


async def fetched(url: str, token: str = "") -> tuple[int, str, bytes]:
    """Get a file; return status, content type and bytes of what came in the end."""
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    async with aiohttp.ClientSession() as session, session.get(url, headers=headers) as answer:
        return answer.status, answer.content_type, await answer.read()


async def test_a_file_goes_up_in_three_steps_and_comes_down_with_the_token(
    client: AsyncWebClient, slack: SlackServer
) -> None:
    """The SDK's upload lands in the thread; its bytes are for tokens that may read files."""
    parent = await client.chat_postMessage(channel=CHANNEL, text="report")
    data = b"[rank64]: gai error: -3\n" * 1000
    sent = await client.files_upload_v2(
        channel=CHANNEL, thread_ts=parent["ts"], filename="probe.log", content=data.decode(),
        initial_comment="evidence",
    )  # fmt: skip
    reply = (await client.conversations_replies(channel=CHANNEL, ts=parent["ts"]))["messages"][1]
    assert reply["text"] == "evidence"
    file = reply["files"][0]
    assert (file["size"], file["mimetype"]) == (len(data), "text/plain")
    assert await fetched(file["url_private"], slack.bot_token) == (200, "text/plain", data)
    assert await fetched(file["url_private_download"], slack.bot_token) == (
        200,
        "text/plain",
        data,
    )
    # Where a file is shown is filled in after the upload's own answer.
    assert sent["file"]["shares"] == {}
    info = await client.files_info(file=file["id"])
    share = info["file"]["shares"]["public"][CHANNEL][0]
    assert (share["ts"], share["thread_ts"]) == (reply["ts"], parent["ts"])


async def test_without_the_right_token_a_download_is_a_login_page(
    client: AsyncWebClient, slack: SlackServer
) -> None:
    """Status 200 and HTML: whoever does not look takes the page for the file."""
    ada = slack.act_as("ada")
    posted = ada.shares(CHANNEL, "job.log", b"log")
    url = (await client.files_info(file=posted.files[0]))["file"]["url_private"]
    for token in ("", "xoxb-wrong", slack.app_token):
        status, kind, body = await fetched(url, token)
        assert (status, kind) == (200, "text/html")
        assert b"log" not in body
    slack.narrow("files:read")
    assert (await fetched(url, slack.bot_token))[1] == "text/html"


async def test_a_download_can_lead_elsewhere(slack: SlackServer) -> None:
    """An app can be shown an address that is not Slack's, to see that its token stays home."""
    posted = slack.act_as("ada").shares(CHANNEL, "job.log", b"log")
    info = (await bot_client(slack).files_info(file=posted.files[0]))["file"]
    slack.web.leads_to = "http://127.0.0.1:1/elsewhere"
    headers = {"Authorization": f"Bearer {slack.bot_token}"}
    async with (
        aiohttp.ClientSession() as session,
        session.get(info["url_private"], headers=headers, allow_redirects=False) as answer,
    ):
        assert answer.status == 302
        assert answer.headers["Location"] == slack.web.leads_to


async def test_sizes_at_and_over_their_limits(client: AsyncWebClient) -> None:
    """Empty files, fat snippets and long descriptions are refused before anything is sent."""
    ask = client.files_getUploadURLExternal
    snippet = {"filename": "a.py", "snippet_type": "python"}
    assert (await ask(length=1_000_000, **snippet))["ok"]
    assert (await ask(filename="a.png", length=1, alt_txt="x" * 1000))["ok"]
    # files.getUploadURLExternal
    assert await error(ask(filename="a.log", length=0)) == "missing_argument"
    assert await error(ask(length=1_000_001, **snippet)) == "snippet_too_large"
    long = ask(filename="a.png", length=1, alt_txt="x" * 1001)
    assert await error(long) == "alt_txt_too_large"


async def test_an_upload_is_completed_once_and_after_its_bytes(client: AsyncWebClient) -> None:
    """Without bytes, with the wrong number of them, or a second time there is no file."""
    asked = await client.files_getUploadURLExternal(filename="a.log", length=3)
    file: Json = {"id": asked["file_id"], "title": "a"}
    # files.completeUploadExternal
    assert await error(client.files_completeUploadExternal(files=[file])) == "file_not_found"
    async with aiohttp.ClientSession() as session:
        async with session.post(f"{asked['upload_url']}x", data=b"abc") as answer:
            assert answer.status == 404
        async with session.post(asked["upload_url"], data=b"toolong") as answer:
            assert answer.status == 400
        form = aiohttp.FormData()
        form.add_field("filename", b"abc", filename="a.log")
        async with session.post(asked["upload_url"], data=form) as answer:
            assert await answer.text() == "OK - 3"
    assert (await client.files_completeUploadExternal(files=[file]))["ok"]
    assert await error(client.files_completeUploadExternal(files=[file])) == "file_not_found"
    assert await error(client.files_info(file="F0NONE0001")) == "file_not_found"  # files.info


async def test_places_where_a_file_cannot_go(client: AsyncWebClient) -> None:
    """They are refused when the upload is completed, not before."""
    # files.completeUploadExternal
    places = {
        "C0NOWHERE1": "channel_not_found",
        "C0GENERAL1": "not_in_channel",
        "C0ARCHIVED": "posting_to_channel_denied",
    }
    for channel, name in places.items():
        sent = client.files_upload_v2(channel=channel, filename="a.log", content="x")
        assert await error(sent) == name


async def test_a_file_of_another_channel_is_not_visible(
    client: AsyncWebClient, slack: SlackServer
) -> None:
    """What was shared where the bot is not is refused; what was deleted says so."""
    hidden = slack.act_as("grace").shares("secret", "a.log", b"x")
    # files.info
    assert await error(client.files_info(file=hidden.files[0])) == "not_visible"
    shared = slack.act_as("ada").shares(CHANNEL, "b.log", b"x")
    slack.world.files[shared.files[0]].deleted = True
    assert await error(client.files_info(file=shared.files[0])) == "file_deleted"


async def test_a_file_of_forty_megabytes(slack: SlackServer) -> None:
    """Large files come down as they went up."""
    data = bytes(40 * 2**20)
    posted = slack.act_as("ada").shares(CHANNEL, "big.log", data)
    client = bot_client(slack)
    info = (await client.files_info(file=posted.files[0]))["file"]
    assert info["size"] == len(data)
    _, _, body = await fetched(info["url_private_download"], slack.bot_token)
    assert body == data


async def test_metadata_of_uploads_is_json(client: AsyncWebClient) -> None:
    """`files` that is no list of objects is refused."""
    wrong = client.api_call("files.completeUploadExternal", data={"files": json.dumps("F1")})
    assert await error(wrong) == "invalid_arguments"  # files.completeUploadExternal
