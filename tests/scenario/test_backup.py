"""A person backs up what a VM's own disks hold, and only then may it be stopped."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from bot.hosts.grants import BACKUP_PATH
from bot.incidents.ids import LONG, new_id
from bot.incidents.incident import Incident
from bot.incidents.statement import Kind, Statement
from bot.recovery.facts import DataStatus
from bot.recovery.service import Recovery
from playground.fleet.simulated import SimulatedFleet
from playground.fleet.world import running as fleet_running
from playground.slack import modal
from playground.slack.acting import Acting
from playground.slack.clicking import Press, in_message
from playground.slack.model import Message, View
from playground.slack.server import SlackServer
from tests.scenario.stage import Stage, acting, bot, restart, settings, text_of, until

pytestmark = pytest.mark.anyio
HERE = "training-oncall"


@dataclass(frozen=True, kw_only=True)
class Saved:
    """A fleet, the bot that may back up, the report of its ninth machine, and who may approve."""

    stage: Stage
    fleet: SimulatedFleet
    slack: SlackServer
    report: Message
    grace: Acting

    @property
    def recovery(self) -> Recovery:
        """Return what carries out steps."""
        found = self.stage.bot.desk.recovery
        assert found is not None
        return found

    async def incident(self) -> Incident:
        """Return the incident."""
        return (await self.stage.bot.desk.store.incidents.still_open())[0]

    async def form(self) -> View:
        """Press Back up, and return the form once the machine has answered."""
        await in_message(self.grace, HERE, self.report.ts, Press(action_id="back_up"))
        return await until(self._filled)

    def _filled(self) -> View | None:
        view = self.slack.world.visible_view(self.grace.id)
        return view if view is not None and "submit" in view.payload else None

    async def data(self) -> DataStatus:
        """Return what is known of the data on the VM."""
        incident = await self.incident()
        return (await self.recovery.proposer.world.look(incident.id, "node-8")).facts.data

    async def against_stopping(self) -> str:
        """Return what stands against a stop and start that somebody has asked for."""
        desk, incident = self.stage.bot.desk, await self.incident()
        await desk.store.statements.say(
            Statement(
                id=new_id(LONG), incident_id=incident.id, vm_name="node-8", kind=Kind.ASKED_FOR,
                about="stop_start", text="the drive is failing", who=self.grace.id, at=desk.now(),
            )
        )  # fmt: skip
        proposer = self.recovery.proposer
        seen = await proposer.world.look(incident.id, "node-8")
        # who else is on the VM is asked for in another place
        facts = replace(seen.facts, others=frozenset())
        return " ".join(proposer.refusal(replace(seen, facts=facts), "stop_start"))


@pytest.fixture
async def saved(slack: SlackServer, ada: Acting, tmp_path: Path) -> AsyncIterator[Saved]:
    """Return the bot at its highest level, and the report of a machine without a resolver."""
    async with fleet_running(
        state_dir=tmp_path / "fleet", vms=9, age=timedelta(minutes=5)
    ) as fleet:
        told = acting(settings(slack, tmp_path, based_on=fleet.write_settings()))
        async with bot(slack, told) as stage:
            await ada.commands(HERE, "/nccl-dns 48213")
            report = await stage.report(HERE)
            await stage.idle()
            yield Saved(
                stage=stage, fleet=fleet, slack=slack, report=report, grace=slack.act_as("grace")
            )


def options(view: View) -> dict[str, dict[str, Any]]:
    """Return what the form's menu offers, by label."""
    block = next(one for one in view.payload["blocks"] if one["block_id"] == "items")
    return {one["text"]["text"]: one for one in block["element"]["options"]}


async def test_from_the_click_to_the_data_status(saved: Saved) -> None:
    """What goes is shown with sizes, chosen, copied, proven; then the VM may be stopped."""
    stage = saved.stage
    assert "back it up" in await saved.against_stopping()
    view = await saved.form()
    await until(lambda: "Data: node-8: at risk: " in text_of(saved.report))
    assert await saved.data() is DataStatus.AT_RISK
    shown = options(view)
    step = shown[f"checkpoint /nvme/{saved.fleet.desk.user}/run-7/global_step400"]
    assert "ranks 64–71 only, needs the other 8 VMs" in step["description"]["text"]
    assert "96.0 GB" in step["description"]["text"]
    assert "bob: 24.0 GB on nvme0n1" in shown
    assert "secret" not in str(view.payload)
    assert "complete" not in str(view.payload)
    await modal.submit(saved.grace, view, {})

    proof = await stage.said(HERE, "Done and proven: node-8", "both sides have the same SHA-256")
    assert proof.thread_ts == saved.report.ts
    assert "manifest" in text_of(proof)
    card = await stage.said(HERE, "Done and proven: node-8", "rsync -aHAX")
    assert "Approved by" in text_of(card)
    await until(lambda: "Data: node-8: backed up in /home/nccl-dns-backup" in text_of(saved.report))
    assert await saved.data() is DataStatus.BACKED_UP
    assert not await saved.against_stopping()
    kept = saved.fleet.network.kept
    assert {f"/home/nccl-dns-backup/node-8-{(await saved.incident()).id}/bob/nvme/bob"} == {
        path.rpartition("/")[0] for path in kept if "/bob/" in path
    }
    commands = {command for name, command in saved.fleet.ssh.ran if BACKUP_PATH in command}
    assert commands == {f"echo @shell; exec sudo -n -- {BACKUP_PATH}"}


async def test_the_card_tells_how_far_it_is_and_stop_ends_it(saved: Saved) -> None:
    """While it is copied the card moves; Stop ends it, and what it holds is at risk still."""
    saved.fleet.network.named("node-8").copying_s = 60
    await modal.submit(saved.grace, await saved.form(), {})
    card = await saved.stage.said(HERE, "Under way: node-8", "Copying", "of 120,012 MB")
    await in_message(saved.grace, HERE, card.ts, Press(action_id="stop_step"))
    await until(lambda: "What is copied is kept, and not proven" in text_of(card))
    assert await saved.data() is DataStatus.AT_RISK


async def test_a_file_that_changes_is_not_backed_up(saved: Saved) -> None:
    """Where both sides differ the step fails, names the file, and the data stays at risk."""
    node = saved.fleet.network.named("node-8")
    log = next(one for one in node.held if one.path.endswith("train.log"))

    class Restless(str):
        """A content that is another one each time."""

        __slots__ = ()

        def __eq__(self, other: object) -> bool:
            return False

        def __ne__(self, other: object) -> bool:
            return True

        __hash__ = str.__hash__

    log.seed = Restless("busy")
    await modal.submit(saved.grace, await saved.form(), {})
    await saved.stage.said(HERE, "It did not work: node-8", "changed while they were copied")
    proof = await saved.stage.said(HERE, "NOT EQUAL 1 files", "train.log")
    assert proof.thread_ts == saved.report.ts
    assert await saved.data() is DataStatus.AT_RISK


async def test_nothing_to_keep_is_somebodys_word(saved: Saved) -> None:
    """An approver's own words are kept with their name, and the VM may be stopped."""
    view = await saved.form()
    words = "all checkpoints are on /home <!channel>"
    await modal.submit(saved.grace, view, {"nothing_to_keep": {"nothing_to_keep": words}})
    await until(lambda: "nothing to keep, in their words: all checkp" in text_of(saved.report))
    assert await saved.data() is DataStatus.NOTHING_TO_KEEP
    said = await saved.stage.bot.desk.store.statements.of((await saved.incident()).id)
    assert [one.who for one in said if one.kind is Kind.NOTHING_TO_KEEP] == [saved.grace.id]
    assert not await saved.against_stopping()
    assert not saved.fleet.network.kept


async def test_who_may_not_decide_copies_nothing(saved: Saved, ada: Acting) -> None:
    """A backup reads people's files: who may not approve steps is told who may."""
    await in_message(ada, HERE, saved.report.ts, Press(action_id="back_up"))
    await saved.stage.whispered(HERE, "ada", "those who may approve steps start it")
    assert saved.slack.world.visible_view(ada.id) is None
    assert not [one for one in saved.fleet.ssh.ran if BACKUP_PATH in one[1]]


async def test_a_vm_that_lets_nobody_in_says_what_is_lost(saved: Saved) -> None:
    """Dead to SSH: the form says what cannot be saved, and only a person's word is left."""
    saved.fleet.network.named("node-8").login_hangs = True
    view = await saved.form()
    assert "cannot be saved" in str(view.payload)
    assert not [one for one in view.payload["blocks"] if one["block_id"] == "items"]
    assert await saved.data() is DataStatus.UNKNOWN


async def test_nothing_else_begins_while_it_runs(saved: Saved, ada: Acting) -> None:
    """A restart would end the copy: one that is approved meanwhile is not done, and says why."""
    saved.fleet.network.named("node-8").copying_s = 60
    await modal.submit(saved.grace, await saved.form(), {})
    await saved.stage.said(HERE, "Under way: node-8", "Copying")
    await restart(ada, HERE, saved.report)
    card = await saved.stage.said(HERE, "Approve? node-8", "Restart systemd-resolved")
    await in_message(saved.grace, HERE, card.ts, Press(action_id="approve"))
    await until(lambda: "Back up is under way on node-8" in text_of(card))
    assert "Not done: node-8" in text_of(card)
