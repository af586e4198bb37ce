"""`nccl-dns serve` as a process: from its settings to its end by a signal."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from playground.slack.acting import Acting
from playground.slack.model import Message
from playground.slack.server import SlackServer, running
from tests.scenario.logs import PASTE
from tests.scenario.stage import ROOT, app, has_action, text_of, until

pytestmark = pytest.mark.anyio
HERE = "training-oncall"


@asynccontextmanager
async def serve(
    slack: SlackServer, folder: Path, **more: str
) -> AsyncIterator[asyncio.subprocess.Process]:
    """Run the process with Slack's usual variables."""
    (folder / "nccl-dns.toml").write_text(
        f'state_dir = "{folder}"\n[slack]\nbase_url = "{slack.api_url}"\nport = 0\n'
    )
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "bot", "serve", "--config", str(folder / "nccl-dns.toml"),
        cwd=ROOT, stderr=asyncio.subprocess.PIPE,
        env={
            **os.environ, "PYTHONPATH": str(ROOT), "SLACK_BOT_TOKEN": slack.bot_token,
            "SLACK_APP_TOKEN": slack.app_token, **more,
        },
    )  # fmt: skip
    try:
        yield process
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


def reports(slack: SlackServer) -> list[Message]:
    """Return the reports in the channel."""
    messages = slack.channel(HERE).messages.values()
    return [one for one in messages if one.bot_id and has_action(one, "more")]


async def test_a_signal_lets_what_was_begun_end(
    slack: SlackServer, ada: Acting, tmp_path: Path
) -> None:
    """After SIGTERM what was acknowledged is done, by this process or the next, once."""
    async with serve(slack, tmp_path) as process:
        await until(lambda: slack.sockets.connections)
        outcome = await ada.commands(HERE, f"/nccl-dns {PASTE}")
        process.send_signal(signal.SIGTERM)
        assert not outcome.failed
        _, told = await process.communicate()
        assert process.returncode == 0, told.decode()
    if not reports(slack):
        async with serve(slack, tmp_path):
            await until(lambda: reports(slack))
    assert len(reports(slack)) == 1


async def test_a_kill_loses_nothing(slack: SlackServer, ada: Acting, tmp_path: Path) -> None:
    """What a killed process has acknowledged is done by the next one, without a second report."""
    async with serve(slack, tmp_path) as process:
        await until(lambda: slack.sockets.connections)
        assert not (await ada.commands(HERE, f"/nccl-dns {PASTE}")).failed
        process.kill()
        await process.wait()
    async with serve(slack, tmp_path):
        await until(lambda: reports(slack), within=90)
    parents = [one for one in slack.channel(HERE).messages.values() if one.bot_id]
    assert len([one for one in parents if "Level 0" in text_of(one)]) == 1


async def test_a_wrong_token_ends_it_with_a_sentence(slack: SlackServer, tmp_path: Path) -> None:
    """The exit code is that of bad input, and no traceback hides what to mend."""
    wrong = {"SLACK_BOT_TOKEN": "xoxb-wrong"}
    async with serve(slack, tmp_path, **wrong) as process:
        _, told = await process.communicate()
    assert process.returncode == 2
    assert "nccl-dns: Slack does not know the token" in told.decode()
    assert "Traceback" not in told.decode()
    assert "xoxb-wrong" not in told.decode()


async def test_within_slacks_rates(tmp_path: Path) -> None:
    """With Slack's limits on, several reports in one channel are all said."""
    async with running(app=app()) as slack, serve(slack, tmp_path):
        await until(lambda: slack.sockets.connections)
        ada = slack.act_as("ada")
        for number in range(3):
            await ada.commands(HERE, f"/nccl-dns {PASTE}\nrun {number}")
        await until(lambda: len(reports(slack)) == 3)
