"""A job by its ID: placeholder, report, replies."""

from __future__ import annotations

import asyncio
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
    """The report names rank, VM, state and cause; evidence, probes and picture are below it."""
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
            assert len(replies) == 3
            picture = slack.world.files[replies[-1].files[0]]
            assert picture.mimetype == "image/png"
            assert picture.alt_text.startswith("Who resolves whom, 2 machines by ")
            assert "node-8" in picture.alt_text


async def test_a_jobs_url_is_read_and_never_fetched(
    slack: SlackServer, ada: Acting, tmp_path: Path
) -> None:
    """The job in a URL is looked at; nobody asks the address itself, and Slack shows no preview."""
    asked: list[str] = []

    async def page(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        asked.append((await reader.readline()).decode())
        writer.close()

    async with fleet_running(state_dir=tmp_path / "fleet", vms=9) as fleet:
        web = await asyncio.start_server(page, "127.0.0.1", 0)
        address = f"http://127.0.0.1:{web.sockets[0].getsockname()[1]}/jobs/48213"
        told = settings(slack, tmp_path, based_on=fleet.write_settings())
        async with bot(slack, told) as stage, web:
            await ada.commands(HERE, f"/nccl-dns {address}")
            report = await stage.report(HERE)
            assert "demo:48213" in text_of(report)
            await stage.idle()
    assert asked == []
    assert all(not one.args["unfurl_links"] for one in slack.calls("chat.postMessage"))


async def test_progress_is_honest_from_the_first_second(
    slack: SlackServer, ada: Acting, tmp_path: Path
) -> None:
    """Each source waits or is read, as it is; a second look says what it reads, and then ends."""
    async with fleet_running(state_dir=tmp_path / "fleet", vms=9, fault="login-hangs") as fleet:
        told = settings(slack, tmp_path, based_on=fleet.write_settings())
        async with bot(slack, told) as stage:
            await ada.commands(HERE, "/nccl-dns 48213")
            report = await stage.report(HERE)
            await stage.idle()
            first = slack.calls("chat.postMessage")[0].args["text"]
            assert "Reading demo:48213" in first
            assert "not asked" not in first
            edits = [one.args["text"] for one in slack.calls("chat.update")]
            assert any("scheduler: asking the scheduler" in one for one in (first, *edits))
            assert any("probes: probing node-8" in one for one in (first, *edits))
            await ada.commands(HERE, "/nccl-dns 48213")
            await stage.idle()
            shown = [str(one.args["blocks"]) for one in slack.calls("chat.update")]
            assert any("Looking again: " in one for one in shown)
            assert "Looking again" not in text_of(report)
