"""Prove that the workspace can be run by hand."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path

import pytest
from slack_sdk.web.async_client import AsyncWebClient

pytestmark = pytest.mark.anyio


async def test_it_prints_what_an_app_needs(tmp_path: Path) -> None:
    """The printed settings reach a workspace whose app is the one in the manifest."""
    manifest = tmp_path / "manifest.json"
    manifest.write_text(json.dumps({"display_information": {"name": "watcher"}}))
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "playground.slack", "--manifest", str(manifest),
        stdout=asyncio.subprocess.PIPE,
    )  # fmt: skip
    assert process.stdout is not None
    try:
        lines = [(await process.stdout.readline()).decode().strip() for _ in range(4)]
        given = dict(line.split("=", 1) for line in lines)
        client = AsyncWebClient(
            token=given["SLACK_BOT_TOKEN"], base_url=given["SLACK_API_URL"], retry_handlers=[]
        )
        assert (await client.auth_test())["user"] == "watcher"
    finally:
        process.terminate()
        await process.wait()
