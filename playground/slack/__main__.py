"""Run a workspace by hand: `python -m playground.slack --manifest manifest.json`.

It prints the settings that an app needs to talk to it and the address of the page to be people on,
and serves until it is interrupted.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from contextlib import suppress
from pathlib import Path

from playground.slack.app import AppConfig
from playground.slack.server import running


def arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="python -m playground.slack", description=__doc__)
    parser.add_argument("--manifest", type=Path, help="the app's manifest, as JSON")
    parser.add_argument("--request-url", default="", help="send over HTTP instead of Socket Mode")
    parser.add_argument("--port", type=int, default=0, help="0 (default): one that is free")
    return parser.parse_args()


async def serve(app: AppConfig, request_url: str, port: int) -> None:
    """Serve a workspace until cancelled."""
    async with running(app=app, request_url=request_url, port=port) as slack:
        sys.stdout.write(
            f"SLACK_API_URL={slack.api_url}\n"
            f"SLACK_BOT_TOKEN={slack.bot_token}\n"
            f"SLACK_APP_TOKEN={slack.app_token}\n"
            f"SLACK_SIGNING_SECRET={slack.signing_secret}\n"
            f"# the channel, in a browser: {slack.base_url}/\n"
        )
        sys.stdout.flush()
        await asyncio.Event().wait()


def main() -> None:
    """Run from the command line."""
    asked = arguments()
    config = AppConfig()
    if asked.manifest:
        config = AppConfig.from_manifest(json.loads(asked.manifest.read_text()))
    with suppress(KeyboardInterrupt):
        asyncio.run(serve(config, asked.request_url, asked.port))


if __name__ == "__main__":
    main()
