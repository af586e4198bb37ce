"""What doctor says of those who decide: groups that members edit, the policy's names, the glass."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.commands.doctor import examined
from bot.doctor.model import Outcome, Row
from bot.doctor.table import CHECKS
from bot.settings import Settings
from bot.settings.policy import PolicySettings
from playground.slack.server import SlackServer
from tests.scenario.stage import settings

pytestmark = pytest.mark.anyio


async def approvers(told: Settings) -> tuple[Row, ...]:
    """Return the rows about approvers."""
    checks = [one for one in CHECKS if one.name == "approvers"]
    return tuple((await examined(told, None, checks)).rows)


def policed(told: Settings, **policy: object) -> Settings:
    """Return settings with a policy."""
    changed = {"policy": PolicySettings.model_validate(policy)}
    return told.model_copy(update={"actions": told.actions.model_copy(update=changed)})


async def test_a_group_that_members_edit(slack: SlackServer, tmp_path: Path) -> None:
    """Who changed it last is no admin, so that anybody may make themselves an approver."""
    told = settings(slack, tmp_path)
    assert [one.outcome for one in await approvers(told)] == [Outcome.OK]
    slack.world.groups["S0APPROVER"].updated_by = "U0ENGINEER"
    (row,) = await approvers(told)
    assert row.outcome is Outcome.WARN
    assert "U0ENGINEER, who changed it last, is no admin" in row.said


async def test_the_names_of_the_policy(slack: SlackServer, tmp_path: Path) -> None:
    """Each that a policy names is looked up as approvers are."""
    told = policed(
        settings(slack, tmp_path), always=["U0GUEST001"], escalate_to=["S0NOSUCH1"],
        step_approvers={"reset": ["S0APPROVER"]},
    )  # fmt: skip
    failed = [one.about for one in await approvers(told) if one.outcome is Outcome.FAIL]
    assert sorted(failed) == ["S0NOSUCH1", "U0GUEST001"]


async def test_the_glass(slack: SlackServer, tmp_path: Path) -> None:
    """Breaking it needs a channel that the bot can post to."""
    told = settings(slack, tmp_path)
    said = [one.said for one in await approvers(policed(told, break_glass=True))]
    assert any("no audit_channel is set" in one for one in said)
    closed = policed(told, break_glass=True, audit_channel="C0SECRET01")
    assert [one.about for one in await approvers(closed) if one.outcome is Outcome.FAIL] == [
        "C0SECRET01"
    ]
    fine = policed(told, break_glass=True, audit_channel="C0PRIVATE1")
    assert {one.outcome for one in await approvers(fine)} == {Outcome.OK}
