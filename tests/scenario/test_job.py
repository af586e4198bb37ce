"""A job by its ID: placeholder, report, replies."""

from __future__ import annotations

from pathlib import Path

import pytest

from playground.fleet.world import running as fleet_running
from playground.slack.acting import Acting
from playground.slack.server import SlackServer
from tests.scenario.stage import bot, controls, settings, text_of

pytestmark = pytest.mark.anyio
HERE = "training-oncall"


async def test_a_job_id_becomes_a_report_in_the_channel(
    slack: SlackServer, ada: Acting, tmp_path: Path
) -> None:
    """The report names rank, VM, state and cause; evidence and probes stand below it."""
    async with fleet_running(state_dir=tmp_path / "fleet") as fleet:
        told = settings(slack, tmp_path, based_on=fleet.write_settings())
        async with bot(slack, told) as stage:
            outcome = await ada.commands(HERE, "/nccl-dns 48213")
            assert not outcome.failed
            report = await stage.report(HERE)
            shown = text_of(report)
            assert "ranks 64-71 of 256" in shown
            assert "node-8: resolver failed" in shown
            assert fleet.vm("node-8").id in shown
            assert "RUNNING" in shown
            assert controls(report)[:3] == ["back_up", "restart", "draft_ticket"]
            await stage.said(HERE, "Lines that bear it out")
            await stage.said(HERE, "Way in")
            await stage.idle()
            # as in Slack, the parent of a thread names itself as its thread
            thread = [one for one in stage.messages(HERE) if one.thread_ts == report.ts]
            replies = [one for one in thread if one.ts != report.ts]
            assert len(replies) == 2
            first = slack.calls("chat.postMessage")[0]
            assert "Reading demo:48213" in first.args["text"]
            assert slack.calls("chat.update")
