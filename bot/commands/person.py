"""Who is at the command line: an account of this machine, mapped in the settings to a person."""

from __future__ import annotations

import os
import pwd
from contextlib import AsyncExitStack

from bot.chat.errors import ChatError
from bot.chat.people import People
from bot.chat.rules import Rules
from bot.chat.slack import SlackChat
from bot.errors import UsageError
from bot.network.way import Network
from bot.recovery.policy import Person, Policy
from bot.settings import Settings
from bot.settings.secrets import secret


def account() -> str:
    """Return the account that runs this process, whatever the environment says."""
    try:
        return pwd.getpwuid(os.getuid()).pw_name
    except KeyError:
        return str(os.getuid())


def user_of(settings: Settings, name: str) -> str:
    """Return who an account is in Slack; raises UsageError where settings do not say."""
    found = settings.actions.cli.get(name)
    if found is None:
        raise UsageError(
            f"The settings do not say who the account {name} is, so nothing is done: add "
            f'{name} = "U…", their id in Slack, to [actions.cli].'
        )
    return found


async def person_of(settings: Settings, policy: Policy, network: Network) -> tuple[Person, str]:
    """Return who is at the command line, and a sentence where Slack could not be asked.

    Then user groups count for nothing: people who are named by id still decide. Raises UsageError.
    """
    user = user_of(settings, account())
    told = settings.slack
    held = secret(told.bot_token, told.bot_token_file, "slack.bot_token_file") if told else ""
    if told is None or not held:
        return Person(user=user), "No bot token is set, so user groups count for nothing here."
    async with AsyncExitStack() as stack:
        chat = SlackChat(held, base_url=told.base_url, network=network)
        await stack.enter_async_context(chat.connected())
        try:
            identity = await chat.identity()
            people = People(chat=chat, rules=Rules(policy=policy), team=identity.team)
            refused = await people.refusal(user)
            known = await people.known(user)
        except ChatError as error:
            return Person(user=user), f"{error} User groups count for nothing until it answers."
    return Person(user=user, groups=known.groups, refused=refused), ""
