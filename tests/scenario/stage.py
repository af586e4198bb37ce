"""Run the bot in a workspace, and wait for what people see there."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any, TypeVar

import yaml
from pydantic import SecretStr

from bot.commands.serve import Serving, running
from bot.reports.slack.reading import reading
from bot.settings import Settings, SlackSettings, load
from bot.settings.slack import ApproverSettings
from playground.slack import modal
from playground.slack.acting import Acting
from playground.slack.app import AppConfig
from playground.slack.clicking import Press, in_message
from playground.slack.model import Message, View
from playground.slack.server import SlackServer

T = TypeVar("T")
ROOT = Path(__file__).parents[2]
#: Longer than anything takes on a busy machine.
_MOST_S = 45.0
_LOOK_S = 0.02


def app(**changes: Any) -> AppConfig:  # noqa: ANN401
    """Return the app as its manifest says, so that what the manifest lacks is missing here."""
    manifest = yaml.safe_load((ROOT / "manifest.yml").read_text(encoding="utf-8"))
    for path, value in changes.items():
        manifest["settings"][path] = value
    return AppConfig.from_manifest(manifest)


def settings(
    slack: SlackServer,
    folder: Path,
    *,
    based_on: Path | None = None,
    **changes: Any,  # noqa: ANN401
) -> Settings:
    """Return settings for a workspace: of pastes alone, or those of a fleet."""
    given: dict[str, Any] = {
        "bot_token": SecretStr(slack.bot_token),
        "app_token": SecretStr(slack.app_token),
        "signing_secret": SecretStr(slack.signing_secret),
        "base_url": slack.api_url,
        "port": 0,
        "approvers": ApproverSettings(groups=("S0APPROVER",)),
    }
    told = SlackSettings(**(given | changes))
    if based_on is not None:
        return load(based_on, environ={}).model_copy(update={"slack": told})
    return Settings(state_dir=folder, slack=told)


def acting(told: Settings, *again: timedelta) -> Settings:
    """Return settings with which steps are carried out, and waited for as briefly as tests may."""
    soon = timedelta(seconds=0.2)
    waits = told.waits.model_copy(update={"look": soon, "verify_again": again})
    actions = told.actions.model_copy(update={"enabled": True})
    return told.model_copy(update={"waits": waits, "actions": actions})


@dataclass(frozen=True, kw_only=True)
class Stage:
    """The bot, running in a workspace."""

    slack: SlackServer
    bot: Serving

    def messages(self, channel: str) -> list[Message]:
        """Return the messages of a channel, the oldest first, threads included."""
        return list(self.slack.channel(channel).messages.values())

    def whispers(self, channel: str, user: str) -> list[str]:
        """Return what one person alone was told in a channel."""
        found = self.slack.channel(channel).ephemeral
        return [text_of(one) for one in found if one.only_for == self.slack.person(user).id]

    async def report(self, channel: str, *, title: str = "") -> Message:
        """Wait for a report in a channel: a message of the bot's with controls."""
        return await until(
            lambda: next(
                (
                    one
                    for one in self.messages(channel)
                    if one.bot_id and title in text_of(one) and has_action(one, "more")
                ),
                None,
            )
        )

    async def said(self, channel: str, *words: str) -> Message:
        """Wait for a message of the bot's that holds all the words."""
        return await until(
            lambda: next(
                (
                    one
                    for one in self.messages(channel)
                    if one.bot_id and all(word in text_of(one) for word in words)
                ),
                None,
            )
        )

    async def whispered(self, channel: str, user: str, *words: str) -> str:
        """Wait for something that one person alone is told."""
        return await until(
            lambda: next(
                (one for one in self.whispers(channel, user) if all(word in one for word in words)),
                None,
            )
        )

    async def idle(self) -> None:
        """Wait until nothing that was delivered is undone."""
        store = self.bot.desk.store
        deadline = time.monotonic() + _MOST_S
        while self.bot.intake.busy or await store.deliveries.undone():
            assert time.monotonic() < deadline
            await asyncio.sleep(_LOOK_S)


@asynccontextmanager
async def bot(slack: SlackServer, told: Settings) -> AsyncIterator[Stage]:
    """Run the bot as `nccl-dns serve` does."""
    async with running(told, environ={}, grace=timedelta(seconds=5)) as serving:
        yield Stage(slack=slack, bot=serving)


async def restart(
    who: Acting, channel: str, report: Message, rung: str = "", why: str = ""
) -> View:
    """Press Restart and submit the form as it is filled in, or with another rung; return it."""
    view = await restart_form(who, channel, report)
    given: dict[str, dict[str, Any]] = {"rung": {"rung": rung}} if rung else {}
    if why:
        given["why"] = {"why": why}
    await modal.submit(who, view, given)
    return view


async def restart_form(who: Acting, channel: str, report: Message) -> View:
    """Press Restart and return the form once the machine was looked at."""
    await in_message(who, channel, report.ts, Press(action_id="restart"))

    def filled() -> View | None:
        view = who.world.visible_view(who.id)
        return view if view is not None and "rung-" in str(view.payload) else None

    return await until(filled)


def text_of(message: Message) -> str:
    """Return what a person reads in a message."""
    return reading(message.blocks) or message.text


def has_action(message: Message, action: str) -> bool:
    """Tell whether a message has a control."""
    return any(
        one.get("action_id") == action
        for block in message.blocks
        for one in block.get("elements", ())
    )


def controls(message: Message) -> list[str]:
    """Return the controls of a message, by what they ask for."""
    return [
        one["action_id"]
        for block in message.blocks
        if block["type"] == "actions"
        for one in block["elements"]
    ]


async def until(condition: Callable[[], T | bool | None], *, within: float = _MOST_S) -> T:
    """Return what a condition returns once that is true; fail where it never is."""
    deadline = time.monotonic() + within
    while time.monotonic() < deadline:
        found = condition()
        if found:
            return found  # type: ignore[return-value]
        await asyncio.sleep(_LOOK_S)
    raise AssertionError("It never came to that.")
