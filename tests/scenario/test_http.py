"""Slack over HTTP: signatures, their age, replays; and what is served beside it."""

from __future__ import annotations

import socket as sockets
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path

import httpx
import pytest

from playground.slack.acting import Acting
from playground.slack.http_out import HttpTransport
from playground.slack.server import SlackServer, running
from tests.scenario.logs import PASTE
from tests.scenario.stage import Stage, app, bot, settings, text_of
from tests.scenario.test_faults import goes_on

pytestmark = pytest.mark.anyio
HERE = "training-oncall"


@dataclass(frozen=True, kw_only=True)
class Http:
    """The bot in HTTP mode, and the workspace's way to it."""

    stage: Stage
    slack: SlackServer
    way: HttpTransport

    @property
    def ada(self) -> Acting:
        """Return the engineer."""
        return self.slack.act_as("ada")

    def url(self, path: str) -> str:
        """Return an address of the bot's."""
        return f"http://127.0.0.1:{self.stage.bot.port}{path}"


@pytest.fixture
async def http(tmp_path: Path) -> AsyncIterator[Http]:
    """Run workspace and bot, each knowing the other's port."""
    with sockets.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    url = f"http://127.0.0.1:{port}/slack/events"
    async with running(
        app=app(socket_mode_enabled=False), request_url=url, rates_on=False
    ) as slack:
        told = settings(slack, tmp_path, mode="http", port=port)
        async with bot(slack, told) as stage:
            assert slack.http is not None
            yield Http(stage=stage, slack=slack, way=slack.http)


async def test_everything_works_over_http(http: Http) -> None:
    """The address is verified; commands, events and their reports are as by the socket."""
    assert await http.way.verify()
    outcome = await http.ada.commands(HERE, f"/nccl-dns {PASTE}")
    assert not outcome.failed
    assert "node-8" in text_of(await http.stage.report(HERE))
    http.ada.says("@", PASTE + "\nmore")
    direct = http.slack.world.direct(http.ada.id).id
    await http.stage.report(direct)


async def test_a_forged_signature(http: Http, caplog: pytest.LogCaptureFixture) -> None:
    """A request that is not signed with the secret is refused and does nothing."""
    await http.ada.commands(HERE, "/nccl-dns help")
    await http.stage.idle()
    forged = http.way.sent[-1]
    forged = replace(forged, headers={**forged.headers, "X-Slack-Signature": "v0=" + "0" * 64})
    async with httpx.AsyncClient() as client:
        answer = await client.post(
            http.url("/slack/events"), content=forged.body, headers=forged.headers
        )
        unsigned = await client.post(http.url("/slack/events"), content=forged.body)
    assert answer.status_code == unsigned.status_code == 401
    assert http.stage.bot.intake.counts["received"] == 1
    assert "wrong or old signature" in caplog.text
    await goes_on(http.stage, http.ada)


async def test_clocks_that_differ(http: Http, caplog: pytest.LogCaptureFixture) -> None:
    """A request whose time is ten minutes off is refused: it could be an old one."""
    http.way.skew = timedelta(minutes=-10)
    outcome = await http.ada.commands(HERE, "/nccl-dns help")
    assert outcome.failed == "http_error"
    assert "five minutes" in str(outcome.body)
    assert not http.stage.bot.intake.counts["received"]
    assert "clocks differ?" in caplog.text
    http.way.skew = timedelta(0)
    await goes_on(http.stage, http.ada)


async def test_a_replayed_request(http: Http) -> None:
    """A request that comes again within five minutes is acknowledged and done once."""
    await http.ada.commands(HERE, f"/nccl-dns {PASTE}")
    again = http.way.sent[-1]
    await http.stage.report(HERE)
    outcome = await http.way.post(again)
    assert not outcome.failed
    await http.stage.idle()
    assert http.stage.bot.intake.counts == {
        "received": 1, "repeated": 1, "refused": 0, "failed": 0,
    }  # fmt: skip
    await goes_on(http.stage, http.ada)


@pytest.mark.parametrize(
    ("body", "kind"),
    [(b"[]", "application/json"), (b"nothing=1", "application/x-www-form-urlencoded")],
)
async def test_what_is_no_payload(http: Http, body: bytes, kind: str) -> None:
    """A signed request that is none of Slack's payloads is a bad request, not an error of ours."""
    outcome = await http.way.post(http.way.signed(body, kind))
    assert outcome.failed == "http_error"
    assert "no payload" in str(outcome.body)


async def test_health_and_numbers(http: Http) -> None:
    """Health answers; readiness names its reasons; the numbers are in Prometheus' format."""
    async with httpx.AsyncClient() as client:
        assert (await client.get(http.url("/healthz"))).json() == {"ok": True}
        ready = await client.get(http.url("/readyz"))
        numbers = (await client.get(http.url("/metrics"))).text
    assert ready.json() == {"ok": True, "problems": []}
    assert "nccl_dns_deliveries_received 0.0" in numbers


async def test_readiness_says_when_slack_was_heard(stage: Stage) -> None:
    """By the socket, readiness is the age of the last envelope or ping, not that it is open."""
    url = f"http://127.0.0.1:{stage.bot.port}/readyz"
    async with httpx.AsyncClient() as client:
        assert (await client.get(url)).json()["last_heard_s"] < 30
        assert stage.bot.socket is not None
        stage.bot.socket._heard -= 3600
        stage.bot.socket._silent = 1e9
        if stage.bot.socket._client is not None:
            stage.bot.socket._client.last_ping_pong_time = None
        late = await client.get(url)
    assert late.status_code == 503
    assert "Nothing was heard of Slack" in late.json()["problems"][0]
