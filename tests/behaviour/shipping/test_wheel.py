"""The wheel, installed from the lock alone, serves as the image would."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import httpx
import pytest

from playground.slack.server import running
from tests.scenario.logs import PASTE
from tests.scenario.stage import app, text_of

ROOT = Path(__file__).parents[3]
pytestmark = [pytest.mark.anyio, pytest.mark.timeout(600)]
_MOST_S = 60.0


@pytest.fixture
def anyio_backend() -> str:
    """Run on asyncio, as the product does."""
    return "asyncio"


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the wheel, install it in a virtual environment of its own, and return its `bin`."""
    folder = tmp_path_factory.mktemp("wheel")
    _run("hatchling", "build", "-t", "wheel", "-d", str(folder))
    _run("uv", "venv", "--quiet", "--python", sys.executable, str(folder / "venv"))
    python = str(folder / "venv" / "bin" / "python")
    install = ("uv", "pip", "install", "--quiet", "--python", python, "--no-deps")
    _run(*install, "--require-hashes", "--only-binary", ":all:", "-r", "requirements.lock")
    _run(*install, str(next(folder.glob("*.whl"))))
    return folder / "venv" / "bin"


def _run(*command: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", *command],
        cwd=ROOT,
        capture_output=True,
        check=False,
        text=True,
        timeout=500,
    )
    assert not done.returncode, done.stderr


def test_nothing_of_ours_is_missing(installed: Path) -> None:
    """The wheel alone answers: version, help, and a diagnosis of a log."""
    shown = subprocess.run(
        [installed / "nccl-dns", "diagnose", "-"], input=PASTE, capture_output=True,
        check=False, text=True, cwd=installed,
    )  # fmt: skip
    assert shown.returncode == 1
    assert "node-8" in shown.stdout


async def test_it_serves(installed: Path, tmp_path: Path) -> None:
    """It connects, is healthy and ready, reports a paste, and a signal ends it in order."""
    async with running(app=app(), rates_on=False) as slack:
        port = _free_port()
        config = tmp_path / "nccl-dns.toml"
        config.write_text(
            f'state_dir = "{tmp_path / "state"}"\n[slack]\nbot_token = "{slack.bot_token}"\n'
            f'app_token = "{slack.app_token}"\nbase_url = "{slack.api_url}"\nport = {port}\n'
        )
        config.chmod(0o600)
        env = {"PATH": os.environ["PATH"], "NCCL_DNS_CONFIG": str(config), "HOME": str(tmp_path)}
        serve = await asyncio.create_subprocess_exec(
            installed / "nccl-dns", "serve", env=env, cwd=tmp_path
        )
        try:
            await _ready(f"http://127.0.0.1:{port}/readyz")
            healthy = await asyncio.create_subprocess_exec(
                installed / "nccl-dns", "healthy", env=env, cwd=tmp_path
            )
            assert await healthy.wait() == 0
            await slack.act_as("ada").commands("training-oncall", f"/nccl-dns {PASTE}")
            deadline = time.monotonic() + _MOST_S
            messages = slack.channel("training-oncall").messages
            while not any("node-8" in text_of(one) for one in messages.values() if one.bot_id):
                assert time.monotonic() < deadline
                await asyncio.sleep(0.05)
        finally:
            serve.send_signal(signal.SIGTERM)
            ended = await asyncio.wait_for(serve.wait(), _MOST_S)
        assert ended == 0
        late = await asyncio.create_subprocess_exec(
            installed / "nccl-dns", "healthy", env=env, cwd=tmp_path,
            stderr=asyncio.subprocess.PIPE,
        )  # fmt: skip
        _, said = await late.communicate()
        assert late.returncode == 1
        assert b"Nothing answers" in said


def _free_port() -> int:
    import socket

    with socket.create_server(("127.0.0.1", 0)) as free:
        return int(free.getsockname()[1])


async def _ready(url: str) -> None:
    deadline = time.monotonic() + _MOST_S
    async with httpx.AsyncClient() as client:
        while time.monotonic() < deadline:
            try:
                if (await client.get(url)).status_code == 200:
                    return
            except httpx.HTTPError:
                pass
            await asyncio.sleep(0.1)
    raise AssertionError("It never became ready.")
