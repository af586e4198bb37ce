"""Slack is away for a while: nothing that was acknowledged is lost, and time goes on."""

from __future__ import annotations

import asyncio
import os
from datetime import timedelta
from functools import partial
from pathlib import Path

import pytest

from playground.fleet.world import running as fleet_running
from playground.slack.acting import Acting
from playground.slack.server import SlackServer
from playground.slack.web import Outage
from tests.scenario.logs import PASTE
from tests.scenario.stage import Stage, bot, has_action, restart, settings, text_of, until

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(900)]
HERE = "training-oncall"
#: `make outage` waits as long as the outages that Slack has; the usual tests do not.
LASTS_S = float(os.environ.get("NCCL_DNS_OUTAGE_S", "3"))
_BACK_S = 120.0


def _reports(stage: Stage, host: str) -> list[str]:
    """Return the reports about a host, the newest state of each."""
    return [
        one.ts
        for one in stage.messages(HERE)
        if one.bot_id and has_action(one, "more") and host in text_of(one)
    ]


@pytest.mark.parametrize("outage", [Outage.DROP, Outage.CLOSED, Outage.REFUSE, Outage.HANG])
async def test_an_outage(slack: SlackServer, tmp_path: Path, ada: Acting, outage: Outage) -> None:
    """Commands acknowledged as it began are answered after it, once; a card expires meanwhile.

    The Web API goes first and the socket after it, as in most of Slack's incidents.
    """
    async with fleet_running(state_dir=tmp_path / "fleet", vms=9) as fleet:
        told = settings(slack, tmp_path, based_on=fleet.write_settings())
        async with bot(slack, told) as stage:
            await ada.commands(HERE, "/nccl-dns 48213")
            report = await stage.report(HERE)
            await stage.idle()
            await restart(ada, HERE, report)
            card = await stage.said(HERE, "Approve? node-8")
            await stage.idle()

            slack.web.outage = outage
            for number in range(3):
                paste = PASTE.replace("node-8", f"gpu-{number}")
                assert not (await ada.commands(HERE, f"/nccl-dns {paste}")).failed
            await slack.go_away(outage)
            print(f"\n{outage.name}: away for {LASTS_S:.0f} s, 3 commands acknowledged before")
            desk, now = stage.bot.desk, stage.bot.desk.now
            desk.now = lambda: now() + timedelta(minutes=31)
            await asyncio.sleep(LASTS_S)
            deadline = asyncio.get_running_loop().time() + _BACK_S
            while await desk.store.approvals.waiting():
                assert asyncio.get_running_loop().time() < deadline
                await asyncio.sleep(0.1)
            assert "Approve?" in text_of(card)
            assert stage.bot.intake.counts["received"] >= 5
            assert await desk.store.deliveries.undone() == 3

            await slack.come_back()
            back = asyncio.get_running_loop().time()
            await until(lambda: "Expired: node-8" in text_of(card), within=_BACK_S)
            await until(lambda: slack.sockets.connections, within=_BACK_S)
            for number in range(3):
                await until(partial(_reports, stage, f"gpu-{number}"), within=_BACK_S)
            await stage.idle()
            after_s = asyncio.get_running_loop().time() - back
            print(f"{outage.name}: 3 reports and 1 expired card said {after_s:.1f} s after it")
            assert [len(_reports(stage, f"gpu-{number}")) for number in range(3)] == [1, 1, 1]
            assert stage.bot.intake.counts["failed"] == 0
            await ada.commands(HERE, "/nccl-dns help")
            await stage.whispered(HERE, "ada", "Which rank, which VM, and why")
