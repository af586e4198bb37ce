"""The bot in networks that are not simple: a proxy, a private authority, names that fail."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from bot.commands.doctor import examined
from bot.doctor.model import Outcome
from bot.doctor.table import CHECKS
from bot.reports.slack.message import Attachment
from bot.settings import ClusterSettings, NetworkSettings, RestSettings, Settings
from playground.kubernetes.tls import server_context
from playground.slack.server import SlackServer, running
from tests.dead_names import break_names
from tests.forward_proxy import ForwardProxy, forward_proxy
from tests.scenario.logs import PASTE, example
from tests.scenario.stage import Stage, app, bot, settings, text_of, until

pytestmark = pytest.mark.anyio
HERE, ELSEWHERE = "training-oncall", "general"
NAME = "slack.test"


@pytest.fixture
async def slack(tmp_path: Path) -> AsyncIterator[SlackServer]:
    """Return a workspace at a name that no resolver knows, certified by a private authority."""
    tls = server_context(tmp_path, (NAME,))
    async with running(app=app(), rates_on=False, host=NAME, tls=tls) as server:
        yield server


@pytest.fixture
async def proxy() -> AsyncIterator[ForwardProxy]:
    """Return the only way out."""
    async with forward_proxy("bot:pass") as running_proxy:
        yield running_proxy


def told(slack: SlackServer, folder: Path, **network: Any) -> Settings:  # noqa: ANN401
    """Return settings with a network, whose authority is the workspace's."""
    given = NetworkSettings(**({"ca_file": folder / "ca.crt"} | network))
    return settings(slack, folder).model_copy(update={"network": given})


async def every_way(stage: Stage, slack: SlackServer) -> None:
    """Use each client of Slack: Web API, socket, download, upload, and a command's own address."""
    ada = slack.act_as("ada")
    asked = ada.shares(HERE, "job.log", example())
    await ada.takes_shortcut("diagnose_log", channel=HERE, ts=asked.ts)
    await stage.report(HERE)
    assert slack.calls("files.info")
    await ada.commands(ELSEWHERE, f"/nccl-dns {PASTE}")
    await stage.whispered(ELSEWHERE, "ada", "Invite")
    channel = slack.channel(HERE).id
    await stage.bot.desk.chat.upload(channel, asked.ts, [_attachment()])
    assert slack.calls("files.completeUploadExternal")
    await stage.idle()


def _attachment() -> Attachment:
    return Attachment(name="whole.txt", content=b"all of it")


async def test_everything_through_a_proxy(
    slack: SlackServer, tmp_path: Path, proxy: ForwardProxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Web API, WebSocket, files and answers go through the proxy, which alone knows the name."""
    break_names(monkeypatch)
    async with bot(slack, told(slack, tmp_path, proxy=proxy.url)) as stage:
        await every_way(stage, slack)
    # the socket, and the connections of calls and downloads
    assert len(proxy.asked) >= 3
    assert set(proxy.asked) == {f"{NAME}:{slack.port}"}


async def test_nothing_through_a_proxy(
    slack: SlackServer, tmp_path: Path, proxy: ForwardProxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What NO_PROXY names goes directly, though Slack's library reads HTTPS_PROXY by itself."""
    for name in ("HTTPS_PROXY", "https_proxy"):
        monkeypatch.setenv(name, proxy.url)
    direct = {"no_proxy": (NAME,), "addresses": {NAME: "127.0.0.1"}}
    async with bot(slack, told(slack, tmp_path, **direct)) as stage:
        await every_way(stage, slack)
    assert proxy.asked == []


async def test_an_unknown_authority(
    slack: SlackServer, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """The bot waits for Slack, and its log names the setting that is missing."""
    given = told(slack, tmp_path, ca_file=None, addresses={NAME: "127.0.0.1"})
    with caplog.at_level(logging.WARNING):
        async with asyncio.TaskGroup() as tasks:
            starting = tasks.create_task(_start(slack, given))
            await until(lambda: "network.ca_file" in caplog.text)
            starting.cancel()
    assert not slack.calls()


async def _start(slack: SlackServer, given: Settings) -> None:
    async with bot(slack, given):
        raise AssertionError


async def test_names_fail_while_it_runs_and_when_it_starts(
    slack: SlackServer,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """With no DNS the bot answers, connects anew, and starts anew, by the addresses it knew.

    The report says so: whoever reads it must know that names fail here, too.
    """
    given = told(slack, tmp_path)
    with monkeypatch.context() as names:
        break_names(names, known={NAME: "127.0.0.1"})
        async with bot(slack, given) as stage:
            await every_way(stage, slack)
    break_names(monkeypatch)
    with caplog.at_level(logging.WARNING):
        async with bot(slack, given) as stage:
            await slack.act_as("ada").commands(HERE, f"/nccl-dns {PASTE}")
            report = await stage.report(HERE, title="last known address")
            assert f"{NAME} is reached at its last known address 127.0.0.1" in text_of(report)
            old = list(slack.sockets.connections)
            await slack.sockets.close()
            await until(lambda: any(one not in old for one in slack.sockets.connections))
            await slack.act_as("ada").commands(HERE, "/nccl-dns status")
            await stage.whispered(HERE, "ada", "last known address")
    assert f"nobody answers for the name {NAME}" in caplog.text


async def test_the_doctor_goes_the_same_way(
    slack: SlackServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its checks of Slack use the addresses and authorities of the settings, and name them."""
    for name in ("HTTPS_PROXY", "https_proxy", "SSL_CERT_FILE", "SSL_CERT_DIR"):
        monkeypatch.delenv(name, raising=False)
    checks = [one for one in CHECKS if one.name in {"Slack token", "Slack events", "approvers"}]
    given = told(slack, tmp_path, addresses={NAME: "127.0.0.1"})
    found = await examined(given, None, checks)
    assert [one.outcome for one in found.rows] == [Outcome.OK] * 3
    found = await examined(told(slack, tmp_path, ca_file=None), None, checks[:2])
    assert [one.outcome for one in found.rows] == [Outcome.FAIL] * 2
    unknown = told(slack, tmp_path, ca_file=None, addresses={NAME: "127.0.0.1"})
    found = await examined(unknown, None, checks[:2])
    assert all("network.ca_file" in one.said for one in found.rows)


async def test_addresses_are_known_before_they_are_needed(
    slack: SlackServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """APIs that nobody has asked yet are looked up, so that an outage finds their addresses."""
    break_names(monkeypatch, known={NAME: "127.0.0.1", "ctl.test": "127.0.0.9"})
    cluster = ClusterSettings(rest=RestSettings(url="http://ctl.test:6820", user="ada"))
    given = told(slack, tmp_path).model_copy(update={"clusters": {"main": cluster}})
    memory = tmp_path / "addresses.json"
    async with bot(slack, given):
        await until(lambda: memory.exists() and "127.0.0.9" in memory.read_text())
