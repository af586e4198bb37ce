"""The policy at work: who is let do what through Slack, and who is called when nobody decides."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path

import pytest

from bot.chat.escalating import Escalating
from bot.incidents.approval import ApprovalState
from bot.settings import Settings
from bot.settings.policy import PolicySettings
from playground.fleet.simulated import SimulatedFleet
from playground.fleet.world import running as fleet_running
from playground.slack.acting import Acting
from playground.slack.clicking import Press, in_message
from playground.slack.model import Message
from playground.slack.server import SlackServer
from tests.scenario.stage import Stage, acting, bot, restart, settings, text_of, until

pytestmark = pytest.mark.anyio
HERE = "training-oncall"
OPS = "C0PRIVATE1"


def with_policy(told: Settings, **policy: object) -> Settings:
    """Return settings with a policy."""
    changed = {"policy": PolicySettings.model_validate(policy)}
    return told.model_copy(update={"actions": told.actions.model_copy(update=changed)})


@asynccontextmanager
async def staged(
    slack: SlackServer, folder: Path, *escalate: timedelta, **policy: object
) -> AsyncIterator[tuple[Stage, SimulatedFleet]]:
    """Run the bot at its highest level with a policy."""
    age = timedelta(minutes=5)
    async with fleet_running(state_dir=folder / "fleet", vms=9, age=age) as fleet:
        told = acting(settings(slack, folder, based_on=fleet.write_settings()))
        waits = told.waits.model_copy(update={"escalate": escalate})
        told = with_policy(told.model_copy(update={"waits": waits}), **policy)
        async with bot(slack, told) as stage:
            yield stage, fleet


async def reported(stage: Stage, who: Acting) -> Message:
    """Ask for the job and return its report."""
    await who.commands(HERE, "/nccl-dns 48213")
    report = await stage.report(HERE)
    await stage.idle()
    return report


async def proposed(stage: Stage, who: Acting) -> Message:
    """Ask for the job, press Restart, and return the card."""
    report = await reported(stage, who)
    await restart(who, HERE, report)
    return await stage.said(HERE, "Approve? node-8")


async def nothing_moved(stage: Stage) -> None:
    """See that nothing was sent anywhere, and that the question is still open."""
    await stage.idle()
    store, hour = stage.bot.desk.store, timedelta(hours=1)
    assert [one.state for one in await store.approvals.waiting()] == [ApprovalState.OPEN]
    assert not await store.step_runs.since(stage.bot.desk.now() - hour)
    deeds = [link.deed.what async for link in store.audit.links()]
    assert not [one for one in deeds if one.startswith(("send_", "run_"))]


@pytest.mark.parametrize(
    ("policy", "who", "words"),
    [
        ({}, "ada", "You may not decide"),
        ({"step_approvers": {"restart_resolver": ["U0SECOND01"]}}, "grace", "You may not decide"),
        ({"hours": "00:00-00:01 UTC", "hours_steps": ["restart_resolver"], "always":
          ["U0SECOND01"]}, "grace", "00:00-00:01 UTC alone"),
    ],
    ids=["no approver", "another step's", "out of hours"],
)  # fmt: skip
async def test_who_may_not_moves_nothing(
    slack: SlackServer, tmp_path: Path, policy: dict[str, object], who: str, words: str
) -> None:
    """They are told why, privately; the step waits on, and whoever may does approve it."""
    async with staged(slack, tmp_path, **policy) as (stage, _):
        card = await proposed(stage, slack.act_as("ada"))
        await in_message(slack.act_as(who), HERE, card.ts, Press(action_id="approve"))
        await stage.whispered(HERE, who, words)
        await nothing_moved(stage)
        await in_message(slack.act_as("linus"), HERE, card.ts, Press(action_id="approve"))
        await stage.said(HERE, "Done and proven: node-8", "systemd-resolved on node-8")


async def test_not_ones_own_step(slack: SlackServer, tmp_path: Path) -> None:
    """An approver who asked for a step needs another one; they may still decline it."""
    async with staged(slack, tmp_path, self_approval=False) as (stage, _):
        grace = slack.act_as("grace")
        card = await proposed(stage, grace)
        await in_message(grace, HERE, card.ts, Press(action_id="approve"))
        await stage.whispered(HERE, "grace", "somebody else has to")
        await nothing_moved(stage)
        await in_message(grace, HERE, card.ts, Press(action_id="decline"))
        await until(lambda: "Declined: node-8" in text_of(card))


async def test_not_in_this_channel(slack: SlackServer, tmp_path: Path) -> None:
    """Where a step is not approved it is not asked for either."""
    policy = {"step_channels": {"restart_resolver": [OPS]}}
    async with staged(slack, tmp_path, **policy) as (stage, _):
        report = await reported(stage, slack.act_as("ada"))
        await restart(slack.act_as("ada"), HERE, report)
        await stage.whispered(HERE, "ada", "is approved for incidents of")
        assert not await stage.bot.desk.store.approvals.waiting()


async def test_what_became_protected(slack: SlackServer, tmp_path: Path) -> None:
    """A machine that settings protect since it was proposed is not touched: it says so."""
    async with staged(slack, tmp_path) as (stage, _):
        card = await proposed(stage, slack.act_as("ada"))
        desk = stage.bot.desk
        object.__setattr__(desk.services, "protected", frozenset({"node-8"}))
        await in_message(slack.act_as("grace"), HERE, card.ts, Press(action_id="approve"))
        await stage.whispered(HERE, "grace", "node-8 is on the list of protected machines")
        await nothing_moved(stage)


async def test_who_is_called_when_nobody_decides(slack: SlackServer, tmp_path: Path) -> None:
    """Those who may decide are called again, then others, too; each call is said once."""
    soon, later = timedelta(seconds=1), timedelta(seconds=15)
    async with staged(slack, tmp_path, soon, later, escalate_to=["S0ONCALL01"]) as (stage, _):
        card = await proposed(stage, slack.act_as("ada"))

        def calls() -> list[Message]:
            return [one for one in stage.messages(HERE) if "waits for a decision" in text_of(one)]

        await until(lambda: len(calls()) == 2)
        first, second = calls()
        assert first.thread_ts == second.thread_ts == card.thread_ts
        assert "<!subteam^S0APPROVER>" in first.text
        assert "S0ONCALL01" not in first.text
        assert "<!subteam^S0ONCALL01>" in second.text
        told = stage.bot.desk
        # another replica, or this one after a restart, finds that all is said
        assert await Escalating(desk=told).due() == 1
        await stage.idle()
        assert len(calls()) == 2


async def test_a_restart_of_a_service_leaves_the_cloud_alone(
    slack: SlackServer, tmp_path: Path
) -> None:
    """While a service is restarted and proven the cloud sees readings and nothing else."""
    async with staged(slack, tmp_path) as (stage, fleet):
        card = await proposed(stage, slack.act_as("ada"))
        await in_message(slack.act_as("grace"), HERE, card.ts, Press(action_id="approve"))
        await stage.said(HERE, "Done and proven: node-8", "systemd-resolved on node-8")
        asked = [one.request for one in fleet.cloud.served]
        assert asked
        changing = [one for one in asked if one.method != "GET"]
        # the mildest step, which a failed resolver needs, asks nothing of the cloud
        assert not changing


async def test_breaking_the_glass(slack: SlackServer, tmp_path: Path) -> None:
    """An approver types VM and reason; it is posted and kept first, then done by them alone."""
    policy = {"self_approval": False, "break_glass": True, "audit_channel": OPS}
    async with staged(slack, tmp_path, **policy) as (stage, _):
        grace = slack.act_as("grace")
        card = await proposed(stage, grace)
        approval = (await stage.bot.desk.store.approvals.waiting())[0]
        await in_message(grace, HERE, card.ts, Press(action_id="approve"))
        await stage.whispered(HERE, "grace", f"break-glass {approval.id}")
        for words, why in (
            (f"{approval.id} node-7 the run ends at noon", "Type the VM's name"),
            (f"{approval.id} node-8 now", "Say in a few words why"),
            ("nosuch node-8 the run ends at noon", "no approval of mine"),
        ):
            await grace.commands(HERE, f"/nccl-dns break-glass {words}")
            await stage.whispered(HERE, "grace", why)
        ada = slack.act_as("ada")
        await ada.commands(HERE, f"/nccl-dns break-glass {approval.id} node-8 I want it so")
        await stage.whispered(HERE, "ada", "none of those who may decide")
        await nothing_moved(stage)
        words = f"{approval.id} node-8 the run ends at noon <!channel>"
        await grace.commands(HERE, f"/nccl-dns break-glass {words}")
        posted = await stage.said("incident-room", "Glass broken: node-8", "the run ends at noon")
        assert "<!channel>" not in posted.text
        await stage.said(HERE, "Done and proven: node-8", "systemd-resolved on node-8")
        store = stage.bot.desk.store
        deeds = [link.deed async for link in store.audit.links()]
        names = [one.what for one in deeds]
        assert names.index("glass_broken") < names.index("approved") < names.index("run_checking")
        assert next(one for one in deeds if one.what == "glass_broken").who == "U0APPROVER"


async def test_the_glass_stays_whole_where_it_is_not_seen(
    slack: SlackServer, tmp_path: Path
) -> None:
    """Where the audit channel cannot be posted to, nothing is approved."""
    policy = {"self_approval": False, "break_glass": True, "audit_channel": "C0SECRET01"}
    async with staged(slack, tmp_path, **policy) as (stage, _):
        grace = slack.act_as("grace")
        await proposed(stage, grace)
        approval = (await stage.bot.desk.store.approvals.waiting())[0]
        words = f"{approval.id} node-8 the run ends at noon"
        await grace.commands(HERE, f"/nccl-dns break-glass {words}")
        await stage.whispered(HERE, "grace", "could not be posted")
        await nothing_moved(stage)
