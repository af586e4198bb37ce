"""The demo in a browser: the bot in a local Slack workspace, and the fleet that it looks at.

`python -m playground.demo_page` starts 32 machines with 8 ranks each, a Slack workspace and the bot
as `nccl-dns serve` runs it, all in this process; it prints the address of the page, opens it where
there is a browser, and serves until it is interrupted.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import tempfile
import webbrowser
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from datetime import timedelta
from pathlib import Path

import yaml
from pydantic import SecretStr

from bot.commands import serve
from bot.settings import SlackSettings, load
from bot.settings.slack import ApproverSettings
from playground.demo import BROKEN, JOB
from playground.fleet import world as fleet
from playground.slack import server as workspace
from playground.slack.app import AppConfig
from playground.slack.page.guide import Guide, Step
from playground.slack.server import SlackServer

_MANIFEST = Path(__file__).parents[1] / "manifest.yml"
#: A repair is proven again so long after it passed.
_AGAIN = timedelta(seconds=30)
#: The workspace's user group of those who may approve.
_APPROVERS = "S0APPROVER"

GUIDE = Guide(
    line=f"/nccl-dns {JOB}",
    steps=(
        Step(text=f"Press Enter to ask about job {JOB}, which does not start.", done="said"),
        Step(
            text="Read which rank, which VM, its state and why; press Restart, and ask for what "
            "its form recommends.",
            done="press",
        ),
        Step(text="Open the thread below the report: the evidence is there.", done="thread"),
        Step(
            text="Become Grace Approver at the left, and approve: the resolver is restarted once, "
            "and the proof comes into the thread.",
            done="became",
        ),
    ),
)


@asynccontextmanager
async def running(folder: Path, *, port: int = 0) -> AsyncIterator[SlackServer]:
    """Run fleet, workspace and bot until the block ends; state and keys go to the folder."""
    app = AppConfig.from_manifest(yaml.safe_load(_MANIFEST.read_text(encoding="utf-8")))
    async with (
        fleet.running(state_dir=folder, fault="resolver-failed", on=BROKEN) as machines,
        workspace.running(app=app, guide=GUIDE, port=port) as slack,
    ):
        slack_settings = SlackSettings(
            bot_token=SecretStr(slack.bot_token),
            app_token=SecretStr(slack.app_token),
            signing_secret=SecretStr(slack.signing_secret),
            base_url=slack.api_url,
            port=0,
            approvers=ApproverSettings(groups=(_APPROVERS,)),
        )
        settings = load(machines.write_settings(), environ={})
        told = settings.model_copy(
            update={
                "slack": slack_settings,
                # the fleet is there to be repaired, and nobody watches for ten minutes
                "actions": settings.actions.model_copy(update={"enabled": True}),
                "waits": settings.waits.model_copy(
                    update={"look": timedelta(seconds=1), "verify_again": (_AGAIN,)}
                ),
            }
        )
        async with serve.running(told, environ={}):
            yield slack


def arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="python -m playground.demo_page")
    parser.add_argument("--port", type=int, default=0, help="0 (default): one that is free")
    parser.add_argument("--no-open", action="store_true", help="print the address alone")
    return parser.parse_args()


async def shown(folder: Path, port: int, *, opens: bool) -> None:
    """Run the demo until cancelled."""
    sys.stdout.write("… starting 32 machines, a Slack workspace and the bot\n")
    sys.stdout.flush()
    async with running(folder, port=port) as slack:
        sys.stdout.write(f"\n  {slack.base_url}/\n\nPress Enter there. Ctrl-C here ends it.\n")
        sys.stdout.flush()
        if opens:
            await asyncio.to_thread(webbrowser.open, f"{slack.base_url}/")
        await asyncio.Event().wait()


def main() -> None:
    """Run from the command line."""
    asked = arguments()
    with (
        tempfile.TemporaryDirectory(prefix="nccl-dns-demo-") as folder,
        suppress(KeyboardInterrupt),
    ):
        asyncio.run(shown(Path(folder), asked.port, opens=not asked.no_open))


if __name__ == "__main__":
    main()
