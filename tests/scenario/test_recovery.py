"""Approved steps are carried out on the fleet's machines, and prove themselves in the thread."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import pytest

from playground.fleet.simulated import SimulatedFleet
from playground.fleet.world import running as fleet_running
from playground.slack.acting import Acting
from playground.slack.clicking import Press, in_message
from playground.slack.model import Message
from playground.slack.server import SlackServer
from tests.scenario.stage import Stage, acting, bot, has_action, restart, settings, text_of, until

pytestmark = pytest.mark.anyio
HERE = "training-oncall"


@dataclass(frozen=True, kw_only=True)
class Acted:
    """A fleet, and the bot that may change it."""

    stage: Stage
    fleet: SimulatedFleet


@pytest.fixture
async def repairing(slack: SlackServer, tmp_path: Path) -> AsyncIterator[Acted]:
    """Return the bot at its highest level, with a fleet whose ninth machine has no resolver."""
    async with fleet_running(
        state_dir=tmp_path / "fleet", vms=9, age=timedelta(minutes=5)
    ) as fleet:
        told = settings(slack, tmp_path, based_on=fleet.write_settings())
        told = acting(told, timedelta(seconds=1))
        async with bot(slack, told) as stage:
            yield Acted(stage=stage, fleet=fleet)


async def proposed(stage: Stage, ada: Acting) -> Message:
    """Ask for the job, press Restart, and return the card."""
    await ada.commands(HERE, "/nccl-dns 48213")
    report = await stage.report(HERE)
    await stage.idle()
    await restart(ada, HERE, report)
    return await stage.said(HERE, "Approve? node-8", "Restart systemd-resolved in the guest")


async def test_a_service_is_restarted_once_and_proven(
    repairing: Acted, slack: SlackServer, ada: Acting
) -> None:
    """Approve runs the mildest step on the machine, once; the proof stands in the thread."""
    stage = repairing.stage
    card = await proposed(stage, ada)
    for who in ("grace", "grace", "linus"):
        await in_message(slack.act_as(who), HERE, card.ts, Press(action_id="approve"))
    proof = await stage.said(HERE, "Done and proven: node-8", "systemd-resolved on node-8")
    assert proof.thread_ts == card.thread_ts
    assert "finds all 2 names" in text_of(proof)
    assert "Active: active" in text_of(proof)
    await until(lambda: "Done and proven: node-8" in text_of(card))
    assert not has_action(card, "stop_step")
    await until(lambda: "still well" in text_of(card))
    report = slack.channel(HERE).messages[card.thread_ts]
    await until(lambda: "node-8: mended and proven" in text_of(report))
    await stage.idle()
    said = [one for one in stage.messages(HERE) if "Done and proven" in text_of(one)]
    assert len(said) == 2  # the card, and the reply
    store = stage.bot.desk.store
    run = (await store.step_runs.ended_since(stage.bot.desk.now() - timedelta(hours=1)))[0]
    assert run.state == "passed"
    assert len(await store.step_runs.sendings(run.id)) == 1
    rows, broken = await store.audit.broken()
    assert rows > 5
    assert not broken


async def test_threads_outlive_the_engine(slack: SlackServer, tmp_path: Path) -> None:
    """What runs in the same loop after the bot has stopped can use threads as before."""
    async with fleet_running(state_dir=tmp_path / "fleet", vms=2) as fleet:
        told = acting(settings(slack, tmp_path, based_on=fleet.write_settings()))
        async with bot(slack, told):
            pass
        assert await asyncio.to_thread(lambda: 1) == 1
