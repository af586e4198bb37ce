"""The doctor looks at Slack: well in the workspace, and broken in each way that it tells."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr

from bot.chat.scopes import SCOPES
from bot.commands.doctor import examined
from bot.doctor.model import Outcome, Row
from bot.doctor.table import CHECKS, Need
from bot.settings.slack import ApproverSettings
from playground.slack.server import SlackServer
from tests.scenario.stage import settings

pytestmark = pytest.mark.anyio
OK, WARN, FAIL, SKIP = Outcome.OK, Outcome.WARN, Outcome.FAIL, Outcome.SKIP
_OURS = tuple(check for check in CHECKS if Need.SLACK in check.needs)


async def rows(slack: SlackServer, folder: Path, **changes: Any) -> list[Row]:  # noqa: ANN401
    """Return what the doctor says of Slack."""
    return list((await examined(settings(slack, folder, **changes), None, _OURS)).rows)


async def test_where_all_is_well(slack: SlackServer, tmp_path: Path) -> None:
    """Every row is OK: token, scopes, socket, clock, approvers, channel."""
    found = await rows(slack, tmp_path)
    assert [row.check for row in found] == [check.name for check in _OURS]
    assert {row.outcome for row in found} == {OK}
    assert "2 people" in next(row.said for row in found if row.check == "approvers")


async def test_every_scope_that_is_lacking_is_named(slack: SlackServer, tmp_path: Path) -> None:
    """Each with what does not work without it, and how it is got."""
    slack.narrow("files:read", "users:read")
    found = [row for row in await rows(slack, tmp_path) if row.check == "Slack scopes"]
    assert {row.about: row.outcome for row in found} == {"files:read": FAIL, "users:read": FAIL}
    assert all(SCOPES[row.about] in row.said for row in found)
    assert all("install the app again" in row.mend for row in found)


async def test_a_scope_in_vain(slack: SlackServer, tmp_path: Path) -> None:
    """What the app does not use is better taken away."""
    slack.world.tokens[slack.bot_token].scopes |= {"channels:manage"}
    found = [row for row in await rows(slack, tmp_path) if row.outcome is not OK]
    assert [(row.check, row.about, row.outcome) for row in found] == [
        ("Slack scopes", "channels:manage", WARN)
    ]


def _revoked(slack: SlackServer) -> dict[str, Any]:
    slack.revoke()
    return {}


def _app_revoked(slack: SlackServer) -> dict[str, Any]:
    slack.revoke(slack.app_token)
    return {}


def _away(_slack: SlackServer) -> dict[str, Any]:
    return {"base_url": "http://127.0.0.1:9/api/"}


@pytest.mark.parametrize(
    ("broken", "check", "outcome", "sentence"),
    [
        (_revoked, "Slack token", FAIL, "revoked"),
        (_app_revoked, "Slack events", FAIL, "app-level token"),
        (_away, "Slack token", FAIL, "not reached"),
        (lambda s: {"bot_token": SecretStr(s.app_token)}, "Slack token", FAIL, "slack.app_token"),
        (lambda s: {"app_token": SecretStr(s.bot_token)}, "Slack events", FAIL, "slack.bot_token"),
        (lambda _: {"bot_token": SecretStr("")}, "Slack token", FAIL, "not set"),
        (
            lambda _: {"mode": "http", "signing_secret": SecretStr("")},
            "Slack events", FAIL, "signing_secret is not set",
        ),
        (lambda _: {"home_channel": "C0NOSUCH"}, "home channel", FAIL, "cannot see the channel"),
        (lambda _: {"approvers": ApproverSettings()}, "approvers", WARN, "Nobody may approve"),
        (
            lambda _: {"approvers": ApproverSettings(users=("U0NOBODY",))},
            "approvers", FAIL, "does not find them",
        ),
        (
            lambda _: {"approvers": ApproverSettings(groups=("S0NOSUCH",))},
            "approvers", FAIL, "does not find the group",
        ),
    ],
)  # fmt: skip
async def test_what_is_wrong_is_said(
    slack: SlackServer, tmp_path: Path, broken: Callable[[SlackServer], dict[str, Any]],
    check: str, outcome: Outcome, sentence: str,
) -> None:  # fmt: skip
    """Each fault is told where it is, with what mends it; the rest is skipped or well."""
    found = await rows(slack, tmp_path, **broken(slack))
    row = next(one for one in found if one.check == check)
    assert row.outcome is outcome
    assert sentence in row.said
    assert row.mend
    assert {one.outcome for one in found if one.check != check} <= {OK, SKIP, FAIL}
    assert not any("xoxb-" in one.said and "playground" in one.said for one in found)
