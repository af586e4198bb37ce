"""Prove what the bot can learn of people, groups and channels.

Every error names the page of docs.slack.dev/reference/methods that lists it.
"""

from __future__ import annotations

import pytest
from slack_sdk.web.async_client import AsyncWebClient

from playground.slack.server import SlackServer
from tests.behaviour.slack_playground.asking import error

pytestmark = pytest.mark.anyio


async def test_people_who_must_be_told_apart(client: AsyncWebClient) -> None:
    """Guests, strangers, bots and those who left show it in their user objects."""
    users = {
        name: (await client.users_info(user=name))["user"]
        for name in ("U0ENGINEER", "U0GUEST001", "U0STRANGER", "U0OTHERBOT", "U0GONE0001")
    }
    flags = ("is_restricted", "is_stranger", "is_bot", "deleted")
    marked = {name: [flag for flag in flags if user[flag]] for name, user in users.items()}
    assert marked == {
        "U0ENGINEER": [],
        "U0GUEST001": ["is_restricted"],
        "U0STRANGER": ["is_stranger"],
        "U0OTHERBOT": ["is_bot"],
        "U0GONE0001": ["deleted"],
    }
    assert users["U0STRANGER"]["team_id"] != users["U0ENGINEER"]["team_id"]


async def test_people_who_are_not_there(client: AsyncWebClient) -> None:
    """Ids and addresses that lead nowhere have different errors."""
    assert await error(client.users_info(user="U0NOBODY01")) == "user_not_found"  # users.info
    # users.lookupByEmail
    nobody = client.users_lookupByEmail(email="nobody@example.com")
    assert await error(nobody) == "users_not_found"
    left = client.users_lookupByEmail(email="gil@example.com")
    assert await error(left) == "users_not_found"
    members = (await client.users_list())["members"]
    assert "U0STRANGER" not in [one["id"] for one in members]


async def test_user_groups(client: AsyncWebClient) -> None:
    """Approvers can be a group; one that was disabled is as good as none."""
    groups = (await client.usergroups_list(include_users=True))["usergroups"]
    assert {one["handle"] for one in groups} == {"approvers", "oncall"}
    users = await client.usergroups_users_list(usergroup="S0APPROVER")
    assert users["users"] == ["U0APPROVER", "U0SECOND01"]
    gone = client.usergroups_users_list(usergroup="S0OLDTEAM1")
    assert await error(gone) == "no_such_subteam"  # usergroups.users.list


async def test_channels(client: AsyncWebClient) -> None:
    """Private channels that the bot is not in do not exist for it."""
    listed = await client.conversations_list(
        types="public_channel,private_channel", exclude_archived=True
    )
    names = {one["name"] for one in listed["channels"]}
    assert "incident-room" in names
    assert not names & {"secret", "old-incidents"}
    shared = (await client.conversations_info(channel="C0SHARED01"))["channel"]
    assert shared["is_ext_shared"]
    members = await client.conversations_members(channel="C0SHARED01")
    assert "U0STRANGER" in members["members"]
    # conversations.info, conversations.list
    assert await error(client.conversations_info(channel="C0SECRET01")) == "channel_not_found"
    assert await error(client.conversations_list(types="rooms")) == "invalid_types"


async def test_joining(client: AsyncWebClient) -> None:
    """A bot joins public channels by itself, and no others."""
    # conversations.history
    history = client.conversations_history(channel="C0GENERAL1")
    assert await error(history) == "not_in_channel"
    await client.conversations_join(channel="C0GENERAL1")
    assert (await client.conversations_history(channel="C0GENERAL1"))["ok"]
    # conversations.join
    join = client.conversations_join
    assert await error(join(channel="C0SECRET01")) == "channel_not_found"
    assert await error(join(channel="C0ARCHIVED")) == "is_archived"
    refused = await error(join(channel="C0PRIVATE1"))
    assert refused == "method_not_supported_for_channel_type"


async def test_direct_messages(client: AsyncWebClient) -> None:
    """They are opened once and stay; nobody and those who left are refused."""
    opened = client.conversations_open
    first = (await opened(users="U0ENGINEER"))["channel"]["id"]
    assert (await opened(users="U0ENGINEER"))["channel"]["id"] == first
    # conversations.open
    assert await error(opened(users="")) == "users_list_not_supplied"
    assert await error(opened(users="U0NOBODY01")) == "user_not_found"
    assert await error(opened(users="U0GONE0001")) == "user_disabled"
    assert await error(opened(users=",".join(["U0ENGINEER"] * 9))) == "too_many_users"
    several = opened(users=["U0ENGINEER", "U0APPROVER"])
    assert await error(several) == "missing_scope"
    assert (await opened(channel=first))["channel"]["id"] == first
    refused = await error(opened(channel="C0TRAINING"))
    assert refused == "method_not_supported_for_channel_type"


async def test_bots(client: AsyncWebClient, slack: SlackServer) -> None:
    """A bot's id leads to its user; others' bots are known, too."""
    own = (await client.auth_test())["bot_id"]
    assert (await client.bots_info(bot=own))["bot"]["user_id"] == slack.world.bot.id
    other = (await client.bots_info(bot="B0OTHERBOT"))["bot"]
    assert other["name"] == "Deploy Bot"
    assert await error(client.bots_info(bot="B0NOBODY01")) == "bot_not_found"  # bots.info
