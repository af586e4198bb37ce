"""Steps that two people have to approve."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path

import pytest

from bot.commands.doctor import examined
from bot.doctor.model import Outcome
from bot.doctor.table import CHECKS
from bot.incidents.approval import Approval
from bot.settings import Settings, load
from bot.settings.slack import ApproverSettings
from playground.fleet.world import running as fleet_running
from playground.slack.acting import Acting
from playground.slack.clicking import Press, in_message
from playground.slack.model import Message
from playground.slack.server import SlackServer
from tests.scenario.stage import Stage, acting, bot, restart, settings, text_of, until

pytestmark = pytest.mark.anyio
HERE = "training-oncall"


def two(told: Settings, which: bool | tuple[str, ...]) -> Settings:  # noqa: FBT001 - the setting
    """Return settings that ask for two people."""
    actions = told.actions.model_copy(update={"two_people": which})
    return told.model_copy(update={"actions": actions})


@asynccontextmanager
async def asked(
    slack: SlackServer, folder: Path, *, acts: bool, which: bool | tuple[str, ...] = True
) -> AsyncIterator[tuple[Stage, Message]]:
    """Run the bot, and propose a restart in it; yield the card, too."""
    age = timedelta(minutes=5)
    async with fleet_running(state_dir=folder / "fleet", vms=9, age=age) as fleet:
        told = two(settings(slack, folder, based_on=fleet.write_settings()), which)
        async with bot(slack, acting(told) if acts else told) as stage:
            ada = slack.act_as("ada")
            await ada.commands(HERE, "/nccl-dns 48213")
            report = await stage.report(HERE)
            await stage.idle()
            await restart(ada, HERE, report)
            yield stage, await stage.said(HERE, "Approve? node-8")


async def approve(who: Acting, card: Message) -> None:
    """Press Approve."""
    await in_message(who, HERE, card.ts, Press(action_id="approve"))


async def the_approval(stage: Stage) -> Approval:
    """Return the one that there is."""
    opened = await stage.bot.desk.store.approvals.waiting()
    return opened[0]


async def test_one_person_twice_is_one(slack: SlackServer, tmp_path: Path) -> None:
    """Nothing runs on one person's clicks, however many; they are told who is missing."""
    async with asked(slack, tmp_path, acts=True) as (stage, card):
        assert "2 different people" in text_of(card)
        grace = slack.act_as("grace")
        await approve(grace, card)
        await until(lambda: "1 so far" in text_of(card))
        await approve(grace, card)
        await stage.whispered(HERE, "grace", "a second person is needed")
        await stage.idle()
        approval = await the_approval(stage)
        assert (approval.first_by, approval.decided_by) == (grace.id, None)
        store = stage.bot.desk.store
        assert not await store.step_runs.of(approval.id)


async def test_two_people_are_two(slack: SlackServer, tmp_path: Path) -> None:
    """With the second person's click the step runs, once, and the card names both."""
    async with asked(slack, tmp_path, acts=True) as (stage, card):
        grace, linus = slack.act_as("grace"), slack.act_as("linus")
        for who in (grace, grace, linus, linus):
            await approve(who, card)
        await stage.said(HERE, "Done and proven: node-8", "systemd-resolved on node-8")
        await until(lambda: "Done and proven: node-8" in text_of(card))
        assert grace.id in text_of(card)
        assert linus.id in text_of(card)
        since = stage.bot.desk.now() - timedelta(hours=1)
        assert len(await stage.bot.desk.store.step_runs.ended_since(since)) == 1


async def test_whoever_may_not_is_no_second(slack: SlackServer, tmp_path: Path) -> None:
    """A click of somebody who is no approver is not counted, and answered."""
    async with asked(slack, tmp_path, acts=True) as (stage, card):
        await approve(slack.act_as("grace"), card)
        await until(lambda: "1 so far" in text_of(card))
        await approve(slack.act_as("ada"), card)
        await stage.whispered(HERE, "ada", "may not")
        await stage.idle()
        assert (await the_approval(stage)).decided_by is None


async def test_as_a_dry_run_too(slack: SlackServer, tmp_path: Path) -> None:
    """Where nothing may be changed, the plan is posted after the second person's click."""
    async with asked(slack, tmp_path, acts=False) as (stage, card):
        await approve(slack.act_as("grace"), card)
        await stage.idle()
        assert not [one for one in stage.messages(HERE) if "Dry run" in text_of(one)]
        await approve(slack.act_as("linus"), card)
        await stage.said(HERE, "Dry run")


async def test_for_some_steps_alone(slack: SlackServer, tmp_path: Path) -> None:
    """What is not named needs one person."""
    async with asked(slack, tmp_path, acts=False, which=("reset", "stop_start")) as (stage, card):
        assert "one of them" in text_of(card)
        await approve(slack.act_as("grace"), card)
        await stage.said(HERE, "Dry run")


def test_the_setting(tmp_path: Path) -> None:
    """It is a yes, or a list of steps; a step that there is not is refused."""
    file = tmp_path / "nccl-dns.toml"

    def by_two(value: str) -> frozenset[str]:
        file.write_text(f"[actions]\ntwo_people = {value}\n")
        return load(file, environ={}).actions.by_two

    assert by_two("false") == frozenset()
    assert by_two('["stop_start"]') == {"stop_start"}
    assert {"restart_resolver", "reset", "stop_start"} < by_two("true")
    with pytest.raises(Exception, match=r"actions\.two_people"):
        by_two('["explode"]')


@pytest.mark.parametrize(("groups", "enough"), [(("S0APPROVER",), True), (("S0ONCALL01",), False)])
async def test_the_doctor_counts_approvers(
    slack: SlackServer, tmp_path: Path, groups: tuple[str, ...], *, enough: bool
) -> None:
    """With one approver alone nothing could ever be approved: that is a failure with its reason."""
    told = settings(slack, tmp_path, approvers=ApproverSettings(groups=groups))
    checks = [one for one in CHECKS if one.name == "approvers"]
    found = await examined(two(told, which=True), None, checks)
    assert any("two approvers, and there is 1" in one.said for one in found.rows) is not enough
    assert found.worst is (Outcome.OK if enough else Outcome.FAIL)
    found = await examined(told, None, checks)
    assert found.worst is Outcome.OK
