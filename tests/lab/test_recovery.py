"""Approved repairs on real machines, from the words in Slack to ranks that come up."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path

import pytest

from playground.slack.clicking import Press, in_message
from playground.slack.server import SlackServer
from tests.lab.faults import FAULTS
from tests.lab.running import wait_until
from tests.lab.stage import Powered
from tests.lab.test_faults import failing
from tests.scenario.stage import Stage, acting, bot, restart, restart_form, settings, text_of, until

pytestmark = [pytest.mark.anyio, pytest.mark.lab, pytest.mark.timeout(600)]
HERE = "training-oncall"
HIT = 3
_SLOW_S = 120.0


@pytest.fixture
async def stage(cloud: Powered, slack: SlackServer, tmp_path: Path) -> AsyncIterator[Stage]:
    """Return the bot at its highest level, among the machines."""
    told = settings(slack, tmp_path, based_on=cloud.settings(tmp_path))
    async with bot(slack, acting(told, timedelta(seconds=2))) as running:
        yield running


async def test_the_same_run_is_saved(cloud: Powered, stage: Stage, slack: SlackServer) -> None:
    """While ranks still wait, the service is restarted, and the same job's ranks come up."""
    lab = cloud.lab
    hit = lab.machines[HIT]
    await asyncio.to_thread(FAULTS["resolved-failed"].make, lab, hit)
    # torchrun's own time-out is half an hour; this is long enough for a person to approve
    job = lab.job("srun", store_s=300)
    await until(lambda: "Temporary failure in name resolution" in lab.log(job), within=_SLOW_S)
    ada, grace = slack.act_as("ada"), slack.act_as("grace")
    await ada.commands(HERE, f"/nccl-dns {job}")
    report = await stage.report(HERE)
    for words in (hit.name, "6", "7", "systemd-resolved"):
        assert words in text_of(report)
    await restart(ada, HERE, report)
    card = await stage.said(HERE, f"Approve? {hit.name}", "Restart systemd-resolved")
    await in_message(grace, HERE, card.ts, Press(action_id="approve"))
    await stage.said(HERE, f"Done and proven: {hit.name}", "Active: active")
    done = lambda: lab.slurm.state(job) == "COMPLETED"  # noqa: E731
    await asyncio.to_thread(wait_until, "the same job is done", done, within_s=_SLOW_S)
    log = lab.log(job)
    assert all(f"[rank {rank}] up" in log for rank in range(8))
    assert "step 4" in log
    assert cloud.did == []


async def test_in_error_nothing_is_restarted(
    cloud: Powered, stage: Stage, slack: SlackServer
) -> None:
    """A VM that the cloud says is in ERROR is support's: Restart is answered with the reason."""
    lab = cloud.lab
    hit = lab.machines[HIT]
    cloud.vm(hit).state = "STATE_ERROR"
    await asyncio.to_thread(FAULTS["resolved-failed"].make, lab, hit)
    job = await failing(lab)
    ada = slack.act_as("ada")
    await ada.commands(HERE, f"/nccl-dns {job}")
    report = await stage.report(HERE)
    assert hit.name in text_of(report)
    assert "ERROR" in text_of(report)
    view = await restart_form(ada, HERE, report)
    assert "The VM is in ERROR" in str(view.payload)
    assert not view.payload.get("submit")
    await stage.idle()
    assert cloud.did == []
    assert hit.run("systemctl", "is-active", "systemd-resolved", may_fail=True).strip() == "failed"
