"""With the second manifest the bot hears its channels: pasted lines in its threads are evidence."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import yaml

from playground.slack.app import AppConfig
from playground.slack.server import SlackServer, running
from tests.scenario.logs import PASTE, example
from tests.scenario.stage import ROOT, Stage, bot, settings, text_of, until

pytestmark = pytest.mark.anyio
HERE = "training-oncall"


@pytest.fixture
async def slack() -> AsyncIterator[SlackServer]:
    """Return a workspace with the app of the second manifest."""
    told = yaml.safe_load((ROOT / "manifest-channels.yml").read_text(encoding="utf-8"))
    async with running(app=AppConfig.from_manifest(told), rates_on=False) as server:
        yield server


async def reported(slack: SlackServer, stage: Stage) -> str:
    """Ask about a log, and return the report's thread."""
    await slack.act_as("ada").commands(HERE, f"/nccl-dns {PASTE}")
    report = await stage.report(HERE)
    await stage.idle()
    return report.ts


async def test_lines_in_a_thread_of_ours_are_evidence(slack: SlackServer, tmp_path: Path) -> None:
    """Without a mention; what that changed is said."""
    async with bot(slack, settings(slack, tmp_path)) as stage:
        thread = await reported(slack, stage)
        slack.act_as("ada").says(HERE, PASTE + "\nmore", thread_ts=thread)
        await stage.said(HERE, "added", "lines")


async def test_talk_stays_talk(slack: SlackServer, tmp_path: Path) -> None:
    """Nothing is answered to what people say to each other, in threads and outside."""
    async with bot(slack, settings(slack, tmp_path)) as stage:
        thread = await reported(slack, stage)
        before = len([one for one in stage.messages(HERE) if one.bot_id])
        ada = slack.act_as("ada")
        ada.says(HERE, "has anybody looked at node-8?", thread_ts=thread)
        ada.says(HERE, PASTE)
        ada.says(HERE, "48213")
        await stage.idle()
        assert len([one for one in stage.messages(HERE) if one.bot_id]) == before


async def test_outsiders_are_told_in_our_threads_alone(slack: SlackServer, tmp_path: Path) -> None:
    """A stranger's talk is left alone; their lines and files in a thread of ours are refused."""
    there = "shared-with-vendor"
    async with bot(slack, settings(slack, tmp_path)) as stage:
        await slack.act_as("ada").commands(there, f"/nccl-dns {PASTE}")
        report = await stage.report(there)
        stranger = slack.act_as("stranger")
        stranger.says(there, PASTE)
        stranger.shares(there, "mine.log", example())
        await stage.idle()
        assert not stage.whispers(there, "stranger")
        stranger.says(there, PASTE, thread_ts=report.ts)
        await stage.whispered(there, "stranger", "I answer members")
        stranger.shares(there, "mine.log", example(), thread_ts=report.ts)
        await until(lambda: len(stage.whispers(there, "stranger")) > 1)
        await stage.idle()
        assert not [one for one in stage.messages(there) if "added" in text_of(one) and one.bot_id]
