"""What buttons do, done from the command line beside a bot that serves: one policy, one engine."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import pytest

from bot.commands.person import account
from bot.incidents.incident import Incident
from playground.fleet.world import running as fleet_running
from playground.slack.server import SlackServer
from tests.scenario.stage import Stage, acting, bot, settings, text_of, until

pytestmark = pytest.mark.anyio
HERE = "training-oncall"


@dataclass(frozen=True, kw_only=True)
class Shell:
    """A shell of this machine's account, whom the settings map to somebody in Slack."""

    environ: dict[str, str]

    async def run(self, *arguments: str, who: str = "grace", slack: SlackServer) -> tuple[int, str]:
        """Run the command line as somebody; return its exit code and what it said."""
        mapped = json.dumps({account(): slack.person(who).id} if who else {})
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "bot", *arguments,
            env={**self.environ, "NCCL_DNS_ACTIONS__CLI": mapped},
            stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT,
        )  # fmt: skip
        out, _ = await process.communicate()
        return process.returncode or 0, out.decode()


@dataclass(frozen=True, kw_only=True)
class Desk:
    """The bot, an incident of its own, and a shell beside it."""

    stage: Stage
    shell: Shell
    incident: Incident


@pytest.fixture
async def beside(slack: SlackServer, tmp_path: Path) -> AsyncIterator[Desk]:
    """Return the bot at its highest level with an incident, and a shell on its machine."""
    age = timedelta(minutes=5)
    async with fleet_running(state_dir=tmp_path / "fleet", vms=9, age=age) as fleet:
        file = fleet.write_settings()
        told = acting(settings(slack, tmp_path, based_on=file))
        environ = {
            "PATH": os.environ["PATH"],
            "HOME": str(tmp_path),
            "NCCL_DNS_CONFIG": str(file),
            "NCCL_DNS_STATE_DIR": str(told.state_dir),
            "NCCL_DNS_ACTIONS__ENABLED": "true",
            "NCCL_DNS_SLACK__BOT_TOKEN": slack.bot_token,
            "NCCL_DNS_SLACK__BASE_URL": slack.api_url,
            "NCCL_DNS_SLACK__APPROVERS__GROUPS": '["S0APPROVER"]',
        }
        async with bot(slack, told) as stage:
            await slack.act_as("ada").commands(HERE, "/nccl-dns 48213")
            await stage.report(HERE)
            await stage.idle()
            incident = (await stage.bot.desk.store.incidents.still_open())[0]
            yield Desk(stage=stage, shell=Shell(environ=environ), incident=incident)


async def approval_of(beside: Desk) -> str:
    """Return the id of the one approval that waits."""
    return (await beside.stage.bot.desk.store.approvals.waiting())[0].id


async def test_a_step_from_proposal_to_proof(beside: Desk, slack: SlackServer) -> None:
    """The card stands in the thread, the bot carries out what the shell approved, once."""
    stage, run = beside.stage, beside.shell.run
    code, said = await run("incidents", slack=slack)
    assert (code, beside.incident.id in said) == (0, True), said
    code, said = await run("propose", beside.incident.id, who="ada", slack=slack)
    assert code == 0, said
    assert "systemctl restart systemd-resolved" in said
    card = await stage.said(HERE, "Approve? node-8", "Restart systemd-resolved in the guest")
    assert card.thread_ts
    approval = await approval_of(beside)
    code, said = await run("approve", approval, who="ada", slack=slack)
    assert (code, "none of those who may decide" in said) == (1, True), said
    code, said = await run("approve", approval, slack=slack)
    assert code == 0, said
    assert "The bot that serves carries it out" in said
    await stage.said(HERE, "Done and proven: node-8", "systemd-resolved on node-8")
    await until(lambda: "Done and proven: node-8" in text_of(card))
    code, said = await run("approve", approval, slack=slack)
    assert (code, "approved, so there is nothing to decide" in said) == (1, True), said
    code, said = await run("show", beside.incident.id, slack=slack)
    assert f"Approval {approval}" in said
    assert "by U0APPROVER" in said
    assert "Timeline (UTC):" in said
    store, since = stage.bot.desk.store, stage.bot.desk.now() - timedelta(hours=1)
    assert len(await store.step_runs.ended_since(since)) == 1
    code, said = await run("audit", "verify", slack=slack)
    assert (code, "rows hold" in said) == (0, True), said


async def test_declining_pausing_and_resuming(beside: Desk, slack: SlackServer) -> None:
    """Each counts as in Slack and shows there; what may not be is refused with exit code 1."""
    stage, run = beside.stage, beside.shell.run
    code, said = await run("pause", "hold", "on", who="ada", slack=slack)
    assert code == 0, said
    code, said = await run("pause", slack=slack)
    assert (code, "paused already" in said) == (1, True), said
    code, said = await run("resume", who="ada", slack=slack)
    assert (code, "none of those who may decide" in said) == (1, True), said
    code, said = await run("resume", "all", "well", slack=slack)
    assert (code, "Steps may go on" in said) == (0, True), said
    assert (await run("propose", beside.incident.id, who="ada", slack=slack))[0] == 0
    card = await stage.said(HERE, "Approve? node-8")
    approval = await approval_of(beside)
    code, said = await run("stop", approval, slack=slack)
    assert (code, "nothing to stop" in said) == (1, True), said
    assert (await run("decline", approval, slack=slack))[0] == 0
    await until(lambda: "Declined: node-8" in text_of(card))


async def test_who_is_at_the_shell(beside: Desk, slack: SlackServer) -> None:
    """An account that settings do not map may look and do nothing; a guest is refused."""
    run = beside.shell.run
    code, said = await run("pause", who="", slack=slack)
    assert (code, "do not say who the account" in said) == (2, True), said
    code, said = await run("pause", who="guest", slack=slack)
    assert (code, "you are a guest here" in said) == (1, True), said
    assert not await beside.stage.bot.desk.store.switches.on()
    code, said = await run("propose", beside.incident.id, "--step", "explode", slack=slack)
    assert (code, "There is no step explode" in said) == (2, True), said
    code, said = await run("approve", "nosuch", slack=slack)
    assert (code, "There is no approval nosuch" in said) == (2, True), said
    code, said = await run("incidents", who="", slack=slack)
    assert code == 0


async def test_without_a_bot(slack: SlackServer, tmp_path: Path) -> None:
    """A decision counts and nothing runs, which is said; the next bot carries it out."""
    age = timedelta(minutes=5)
    async with fleet_running(state_dir=tmp_path / "fleet", vms=9, age=age) as fleet:
        file = fleet.write_settings()
        told = acting(settings(slack, tmp_path, based_on=file))
        shell = Shell(
            environ={
                "PATH": os.environ["PATH"], "HOME": str(tmp_path), "NCCL_DNS_CONFIG": str(file),
                "NCCL_DNS_STATE_DIR": str(told.state_dir), "NCCL_DNS_ACTIONS__ENABLED": "true",
                "NCCL_DNS_SLACK__BOT_TOKEN": slack.bot_token,
                "NCCL_DNS_SLACK__BASE_URL": slack.api_url,
                "NCCL_DNS_SLACK__APPROVERS__GROUPS": '["S0APPROVER"]',
            }
        )  # fmt: skip
        async with bot(slack, told) as stage:
            await slack.act_as("ada").commands(HERE, "/nccl-dns 48213")
            await stage.report(HERE)
            await stage.idle()
            incident = (await stage.bot.desk.store.incidents.still_open())[0]
            assert (await shell.run("propose", incident.id, who="ada", slack=slack))[0] == 0
            approval = (await stage.bot.desk.store.approvals.waiting())[0]
        code, said = await shell.run("approve", approval.id, slack=slack)
        assert (code, "No bot serves now, so nothing is run yet" in said) == (0, True), said
        async with bot(slack, told) as stage:
            await stage.said(HERE, "Done and proven: node-8", "systemd-resolved on node-8")


async def test_breaking_the_glass(beside: Desk, slack: SlackServer) -> None:
    """Off unless the settings say so; then it is posted, and carried out on one person's word."""
    stage = beside.stage
    told = {
        **beside.shell.environ,
        "NCCL_DNS_ACTIONS__POLICY__BREAK_GLASS": "true",
        "NCCL_DNS_ACTIONS__POLICY__AUDIT_CHANNEL": "C0PRIVATE1",
        "NCCL_DNS_ACTIONS__TWO_PEOPLE": "true",
    }
    shell = Shell(environ=told)
    assert (await shell.run("propose", beside.incident.id, who="ada", slack=slack))[0] == 0
    approval = await approval_of(beside)
    words = (approval, "node-8", "the", "run", "ends", "at", "noon")
    code, said = await beside.shell.run("break-glass", *words, slack=slack)
    assert (code, "Breaking the glass is off" in said) == (1, True), said
    code, said = await shell.run("break-glass", approval, "node-7", *words[2:], slack=slack)
    assert (code, "Type the VM's name" in said) == (1, True), said
    code, said = await shell.run("approve", approval, slack=slack)
    assert (code, "one more person is needed" in said) == (0, True), said
    code, said = await shell.run("break-glass", *words, slack=slack)
    assert code == 0, said
    await stage.said("incident-room", "Glass broken: node-8", "the run ends at noon")
    await stage.said(HERE, "Done and proven: node-8", "systemd-resolved on node-8")
