"""The wheel, installed from the lock alone, serves as it comes and as it does in the image.

Installing takes the same index as `make` does; what was installed once comes from uv's cache.
"""

from __future__ import annotations

import asyncio
import os
import subprocess
import time
from pathlib import Path

import pytest

from playground.slack.server import SlackServer
from playground.slack.server import running as workspace
from tests.behaviour.hosts.sshd import is_root
from tests.behaviour.shipping.recipes import services, variables
from tests.behaviour.shipping.running import Place, free_port
from tests.behaviour.store.postgres import Postgres
from tests.scenario.logs import PASTE
from tests.scenario.stage import ROOT, app, text_of

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(600)]
_MOST_S = 60.0


def test_nothing_of_ours_is_missing(installed: Path) -> None:
    """The wheel alone answers: version, help, and a diagnosis of a log."""
    shown = subprocess.run(
        [installed / "nccl-dns", "diagnose", "-"], input=PASTE, capture_output=True,
        check=False, text=True, cwd=installed,
    )  # fmt: skip
    assert shown.returncode == 1
    assert "node-8" in shown.stdout
    for name in ("manifest", "manifest-channels"):
        printed = subprocess.run(
            [installed / "nccl-dns", "init", "--print", name], capture_output=True, check=True,
            text=True, cwd=installed,
        )  # fmt: skip
        assert printed.stdout == (ROOT / f"{name}.yml").read_text(encoding="utf-8")


async def test_it_serves(installed: Path, tmp_path: Path) -> None:
    """With a file of settings and SQLite it answers in Slack, and a signal ends it in order."""
    async with workspace(app=app(), rates_on=False) as slack:
        port = free_port()
        config = tmp_path / "nccl-dns.toml"
        config.write_text(
            f'state_dir = "{tmp_path / "state"}"\n[slack]\nbot_token = "{slack.bot_token}"\n'
            f'app_token = "{slack.app_token}"\nbase_url = "{slack.api_url}"\nport = {port}\n'
        )
        config.chmod(0o600)
        env = {"PATH": os.environ["PATH"], "NCCL_DNS_CONFIG": str(config), "HOME": str(tmp_path)}
        await _judge(
            Place(bin=installed, folder=tmp_path, port=port, env=env, confined=False), slack
        )


@pytest.mark.needs("psql", "unshare", "setpriv")
@pytest.mark.skipif(not is_root(), reason="only root enters namespaces")
async def test_it_serves_as_in_the_image(
    installed: Path, tmp_path: Path, postgres: Postgres
) -> None:
    """On PostgreSQL, with the image's variables, user and secret files, it does the same.

    Nothing is writable but its state and a folder for temporary files.
    """
    async with workspace(app=app(), rates_on=False) as slack:
        place = _image(installed, tmp_path, slack, postgres.emptied())
        assert (await place.run("/usr/bin/touch", "state/inside"))[0] == 0
        for outside in (tmp_path / "outside", "/usr/outside", "/root/outside"):
            code, said = await place.run("/usr/bin/touch", str(outside))
            assert code
            assert "Read-only" in said
        await _judge(place, slack)
        assert not (tmp_path / "state" / "bot.db").exists()


def _image(installed: Path, folder: Path, slack: SlackServer, store_url: str) -> Place:
    """Lay out what the image and its services would: settings, secrets, state."""
    port = free_port()
    (folder / "nccl-dns.toml").write_text(
        f'[slack]\nbase_url = "{slack.api_url}"\nport = {port}\n', encoding="utf-8"
    )
    secrets = {
        "store_url": store_url,
        "slack_bot_token": slack.bot_token,
        "slack_app_token": slack.app_token,
    }
    for name, text in secrets.items():
        (folder / name).write_text(f"{text}\n", encoding="utf-8")
        (folder / name).chmod(0o400)
    for name in ("state", "tmp"):
        (folder / name).mkdir(0o700)
    places = {"/run/secrets": folder, "/var/lib/nccl-dns": folder / "state"}
    env = {}
    for name, text in (variables() | services()["bot"]["environment"]).items():
        there = next((one for one in places if text.startswith(one)), None)
        env[name] = text.replace(there, str(places[there])) if there else text
    env |= {"PATH": f"{installed}:{os.environ['PATH']}", "TMPDIR": str(folder / "tmp")}
    return Place(bin=installed, folder=folder, port=port, env=env, confined=True)


async def _judge(place: Place, slack: SlackServer) -> None:
    """See it become ready and healthy, report a paste, and end in order; then it is not healthy."""
    async with place.serving():
        assert await place.run("nccl-dns", "healthy") == (0, "")
        await slack.act_as("ada").commands("training-oncall", f"/nccl-dns {PASTE}")
        messages = slack.channel("training-oncall").messages
        deadline = time.monotonic() + _MOST_S
        while not any("node-8" in text_of(one) for one in messages.values() if one.bot_id):
            assert time.monotonic() < deadline
            await asyncio.sleep(0.05)
    code, said = await place.run("nccl-dns", "healthy")
    assert code == 1
    assert "Nothing answers" in said
