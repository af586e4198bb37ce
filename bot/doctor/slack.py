"""Checks of Slack: tokens, scopes, how events come, the clock, who decides, where reports go."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from datetime import timedelta

from bot.chat.errors import AwayError, ChatError, NotMemberError, TokenError
from bot.chat.scopes import SCOPES
from bot.chat.slack import Granted, SlackChat
from bot.chat.socket import allowed
from bot.doctor.look import Look
from bot.doctor.model import Answer, fail, ok, skip, warn
from bot.settings import SettingsError, SlackSettings
from bot.settings.secrets import secret

#: A request whose time is further off is refused (docs.slack.dev, verifying requests).
_MOST_SKEW = timedelta(minutes=1)
_CLOCK = "Let a time service keep this machine's clock (`timedatectl set-ntp true`)."
_AGAIN = (
    "Put them into the app's manifest (manifest.yml has all), and install the app again at "
    "https://api.slack.com/apps: a token keeps the scopes that it was made with."
)
_KINDS = {"bot_token": "xoxb-", "app_token": "xapp-"}
_WHERE = {
    "bot_token": "OAuth & Permissions, Bot User OAuth Token",
    "app_token": "Basic Information, App-Level Tokens, with the scope connections:write",
    "signing_secret": "Basic Information, App Credentials",
}
_EDITED = (
    "Let admins alone edit user groups (Slack's workspace settings, Permissions, User Groups), or "
    "name people in slack.approvers.users."
)
_BROKEN = "Nothing is known of it while the bot token does not work."


def _told(look: Look) -> SlackSettings:
    told = look.settings.slack
    if told is None:
        raise SettingsError("[slack] is not set.")
    return told


def _held(told: SlackSettings, name: str) -> str:
    return secret(getattr(told, name), getattr(told, f"{name}_file"), f"slack.{name}_file")


@asynccontextmanager
async def _chat(look: Look) -> AsyncIterator[SlackChat]:
    told = _told(look)
    chat = SlackChat(_held(told, "bot_token"), base_url=told.base_url, network=look.network)
    async with chat.connected():
        yield chat


async def _granted(look: Look) -> Granted:
    """Return what Slack says of the bot token, asked once; raises a ChatError."""

    async def ask() -> Granted:
        async with _chat(look) as chat:
            return await chat.granted()

    return await look.once("slack", ask)


async def token(look: Look) -> Sequence[Answer]:
    """Say whether the bot token works, for which workspace, and whether it is one at all."""
    told = _told(look)
    mend = f"Copy it from {_WHERE['bot_token']}."
    if wrong := _kind(_held(told, "bot_token"), "bot_token"):
        return (fail(wrong, mend),)
    try:
        found = await _granted(look)
    except TokenError as error:
        return (fail(str(error), mend),)
    named = found.team_name or found.identity.team
    return (ok(f"It works: {found.identity.name} in {named} ({found.identity.team})."),)


def _kind(held: str, name: str) -> str:
    """Say that a token is none of its kind; two tokens are easily put in each other's place."""
    if not held:
        return f"slack.{name} is not set."
    if held.startswith(_KINDS[name]):
        return ""
    other = next((one for one, kind in _KINDS.items() if held.startswith(kind)), "")
    also = f"; it looks like slack.{other}" if other else ""
    return f"slack.{name} does not begin with {_KINDS[name]}{also}."


async def scopes(look: Look) -> Sequence[Answer]:
    """Say which of the manifest's scopes the token lacks, and which it has in vain."""
    try:
        granted = (await _granted(look)).scopes
    except ChatError:
        return (skip(_BROKEN),)
    if not granted:
        return (skip("Slack does not say which scopes the token has."),)
    lacking = [one for one in SCOPES if one not in granted]
    spare = sorted(granted - set(SCOPES) - {"incoming-webhook"})
    answers = [fail(f"It is lacking: {SCOPES[one]}.", _AGAIN, one) for one in lacking]
    answers += [
        warn("It is granted and not used.", "Take it out of the app.", one) for one in spare
    ]
    return answers or [ok(f"All {len(SCOPES)} of the manifest, and no other.")]


async def way_in(look: Look) -> Sequence[Answer]:
    """Say whether Slack's events can come: by the socket, or signed over HTTP."""
    told = _told(look)
    if told.mode == "http":
        if not _held(told, "signing_secret"):
            mend = f"Copy it from {_WHERE['signing_secret']}."
            return (fail("slack.signing_secret is not set: no request can be believed.", mend),)
        return (ok(f"HTTP at {told.host}:{told.port}/slack/events; requests are signed."),)
    mend = f"Make one at {_WHERE['app_token']}."
    held = _held(told, "app_token")
    if wrong := _kind(held, "app_token"):
        return (fail(wrong, mend),)
    try:
        await allowed(held, base_url=told.base_url, network=look.network)
    except TokenError as error:
        return (fail(str(error), mend),)
    return (ok("Socket Mode: the app-level token may connect."),)


async def clock(look: Look) -> Sequence[Answer]:
    """Say how far this machine's clock is from Slack's: signatures hold for five minutes."""
    try:
        skew = (await _granted(look)).skew
    except ChatError:
        return (skip(_BROKEN),)
    if skew is None:
        return (skip("Slack's answer has no date."),)
    said = f"This machine's clock and Slack's are {abs(skew).total_seconds():.0f} s apart."
    return (warn(said, _CLOCK),) if abs(skew) > _MOST_SKEW else (ok(said),)


async def approvers(look: Look) -> Sequence[Answer]:
    """Say of each approver whether they are there, and of each group whether anybody is in it."""
    told = _told(look)
    named = told.approvers
    if not named.users and not named.groups:
        said = "Nobody may approve a step."
        return (warn(said, "Name people or user groups in [slack.approvers]."),)
    try:
        await _granted(look)
    except ChatError:
        return (skip(_BROKEN),)
    async with _chat(look) as chat:
        return [
            *[await _user(look, chat, one) for one in named.users],
            *[await _group(chat, one) for one in named.groups],
            *await _of_policy(look, chat),
            *await _enough(look, chat),
            *await _glass(look, chat),
        ]


async def _of_policy(look: Look, chat: SlackChat) -> Sequence[Answer]:
    """Say the same of those whom [actions.policy] names and [slack.approvers] does not."""
    named, policy = _told(look).approvers, look.settings.actions.policy
    ids = {*policy.always, *policy.escalate_to}.union(*policy.step_approvers.values())
    more = sorted(ids - {*named.users, *named.groups})
    return [
        await (_group(chat, one) if one.startswith("S") else _user(look, chat, one)) for one in more
    ]


async def _glass(look: Look, chat: SlackChat) -> Sequence[Answer]:
    """Say whether a broken glass could be posted: where it cannot, none is broken."""
    policy = look.settings.actions.policy
    if not policy.break_glass:
        return ()
    if not policy.audit_channel:
        said = "actions.policy.break_glass is on, and no audit_channel is set: it stays off."
        return (warn(said, "Set actions.policy.audit_channel to a channel's id."),)
    try:
        await chat.readable(policy.audit_channel)
    except NotMemberError as error:
        return (fail(str(error), "Invite the bot there: /invite @nccl-dns", policy.audit_channel),)
    return ()


async def _enough(look: Look, chat: SlackChat) -> Sequence[Answer]:
    """Say where steps need two people and there are not as many: nothing could ever be approved."""
    named = _told(look).approvers
    if not look.settings.actions.by_two:
        return ()
    people = set(named.users)
    for group in named.groups:
        with suppress(ChatError):
            people |= await chat.members_of(group)
    if len(people) > 1:
        return ()
    said = f"actions.two_people asks for two approvers, and there is {len(people) or 'none'}."
    return (fail(said, "Name more people in [slack.approvers], or let one person decide."),)


async def _user(look: Look, chat: SlackChat, user: str) -> Answer:
    mend = "Take the id out of slack.approvers.users, or correct it."
    try:
        found = await chat.person(user)
    except AwayError:
        raise
    except ChatError as error:
        return fail(f"Slack does not find them: {error}", mend, user)
    team = (await _granted(look)).identity.team
    if found.deactivated or found.bot:
        return fail("The account is deactivated, or a bot's.", mend, user)
    if found.guest or found.stranger or (found.team and found.team != team):
        return fail(
            "They are a guest, or of another workspace: they are not let decide.", mend, user
        )
    return ok("A member of the workspace.", user)


async def _group(chat: SlackChat, group: str) -> Answer:
    mend = "Correct the id in slack.approvers.groups, or put somebody into the group."
    try:
        members = await chat.members_of(group)
    except AwayError:
        raise
    except ChatError as error:
        return fail(f"Slack does not find the group: {error}", mend, group)
    if not members:
        return fail("Nobody is in the group.", mend, group)
    editor = await chat.last_editor(group)
    if editor and not (await chat.person(editor)).admin:
        said = (
            f"{len(members)} people; {editor}, who changed it last, is no admin: members may edit "
            "it, and so decide who approves."
        )
        return warn(said, _EDITED, group)
    note = "whoever may edit the group in Slack decides who is in it"
    return ok(f"{len(members)} people; {note}.", group)


async def home_channel(look: Look) -> Sequence[Answer]:
    """Say whether the bot is in the channel where reports go that nobody asked for."""
    channel = _told(look).home_channel
    if not channel:
        return (ok("None is set: such reports go to the person who asked."),)
    try:
        await _granted(look)
    except ChatError:
        return (skip(_BROKEN),)
    try:
        async with _chat(look) as chat:
            await chat.readable(channel)
    except NotMemberError as error:
        return (fail(str(error), "Invite the bot there: /invite @nccl-dns", channel),)
    return (ok("The bot is a member.", channel),)
