"""Prove that a token is asked for, and opens what its scopes say and no more.

The errors are on the page of every method, under docs.slack.dev/reference/methods.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import aiohttp
import pytest
from slack_sdk.web.async_client import AsyncWebClient

from playground.slack.server import SlackServer
from tests.behaviour.slack_playground.asking import bot_client, error, refusal

pytestmark = pytest.mark.anyio

CHANNEL = "C0TRAINING"


async def test_who_the_token_belongs_to(client: AsyncWebClient, slack: SlackServer) -> None:
    """`auth.test` names team and bot, and a header tells the token's scopes."""
    answer = await client.auth_test()
    assert answer["user_id"] == slack.world.bot.id
    assert "chat:write" in answer.headers["X-OAuth-Scopes"].split(",")


async def test_tokens_that_open_nothing(slack: SlackServer) -> None:
    """None, a wrong one, a revoked one and a removed app's are told apart."""
    anonymous = AsyncWebClient(base_url=slack.api_url, retry_handlers=[])
    assert await error(anonymous.auth_test()) == "not_authed"
    assert await error(bot_client(slack, "xoxb-wrong").auth_test()) == "invalid_auth"
    slack.world.tokens[slack.bot_token].inactive = True
    assert await error(bot_client(slack).auth_test()) == "account_inactive"
    slack.revoke()
    assert await error(bot_client(slack).auth_test()) == "token_revoked"


async def test_a_token_in_the_address_is_none(slack: SlackServer) -> None:
    """Slack takes no token from a query (docs.slack.dev/authentication/tokens)."""
    url = f"{slack.api_url}auth.test?token={slack.bot_token}"
    async with aiohttp.ClientSession() as session:
        async with session.get(url) as answer:
            assert (await answer.json())["error"] == "not_authed"
        async with session.post(
            f"{slack.api_url}auth.test", data={"token": slack.bot_token}
        ) as answer:
            assert (await answer.json())["ok"]


async def test_each_kind_of_token_has_its_methods(slack: SlackServer) -> None:
    """A bot's token opens no socket, an app's token posts nothing."""
    bot, app = bot_client(slack), bot_client(slack, slack.app_token)
    posted = app.chat_postMessage(channel=CHANNEL, text="x")
    assert await error(posted) == "not_allowed_token_type"
    opened = bot.apps_connections_open(app_token=slack.bot_token)
    assert await error(opened) == "not_allowed_token_type"
    answer = await app.apps_connections_open(app_token=slack.app_token)
    assert str(answer["url"]).startswith("ws://127.0.0.1:")


Ask = Callable[[AsyncWebClient], Awaitable[Any]]

#: the scope taken away → a call that then fails; the page of each method names its scope
WANTED: dict[str, Ask] = {
    "chat:write": lambda c: c.chat_postMessage(channel=CHANNEL, text="x"),
    "channels:history": lambda c: c.conversations_history(channel=CHANNEL),
    "groups:history": lambda c: c.conversations_history(channel="C0PRIVATE1"),
    "channels:read": lambda c: c.conversations_info(channel=CHANNEL),
    "groups:read": lambda c: c.conversations_members(channel="C0PRIVATE1"),
    "channels:join": lambda c: c.conversations_join(channel=CHANNEL),
    "im:write": lambda c: c.conversations_open(users="U0ENGINEER"),
    "users:read": lambda c: c.users_info(user="U0ENGINEER"),
    "users:read.email": lambda c: c.users_lookupByEmail(email="ada@example.com"),
    "usergroups:read": lambda c: c.usergroups_users_list(usergroup="S0APPROVER"),
    "files:read": lambda c: c.files_info(file="F1"),
    "files:write": lambda c: c.files_getUploadURLExternal(filename="x", length=1),
    "reactions:write": lambda c: c.reactions_add(channel=CHANNEL, name="x", timestamp="1"),
}


@pytest.mark.parametrize("scope", WANTED)
async def test_a_missing_scope_is_named(
    client: AsyncWebClient, slack: SlackServer, scope: str
) -> None:
    """The refusal says what is needed and what the token has."""
    slack.narrow(scope)
    body = await refusal(WANTED[scope](client))
    assert body["error"] == "missing_scope"
    assert body["needed"] == scope
    assert scope not in body["provided"].split(",")
    assert "commands" in body["provided"].split(",")


async def test_another_name_needs_a_scope_of_its_own(client: AsyncWebClient) -> None:
    """A bot posts under its own name and picture (scopes/chat.write.customize)."""
    body = await refusal(
        client.chat_postMessage(channel=CHANNEL, text="x", username="root", icon_emoji=":robot:")
    )
    assert (body["error"], body["needed"]) == ("missing_scope", "chat:write.customize")


async def test_addresses_are_for_tokens_that_may_read_them(
    client: AsyncWebClient, slack: SlackServer
) -> None:
    """Without `users:read.email` a user object has no address (methods/users.info)."""
    shown = await client.users_info(user="U0ENGINEER")
    assert shown["user"]["profile"]["email"] == "ada@example.com"
    slack.narrow("users:read.email")
    shown = await client.users_info(user="U0ENGINEER")
    assert "email" not in shown["user"]["profile"]
